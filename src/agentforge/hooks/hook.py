"""What a hook is, and how one is read from the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from agentforge.errors import ConfigError
from agentforge.frozen import dataclass

Trigger = Literal["before_agent", "after_agent", "before_tool", "after_tool", "on_error"]
FailureMode = Literal["block", "warn", "ignore"]

CLAUDE_NAMES: Mapping[Trigger, str] = {
    "before_agent": "UserPromptSubmit",
    "after_agent": "Stop",
    "before_tool": "PreToolUse",
    "after_tool": "PostToolUse",
    "on_error": "StopFailure",
}
"""The same moments under the names that Claude Code gives them; both are accepted as a trigger."""

_CLAUDE_TOOLS: Mapping[str, tuple[str, ...]] = {
    "shell": ("Bash",),
    "read_file": ("Read",),
    "list_dir": ("LS",),
    "grep": ("Grep",),
    "glob": ("Glob",),
    "edit": ("Edit",),
    "write_file": ("Write",),
    "append_file": ("Write", "Edit"),
    "apply_patch": ("MultiEdit", "Edit"),
    "web_fetch": ("WebFetch",),
    "web_search": ("WebSearch",),
}
PROJECT = Path("$AGENTFORGE_CWD")
"""The project that a run works on, in `reads` and `writes`: the variable of that name holds it when the hook runs."""

_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One hook.

    Attributes:
        argv: what is run.
        failure_mode: what becomes of the call when the hook itself fails: block, warn (go on and say so), ignore.
        matcher: regular expression over the whole name of a tool; "" for every tool.
        network: whether it may reach the machine's network.
        files: absolute paths outside the workspace that it needs to read.
        writes: absolute paths that it may change; below `PROJECT` they are places of the project that the run works on.
        origin: where it is written, for people.
    """

    name: str
    trigger: Trigger
    argv: tuple[str, ...]
    timeout_s: float = _TIMEOUT_S
    failure_mode: FailureMode = "warn"
    matcher: str = ""
    network: bool = False
    files: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    origin: str = ""

    def concerns(self, tool: str) -> bool:
        """Whether it is about this tool, by our name for it or by Claude Code's."""
        if self.matcher in ("", "*"):
            return True
        return any(re.fullmatch(self.matcher, name) for name in (tool, *_CLAUDE_TOOLS.get(tool, ())))


def read_hook(row: Mapping[str, object], *, origin: str, folder: Path, home: Path) -> Hook | None:
    """Read one entry of `[[hooks]]`, whose keys and types were checked before.

    `command` is a line for bash; `script` is the path of an executable file, run without a shell.

    Args:
        folder: what a relative path is relative to.
        home: what `~` stands for.
    Returns:
        None when it is switched off.
    Raises:
        ConfigError: not exactly one of command and script, contradictory words about failure, a matcher that is no regular
            expression.
    """
    name = str(row["name"])
    place = f"{origin}: hook {name!r}"
    if row.get("enabled") is False:
        return None
    script = str(row.get("script", ""))
    if bool(script) == bool(row.get("command")):
        raise ConfigError(f"{place} needs either command or script", hint="command = a line for bash, script = a file")
    if "\n" in script:
        raise ConfigError(f"{place}: script is the path of a file", hint="put lines for bash into command")
    path = _path(script, folder, home)
    return Hook(
        name=name,
        trigger=_trigger(str(row["trigger"])),
        argv=(str(path),) if script else ("bash", "-c", str(row["command"])),
        timeout_s=float(cast("float", row.get("timeout_sec", _TIMEOUT_S))),
        failure_mode=_failure_mode(row, place),
        matcher=_matcher(str(row.get("matcher", "")), place),
        network=bool(row.get("network", False)),
        files=(*((path,) if script else ()), *_paths(row.get("reads"), folder, home)),
        writes=_paths(row.get("writes"), folder, home),
        origin=origin,
    )


def _trigger(word: str) -> Trigger:
    return next((own for own, claude in CLAUDE_NAMES.items() if word == claude), cast("Trigger", word))


def _failure_mode(row: Mapping[str, object], place: str) -> FailureMode:
    """`failure_mode`, or the seed's `fail_closed`; the failure of a hook that says neither is told and stops nothing."""
    mode, closed = row.get("failure_mode"), row.get("fail_closed")
    if mode is None:
        return "block" if closed is True else "warn"
    if isinstance(closed, bool) and closed is not (mode == "block"):
        raise ConfigError(f"{place}: fail_closed and failure_mode contradict each other", hint="keep failure_mode")
    return cast("FailureMode", mode)


def _matcher(pattern: str, place: str) -> str:
    try:
        re.compile("" if pattern == "*" else pattern)
    except re.error as exc:
        raise ConfigError(f"{place}: matcher {pattern!r} is not a regular expression: {exc}") from exc
    return pattern


def _paths(value: object, folder: Path, home: Path) -> tuple[Path, ...]:
    return tuple(_path(str(item), folder, home) for item in (value if isinstance(value, list) else ()))


def _path(text: str, folder: Path, home: Path) -> Path:
    if Path(text).parts[:1] == PROJECT.parts:
        return Path(text)
    if text == "~" or text.startswith("~/"):
        return home / text[2:]
    return folder / text
