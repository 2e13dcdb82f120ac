"""The commands that a session left running in the background: how they are started, told of, and ended with it.

`!command`: a command line that the person runs themselves, in their own shell, and shows to the model.

Text that nobody vouches for, made fit for the model: cleaned, without secrets, cut, fenced.

Which variables the commands of a session see, by the settings in [shell_environment].

What a command writes while it runs, made fit to be shown: whole lines, without secrets, without cursor movements.
"""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, cast

from agentforge.app.composition.project import Project
from agentforge.config.settings import Settings
from agentforge.events.kinds import BackgroundEnded, Event, UserRan
from agentforge.safety.text.hygiene import clean
from agentforge.safety.text.redaction import redact
from agentforge.session import box_of
from agentforge.toolbox.processes.shell import SESSION_TOOL
from agentforge.tools.base import Observation
from agentforge.tools.dispatch.invocation import InvocationPolicy, present
from agentforge.workspace.processes.background import BackgroundCommands
from agentforge.workspace.processes.process import Completed, overheard, run
from agentforge.workspace.sandbox.loopback import SharedLoopback

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop


_LONGEST_COMMAND = 120
_LAST_LINES = 60
_LAST_TOKENS = 1_500
_HOLDER = ("sleep", "0.1")
"""Lives for as long as it takes to hold on to its network."""
_HOLDER_S = 10.0


class LeftRunning:
    """What goes on beside the conversation; close it to end it.

    Attributes:
        commands: by name.
        loopback: the network on which they serve and which every other command of the session shares.
    """

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self.commands = BackgroundCommands(self._launched)
        self.loopback = SharedLoopback()

    @property
    def asked_for(self) -> bool:
        """Whether somebody is there who can send a command here while it runs."""
        return bool(getattr(self._workshop.desk.person, "moves_commands", False))

    @property
    def takes_what_runs(self) -> bool:
        """Whether the sandbox can hold such a command, too; asking that may try the sandbox."""
        return self.asked_for and self._workshop.sandbox.kind != "landlock"

    def followed(self, command: str, run: Callable[[], Completed]) -> Completed:
        """Run a command that the person may send here while it runs; what it writes is shown as long as it is waited for."""
        hears = self._workshop.shed.output
        if not self.takes_what_runs:
            with overheard(hears) if hears is not None else nullcontext():
                return run()
        self._share_network()
        return self.commands.follow(command, run, hears=hears)

    def _share_network(self) -> None:
        """Have the one network at hand before a command is run: what it serves is to be reached when it was sent here."""
        sandbox = self._workshop.sandbox
        if self.loopback.descriptors or sandbox.kind != "bubblewrap" or sandbox.network != "off":
            return
        box = box_of(self._workshop.root, ".", writable=False, variables={}, loopback=self.loopback, lasting=True)
        sandbox.run(_HOLDER, box=box, timeout_s=_HOLDER_S)

    def _launched(self, command: str, cwd: str, timeout_s: float) -> Completed:
        shop = self._workshop
        box = box_of(shop.root, cwd, writable=True, variables=shop.variables(), loopback=self.loopback, lasting=True)
        return shop.sandbox.run(["bash", "-c", command], box=box, timeout_s=timeout_s)

    def ended(self) -> Iterator[Event]:
        """What is to be recorded of commands that ended since this was asked last."""
        for name, outcome in self.commands.ended().items():
            yield BackgroundEnded(name=name, outcome=outcome, output=self._last_words(name, outcome))

    def _last_words(self, name: str, outcome: str) -> str | None:
        """What a command wrote that nobody has read, its end at least; None of one that was stopped on purpose."""
        if outcome == "stopped":
            return None
        output = self.commands.read(name).output.decode("utf-8", "replace").strip("\n")
        lines = output.splitlines()[-_LAST_LINES:]
        return fit_for_model(self._workshop, "\n".join(lines), most_tokens=_LAST_TOKENS) if lines else ""

    def unread(self) -> dict[str, int]:
        """The commands that wrote something that nobody has read: name -> bytes."""
        return self.commands.unread()

    def close(self) -> tuple[Event, ...]:
        """End all commands; what is to be recorded of it."""
        self.commands.close()
        self.loopback.close()
        return tuple(self.ended())


def situation_of(background: tuple[Mapping[str, object], ...], unread: Mapping[str, int]) -> str:
    """What the model should know of the commands that were left running, "" when there are none.

    Args:
        unread: bytes of output by name that it has not read.
    """
    running = [row for row in background if not row["outcome"]]
    told = [*running, *[row for row in background if row["outcome"]][-2:]]
    if not told:
        return ""
    rows = [
        f"- {row['name']}: {str(row['command'])[:_LONGEST_COMMAND]} ({row['outcome'] or _going_on(row, unread)})"
        for row in told
    ]
    return "\n".join(["Background commands:", *rows])


def _going_on(row: Mapping[str, object], unread: Mapping[str, int]) -> str:
    size = unread.get(str(row["name"]), 0)
    return f"runs; {size:,} bytes of output that you have not read: jobs" if size else "runs"


_LONGEST_S = 3600.0
_SHELL = "/bin/sh"


def run_own(workshop: Workshop, command: str) -> UserRan:
    """Run a command line as the person's own shell would, outside of the sandbox: it was not the model that wanted it.

    Returns:
        What came of it, fit for the model: cleaned, without secrets, fenced, cut as every result of a tool.
    Raises:
        ToolchainError: the shell cannot be started.
        KeyboardInterrupt: the person stopped it; its processes are killed.
    Side effects: whatever the command does; a face that hears output is told it as it comes.
    """
    shell = workshop.environ.get("SHELL") or _SHELL
    launch = partial(run, [shell, "-c", command], cwd=workshop.root, env=os.environ, timeout_s=_LONGEST_S)
    done = workshop.left_running.commands.follow(command, launch, hears=workshop.shed.output)
    omitted = f"\n({done.omitted_bytes:,} bytes of output omitted)" if done.omitted_bytes else ""
    output = done.text.rstrip("\n") or "(no output)"
    return UserRan(
        command=workshop.scrubbed(clean(command)),
        output=fit_for_model(workshop, output + omitted),
        exit_code=done.exit_code,
        duration_ms=int(done.duration_s * 1000),
        left_running=done.left_running,
    )


def fit_for_model(workshop: Workshop, text: str, *, most_tokens: int | None = None) -> str:
    """Prepare what a command wrote as the result of a tool is prepared.

    Args:
        most_tokens: how long it may be; None = as long as a result of a tool.
    """
    allowed = workshop.sizing.result_tokens(workshop.log.state, 1)
    policy = InvocationPolicy(
        text_limit_tokens=allowed if most_tokens is None else min(allowed, most_tokens),
        secrets=workshop.secrets,
        nonce=workshop.nonce if workshop.settings.flag("prompt_injection_protection_enabled") else "",
        redacts=workshop.settings.flag("redaction_enabled"),
        cleans=workshop.settings.flag("output_hygiene_enabled"),
    )
    return present(Observation(status="success", summary="", text=text), policy=policy, tool=SESSION_TOOL).text


_TABLE = "shell_environment"


def visible_environment(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The variables of this process without those that `exclude_patterns` name (upper and lower case are the same).

    With `ignore_default_excludes` the patterns that the program brings are not applied; those of the user are.
    """
    patterns = _patterns(settings)
    return {name: value for name, value in environ.items() if not _matches(name, patterns)}


def added_variables(environ: Mapping[str, str], settings: Settings, project: Project) -> dict[str, str]:
    """What commands see on top of the allow-list: everything where the user said so, and `set_vars`.

    A project's own `set_vars` count once they are trusted.
    """
    everything = settings.get(f"{_TABLE}.ignore_default_excludes") is True
    found = visible_environment(environ, settings) if everything else {}
    for layer in settings.layers:
        table = cast("Mapping[str, Mapping[str, str]]", layer.values.get(_TABLE, {}))
        if table.get("set_vars") and (not layer.project or project.holds("environment")):
            found |= table["set_vars"]
    return found


def _patterns(settings: Settings) -> tuple[str, ...]:
    own = settings.origin(f"{_TABLE}.exclude_patterns") != "default"
    if settings.get(f"{_TABLE}.ignore_default_excludes") is True and not own:
        return ()
    return tuple(cast("list[str]", settings.get(f"{_TABLE}.exclude_patterns", [])))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.upper(), pattern.upper()) for pattern in patterns)


_LONGEST_LINE = 2000
_MOST_CHARACTERS = 200_000


class Overheard:
    """Takes pieces of output and passes on lines; after a bounded amount it falls silent, the result holds both ends."""

    def __init__(self, show: Callable[[str], None], *, secrets: tuple[str, ...]) -> None:
        self._show = show
        self._secrets = secrets
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self._left = _MOST_CHARACTERS

    def hear(self, piece: bytes) -> None:
        """Take the next piece; lines that it completes are shown."""
        if self._left <= 0:
            return
        *lines, self._begun = (self._begun + self._decoder.decode(piece)).split("\n")
        if len(self._begun) > _LONGEST_LINE:
            lines, self._begun = [*lines, self._begun], ""
        if not lines:
            return
        text = "".join(f"{line[:_LONGEST_LINE]}\n" for line in lines)
        self._left -= len(text)
        self._show(redact(clean(text), secrets=self._secrets).text)
