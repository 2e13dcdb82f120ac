"""A stage whose work is done by an agent of another maker: one hand-over and one submission in place of a model's steps.

The loop, the limits, the scope and the verification are those of every stage. What differs is who is asked: the first reply of
an attempt hands the stage's context to the guest (the tool `agent`, a command in the sandbox); the second hands in what the
guest says its result is. Both replies follow from the state, and no model is asked.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agentforge.agent import BlobStore, last_artifact_in
from agentforge.config.stage_agents import PREFIX
from agentforge.context.budget import one_line
from agentforge.events.kinds import ModelCalled, ToolFinished
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.guest import GuestChoice, GuestReport, Terms, host_guest
from agentforge.messages import ModelReply, ModelRequest, ToolCall, Usage
from agentforge.pipeline.engine.workbench import stage_box
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage
from agentforge.safety.text.hygiene import unwrap
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, takes
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Box
from agentforge.workspace.sandbox.mounts import is_hidden

if TYPE_CHECKING:
    pass
    from agentforge.pipeline.replay.recording import Recording
    from agentforge.workspace.protection.reconciliation import Settled, Touched

TOOL = "agent"
FRAME = "frame_guest"
_READ_ONLY = ("read", "search", "think", "switch_mode")
_WRITING = ("edit", "delete", "move")
_SHORTEST_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestModel:
    """Answers for a guest in the loop: hands the stage over, then hands in what came of it.

    Attributes:
        name: `acp:COMMAND`.
        worked: what the guest did in this attempt, None = it was not asked yet.
    """

    name: str
    worked: Mapping[str, Any] | None

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Give the next reply of the stage."""
        del on_delta
        if self.worked is None:
            call = ToolCall(call_id="agent", name=TOOL, arguments=_json({"prompt": prompt_of(request)}))
            return self._reply("", call, Usage())
        draft = self._draft(self.worked, request)
        call = ToolCall(call_id="submit", name="submit_artifact", arguments=_json({"artifact": draft}))
        return self._reply(str(self.worked.get("answer", "")), call, _usage(self.worked.get("usage")))

    def price(self, reply: ModelReply) -> float | None:
        """What the guest said it cost; None when it did not say."""
        if reply.tool_calls and reply.tool_calls[0].name == TOOL:
            return 0.0
        cost = (self.worked or {}).get("cost_usd")
        return float(cost) if isinstance(cost, int | float) else None

    def close(self) -> None:
        """Nothing is open."""

    def _draft(self, worked: Mapping[str, Any], request: ModelRequest) -> dict[str, object]:
        """The artifact of its last message; where the stage's artifact is what changed, the changed files say that."""
        properties = cast("Mapping[str, Any]", _shape(request).get("properties", {}))
        said = last_artifact_in(str(worked.get("answer", ""))) or {}
        return {**_changes_told(worked, properties), **{key: item for key, item in said.items() if key in properties}}

    def _reply(self, text: str, call: ToolCall, usage: Usage) -> ModelReply:
        reported = usage != Usage()
        return ModelReply(
            text=text, tool_calls=(call,), finish="tool_calls", usage=usage, model=self.name, usage_reported=reported
        )


def guest_model(choice: GuestChoice, state: RunState, blobs: BlobStore) -> GuestModel:
    """The one that answers for the guest in the current attempt."""
    return GuestModel(name=choice.name, worked=_worked(state, blobs))


def guest_tool(choice: GuestChoice, state: RunState, stage: Stage, runtime: Runtime) -> Tool:
    """The tool that lets the guest work; it may write what the stage may, everything else is put back."""

    def run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
        reports: list[GuestReport] = []

        def command() -> Completed:
            done, report = host_guest(
                choice,
                str(arguments["prompt"]),
                sandbox=runtime.sandbox,
                box=guest_box(choice, stage, state, runtime),
                terms=_terms(choice, stage, runtime, context),
                timeout_s=_time_left(choice, state),
            )
            reports.append(report)
            return done

        if stage.writes == "none":
            command()
            return observation_of(reports[0], None)
        _, settled = runtime.guard.watch(command, may_write=context.may_write)
        return observation_of(reports[0], settled)

    return Tool(
        name=TOOL,
        description="Hand the stage over to the agent of its settings.",
        parameters=takes("prompt", prompt=TEXT),
        effect="execute",
        run=run,
    )


def along_record(runtime: Runtime, log: Recording) -> Runtime:
    """The same runtime for a replay: the record says which attempts a guest made, not the settings of today."""
    return replace(runtime, guests=lambda stage: _guest_of_record(log, stage))


def _guest_of_record(log: Recording, stage: str) -> GuestChoice | None:
    """The agent that did what a replay comes to in a stage, None when a model did it."""
    turn = log.state.progress.turn
    if turn.replied and log.state.progress.stage == stage:
        name = PREFIX if any(call.name == TOOL for call in turn.calls) else ""
    else:
        called = log.ahead(ModelCalled, lambda event: event.stage == stage)
        name = called.model if called is not None else ""
    return GuestChoice(name=name, argv=()) if name.startswith(PREFIX) else None


def prompt_of(request: ModelRequest) -> str:
    """The context of a step as one text, with the shape of the artifact at its end."""
    parts = [message.text.rstrip() for message in request.messages]
    schema = json.dumps(_shape(request), ensure_ascii=False, separators=(",", ":"))
    return "\n\n".join([*parts, f"# artifact (JSON Schema)\n{schema}", ""])


def _shape(request: ModelRequest) -> Mapping[str, Any]:
    """The JSON Schema of the artifact that is asked for."""
    taken = next((tool.parameters for tool in request.tools if tool.name == "submit_artifact"), {})
    properties = cast("Mapping[str, Any]", taken.get("properties", {}))
    return cast("Mapping[str, Any]", properties.get("artifact", {}))


def _changes_told(worked: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, object]:
    """The changed files in those fields of an artifact that list them, each with the agent's first words."""
    words = one_line(str(worked.get("answer", "")).strip().partition("\n")[0], limit=160) or "done by the agent"
    files = [file for file in worked.get("changed", []) if isinstance(file, dict)]
    told: dict[str, object] = {
        "files_created": [{"path": file["path"], "purpose": words} for file in files if file.get("what") == "new"],
        "files_modified": [
            {"path": file["path"], "changes_summary": words} for file in files if file.get("what") != "new"
        ],
        "changes": [{"path": file["path"], "summary": words} for file in files],
    }
    return {key: rows for key, rows in told.items() if key in properties}


def observation_of(report: GuestReport, settled: Settled | None) -> Observation:
    """What the guest did, as a value that is recorded: what was refused first, its updates last."""
    kept = settled.kept if settled is not None else ()
    refused = settled.refused if settled is not None else ()
    summary = f"{report.agent or 'the agent'}: {report.ended or 'ended'}, {_count(report.calls, 'call')}"
    summary += f"; {_count(len(kept), 'file')} changed" if kept else ""
    summary += f"; {_count(len(refused), 'file')} refused and put back" if refused else ""
    value = {
        "ended": report.ended,
        "refused": [{**_touched(one), "reason": _printable(one.refusal)} for one in refused],
        "changed": [_touched(one) for one in kept],
        "permissions": report.permissions,
        "calls": report.calls,
        "usage": report.usage,
        "cost_usd": report.cost_usd,
        "answer": report.answer,
        "updates": report.updates,
        "updates_dropped": report.dropped,
    }
    paths = tuple(one.path for one in kept)
    return Observation(status="success", summary=summary, text=_json(value), artifacts=paths, changed=paths)


def guest_box(choice: GuestChoice, stage: Stage, state: RunState, runtime: Runtime) -> Box:
    """What the guest sees: the workspace in the repository's place, and the files that its command line names."""
    box = stage_box(stage, state, runtime)
    program = _program(choice, box.env.get("PATH", ""))
    named, own = _files_of_command(choice, runtime, (*box.interpreters, *program))
    return replace(
        box,
        env={**box.env, **choice.env},
        read_only=(*box.read_only, *named, *choice.readable),
        overlays=(*box.overlays, *own),
        interpreters=(*box.interpreters, *program),
    )


def _files_of_command(
    choice: GuestChoice, runtime: Runtime, interpreters: tuple[Path, ...]
) -> tuple[list[Path], list[tuple[Path, Path]]]:
    """Files on the command line that would not be seen: those outside the repository that the sandbox hides, and those of
    the user's checkout that no commit holds.
    """
    outside: list[Path] = []
    uncommitted: list[tuple[Path, Path]] = []
    for word in choice.argv:
        path = runtime.repo / Path(word).expanduser()
        if not path.is_file():
            continue
        if not path.is_relative_to(runtime.repo):
            places = [one for one in dict.fromkeys((path, path.resolve())) if not one.is_relative_to(runtime.repo)]
            outside += [one for one in places if is_hidden(one, environ=os.environ, interpreters=interpreters)]
        elif not (runtime.worktree / path.relative_to(runtime.repo)).exists():
            uncommitted.append((path, path))
    return outside, uncommitted


def _program(choice: GuestChoice, path: str) -> tuple[Path, ...]:
    found = shutil.which(choice.argv[0], path=path or os.environ.get("PATH"))
    return (Path(found),) if found else ()


def _terms(choice: GuestChoice, stage: Stage, runtime: Runtime, context: ToolContext) -> Any:
    def permit(call: Mapping[str, Any]) -> str:
        return refusal_of_call(call, repo=runtime.repo, context=context, stage=stage, online=choice.network != "off")

    return Terms(cwd=str(runtime.repo), auth=choice.auth, calls=choice.calls, permit=permit)


def refusal_of_call(call: Mapping[str, Any], *, repo: Path, context: ToolContext, stage: Stage, online: bool) -> str:
    """Why a call that a guest asks about may not be made, "" when it may; the walls hold whatever it was told."""
    kind = str(call.get("kind") or "other")
    if kind == "fetch" and not online:
        return "the network is closed in this stage"
    if kind in _READ_ONLY or kind not in _WRITING:
        return ""
    if stage.writes == "none":
        return f"stage {stage.name} writes no files"
    for path in _places(call):
        full = repo / path
        if not full.is_relative_to(repo):
            return f"{path} is outside of the workspace"
        reason = context.may_write(full.relative_to(repo).as_posix())
        if reason is not None:
            return reason
    return ""


def _places(call: Mapping[str, Any]) -> list[Path]:
    """The files that a call names: where it is, and what its diffs change."""
    rows = [*(call.get("locations") or []), *(call.get("content") or [])]
    named = [row.get("path") for row in rows if isinstance(row, dict)]
    return [Path(os.path.normpath(path)) for path in named if isinstance(path, str) and path]


def _time_left(choice: GuestChoice, state: RunState) -> float:
    deadline = state.brief.limits.deadline_s
    left = choice.timeout_s if deadline is None else min(choice.timeout_s, deadline - state.progress.active_s)
    return max(left, _SHORTEST_S)


def _worked(state: RunState, blobs: BlobStore) -> Mapping[str, Any] | None:
    """What the guest did in this attempt, read from the record of its call."""
    began = state.progress.turn.step - state.progress.turn.steps_in_attempt
    for step in reversed(state.progress.turn.recent):
        for result in step.results if step.step > began else ():
            if result.name == TOOL and result.status == "success":
                return _recorded(result, blobs)
    return None


def _recorded(result: ToolFinished, blobs: BlobStore) -> Mapping[str, Any]:
    if result.output:
        text = blobs.get(result.output).decode("utf-8", "surrogateescape")
    else:
        text = unwrap(result.text) if result.text.startswith("<untrusted ") else result.text
    try:
        value = json.loads(text)
    except ValueError:  # a secret was taken out of the middle of its form: the files stand, the words are lost
        value = {}
    return value if isinstance(value, dict) else {}


def _usage(reported: object) -> Usage:
    counted = reported if isinstance(reported, Mapping) else {}

    def count(name: str) -> int:
        value = counted.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    cached = count("cachedReadTokens")
    return Usage(
        prompt_tokens=count("inputTokens") + cached,
        completion_tokens=count("outputTokens"),
        cached_tokens=cached,
        cache_write_tokens=count("cachedWriteTokens"),
    )


def _touched(one: Touched) -> dict[str, str]:
    return {"path": _printable(one.path), "what": one.what}


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
