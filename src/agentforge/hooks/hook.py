"""What a hook is, and how one is read from the settings.

What a hook says by its exit code and its output. Pure.

Exit 0 lets pass, 2 blocks with what stands on stderr as the reason; everything else is a failure of the hook. On exit 0 a
JSON object on stdout can say more.

Source: hook reference of Claude Code (hookSpecificOutput, decision, continue).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from agentforge.errors import ConfigError
from agentforge.frozen import dataclass
from agentforge.safety.text.hygiene import clean
from agentforge.workspace.processes.process import Completed

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
    "move_file": ("Edit",),
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


Verdict = Literal["pass", "allow", "ask", "deny", "failed"]

_BLOCKS = 2
_LONGEST_REASON = 2000
_LONGEST_CONTEXT = 10_000
_DECISIONS: Mapping[str, Verdict] = {
    "allow": "allow",
    "approve": "allow",
    "ask": "ask",
    "deny": "deny",
    "block": "deny",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAnswer:
    """What one hook said.

    Attributes:
        updated: the arguments that it wants instead; None = as they are.
        context: words that it adds for the model.
    """

    verdict: Verdict
    reason: str = ""
    updated: Mapping[str, object] | None = None
    context: str = ""


def read_answer(done: Completed, *, timeout_s: float, talks: bool) -> HookAnswer:
    """Read how a hook ended.

    Args:
        talks: plain text on stdout is meant for the model (before_agent).
    """
    if done.timed_out:
        return HookAnswer(verdict="failed", reason=f"it did not end within {timeout_s:g} s")
    told = _said(done.stderr) or _said(done.output)
    if done.exit_code == _BLOCKS:
        return HookAnswer(verdict="deny", reason=told or "it gave no reason")
    if done.exit_code in (126, 127):
        return HookAnswer(verdict="failed", reason=f"it cannot be run: {told}")
    if done.exit_code:
        return HookAnswer(verdict="failed", reason=f"it ended with {done.exit_code}" + (f": {told}" if told else ""))
    text = done.output.decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        return HookAnswer(verdict="pass", context=clean(text)[:_LONGEST_CONTEXT] if talks else "")
    if done.omitted_bytes:
        return HookAnswer(
            verdict="failed", reason=f"its answer is too long: {done.omitted_bytes:,} bytes of it were cut"
        )
    return _read_json(text)


def _said(data: bytes) -> str:
    return clean(data.decode("utf-8", "replace")).strip()[:_LONGEST_REASON]


def _read_json(text: str) -> HookAnswer:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        return HookAnswer(verdict="failed", reason=f"its answer is not JSON: {exc}")
    assert isinstance(value, dict)  # the text begins with a brace
    special = value.get("hookSpecificOutput", {})
    if not isinstance(special, dict):
        return HookAnswer(verdict="failed", reason="its hookSpecificOutput is not an object")
    if value.get("continue") is False:
        return HookAnswer(verdict="deny", reason=_words(value.get("stopReason")) or "it ends the run")
    decision = special.get("permissionDecision", value.get("decision"))
    if decision is not None and (not isinstance(decision, str) or decision not in _DECISIONS):
        return HookAnswer(verdict="failed", reason=f"its decision {decision!r} is none of allow, ask, deny"[:200])
    updated = special.get("updatedInput")
    if updated is not None and not isinstance(updated, dict):
        return HookAnswer(verdict="failed", reason="its updatedInput is not an object")
    return HookAnswer(
        verdict=_DECISIONS[decision] if isinstance(decision, str) else "pass",
        reason=_words(special.get("permissionDecisionReason", value.get("reason"))),
        updated=updated,
        context=_words(special.get("additionalContext"), limit=_LONGEST_CONTEXT),
    )


def _words(value: object, limit: int = _LONGEST_REASON) -> str:
    return clean(value).strip()[:limit] if isinstance(value, str) else ""
