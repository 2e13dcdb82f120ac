"""What a tool is: a name, a schema, an effect, and one function from arguments to an observation.

What was found in files of tools, and what was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from agentforge.events.kinds import Effect, ToolStatus
from agentforge.frozen import dataclass
from agentforge.messages import Picture, ToolSchema
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes.process import Completed

if TYPE_CHECKING:
    from agentforge.tools.web.browser import Browser
    from agentforge.workspace.processes.background import BackgroundCommands
    from agentforge.workspace.protection.reconciliation import Settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a tool found or did.

    Attributes:
        summary: one line, <= 200 characters.
        text: what the model reads; bounded by the invocation, not by the tool.
        error_type: stable word for the kind of failure ("not-found", "no-match", "timeout", "bad-arguments", ...).
        artifacts: repository paths that were read or written.
        changed: repository paths that were written, created or deleted.
        view: {path, offset, limit}: the part of a file that the model asked to see; the context shows it fresh.
        note: words of the harness or of trusted instructions that go with the text, outside of the fence.
        pictures: images for the model, with their bytes.
        payload: for submit_artifact the draft, for ask_human the question; consumed by the agent loop.
    """

    status: ToolStatus
    summary: str
    text: str = ""
    error_type: str | None = None
    retryable: bool = False
    next_actions: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    view: Mapping[str, object] | None = None
    note: str = ""
    payload: Mapping[str, object] | None = None
    pictures: tuple[Picture, ...] = ()


def failed(
    summary: str, *, error_type: str, text: str = "", retryable: bool = True, next_actions: tuple[str, ...] = ()
) -> Observation:
    """An observation of a tool that did not do what was asked."""
    return Observation(
        status="error",
        summary=summary,
        text=text,
        error_type=error_type,
        retryable=retryable,
        next_actions=next_actions,
    )


class ToolError(Exception):
    """Ends a tool from anywhere inside it; the observation is its answer."""

    def __init__(self, observation: Observation) -> None:
        super().__init__(observation.summary)
        self.observation = observation


class RunCommand(Protocol):
    """Run a shell command for the model inside the sandbox, in the workspace."""

    def __call__(self, command: str, *, timeout_s: float, cwd: str) -> tuple[Completed, Settled | None]:
        """Run `command` by `bash -c`; `cwd` is relative to the workspace root.

        Returns:
            How it ended, and what became of the files that it touched; None when it touched none.
        """


class Memory(Protocol):
    """What is remembered across sessions: short texts by key, of the user or of the project."""

    def entries(self, scope: str) -> Mapping[str, str]:
        """All entries of a scope: "user" or "project"."""

    def put(self, key: str, value: str | None, *, scope: str) -> None:
        """Set an entry, or delete it (None), durably."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may reach. Everything that is not a file of the workspace comes as a callable.

    Attributes:
        root: the workspace (the task's worktree), a resolved absolute path.
        base_commit: what the workspace started from.
        run_command: shell in the sandbox.
        run_tests: run tests of the workspace: test ids or paths ((), = the tests that matter for the stage) -> report.
        run_checks: conformance of the workspace's changed files -> report.
        git_diff: unified diff of the workspace against the base commit, optionally for one path.
        may_read: whether a search may show what stands in a file.
        may_write: None when the path may be written, else the reason why not.
        may_hold: None when a file may have a text, else the reason why not; asked before it is written.
        limits: caps of single tools by name, e.g. `grep` hits; a tool has its own default for each.
        seen: digests of files as the model last saw them, by repository path; writing over a newer file is refused.
        guides: instructions that go with files, which the model has not seen: (tool, paths) -> text, "" none.
        readable: folders outside the workspace from which read_file may read, too.
        todos: the session's todos, id -> {text, done}; a tool changes them by `payload["todos"]`.
        memory: what is remembered across sessions; None where there is no memory.
        spawn: starts the subagent of this call: (name, goal) -> its report; None where there are none.
        ask: puts a question to the person who is there: (question, options) -> answer, None = no answer.
        put_plan: puts a plan to the person in plan mode: "" = approved, else what they said; None = nobody answered.
        git: the repository of a conversation; None in a pipeline stage, and where there is no repository.
        browser: the browser of a conversation, started when it is first used; None where there is none.
        background: the commands that a conversation left running; None where nothing is left running.
        follow_command: as run_command, but the person may send the command to the background while it runs
            (`Completed.left_running`); None where nobody can.
    """

    root: Path
    base_commit: str
    run_command: RunCommand
    run_tests: Callable[[tuple[str, ...]], Observation]
    run_checks: Callable[[tuple[str, ...]], Observation]
    git_diff: Callable[[str], str]
    may_write: Callable[[str], str | None]
    may_read: Callable[[str], bool] = lambda _path: True
    may_hold: Callable[[str, str], str | None] = lambda _path, _text: None
    limits: Mapping[str, int] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)
    guides: Callable[[str, tuple[str, ...]], str] = lambda _tool, _paths: ""
    readable: tuple[Path, ...] = ()
    todos: Mapping[str, object] = field(default_factory=dict)
    memory: Memory | None = None
    spawn: Callable[[str, str], Observation] | None = None
    ask: Callable[[str, tuple[str, ...]], str | None] | None = None
    put_plan: Callable[[str], str | None] | None = None
    git: Git | None = None
    browser: Callable[[], Browser] | None = None
    background: BackgroundCommands | None = None
    follow_command: RunCommand | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What a call would change: the repository paths, and the unified diff for a person."""

    paths: tuple[str, ...] = ()
    diff: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the catalogue.

    Attributes:
        parameters: JSON Schema (2020-12) of type object, `additionalProperties: false`; short, it is always sent.
        effect: what running it can change; decides scope checks and what is done when a crash leaves it in doubt.
        writes: the repository paths that a call would write, for the scope check at dispatch (write tools only).
        reads: the repository paths that a call would read.
        url: what a call would fetch; "" nothing.
        command: the bash line that a call would run and the folder in which it would; "" none.
        foresees: the same and the diff, of a tool for which they depend on the workspace: (arguments, root) -> Foreseen.
        preview: what a call would change, as a unified diff for a person; None where dispatch can tell by itself.
        does: the class of what an execute tool does (safety.shell.classes); "" is unknown.
        looks: whoever offers it says that it changes nothing: plan mode offers it, approval still decides.
        acts: the class of what this very call does, where that depends on its arguments; "" is `does`.
        deferred: it can be called, and is described to a model only after it was searched for (tools/deferring.py).
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    effect: Effect
    run: Callable[[Mapping[str, object], ToolContext], Observation]
    writes: Callable[[Mapping[str, object]], tuple[str, ...]] = lambda _arguments: ()
    reads: Callable[[Mapping[str, object]], tuple[str, ...]] = lambda _arguments: ()
    url: Callable[[Mapping[str, object]], str] = lambda _arguments: ""
    command: Callable[[Mapping[str, object]], tuple[str, str]] = lambda _arguments: ("", ".")
    foresees: Callable[[Mapping[str, object], Path], Foreseen] | None = None
    preview: Callable[[Mapping[str, object]], str] | None = None
    does: str = ""
    looks: bool = False
    acts: Callable[[Mapping[str, object]], str] = lambda _arguments: ""
    deferred: bool = False

    def paths(self, arguments: Mapping[str, object], root: Path) -> tuple[str, ...]:
        """The repository paths that a call would write in a workspace."""
        return self.writes(arguments) if self.foresees is None else self.foresees(arguments, root).paths

    @property
    def schema(self) -> ToolSchema:
        """The tool as it is offered to a model."""
        return ToolSchema(name=self.name, description=self.description, parameters=self.parameters)


TEXT: Mapping[str, object] = {"type": "string"}
FLAG: Mapping[str, object] = {"type": "boolean"}
COUNT: Mapping[str, object] = {"type": "integer", "minimum": 1}
TEXTS: Mapping[str, object] = {"type": "array", "items": {"type": "string"}}


def count_to(most: int) -> Mapping[str, object]:
    """A count with a bound: a larger one is refused with the bound named, never made smaller in silence."""
    return {**COUNT, "maximum": most}


def takes(required: str = "", **properties: Mapping[str, object]) -> dict[str, object]:
    """Build the schema of a tool's parameters.

    Args:
        required: names, separated by spaces.
        properties: the schema of each parameter.
    """
    schema: dict[str, object] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required.split()} if required else {})


Kind = Literal["builtin", "project", "mcp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was found in files.

    Attributes:
        tools: by name.
        origins: the file of each.
        refused: what was left out, `FILE` or `FILE: tool`, and why.
    """

    tools: Mapping[str, Tool]
    origins: Mapping[str, str]
    refused: Mapping[str, str]
