"""A call that somebody has to agree to, made ready for people: what it does, what it would change, what "always" means."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sessions.person import Question
from agentforge.safety.policy.modes import Consent
from agentforge.safety.policy.permission import read_rule
from agentforge.safety.policy.suggestion import Suggestion, suggest, suggest_call, suggest_write
from agentforge.safety.text.hygiene import clean
from agentforge.safety.text.redaction import redact
from agentforge.tools.dispatch.approval import decide_tool

if TYPE_CHECKING:
    from agentforge.safety.policy.decision import Decision, Policy
    from agentforge.tools.base import Tool

_DIFF_LINES = 400
_KNOWN = ("write_file", "append_file", "edit")


def question_of(
    tool: Tool,
    arguments: Mapping[str, object],
    decision: Decision,
    *,
    policy: Policy,
    root: Path,
    secrets: tuple[str, ...],
) -> Question:
    """Describe a call; nothing secret, nothing that moves the cursor."""

    line, _ = tool.command(arguments)
    url = tool.url(arguments)
    where = ", ".join(tool.paths(arguments, root) or tool.reads(arguments))
    text = line or url or where or ", ".join(f"{key}={str(value)[:80]}" for key, value in arguments.items())
    return Question(
        tool=tool.name,
        text=_plain(text, secrets),
        reason=_plain(decision.reason, secrets),
        diff=_plain(_preview(tool, arguments, root), secrets),
        offers=suggest(line, policy)
        if line
        else _writing(tool, arguments, policy=policy, root=root)
        if where
        else suggest_call(tool.name, url, policy),
    )


def _writing(tool: Tool, arguments: Mapping[str, object], *, policy: Policy, root: Path) -> tuple[Suggestion, ...]:
    """The rules of "always" for a change of files, where they would let this call pass."""
    if tool.effect != "write":
        return ()
    offers = suggest_write(tuple(tool.paths(arguments, root)), policy)
    allowed = tuple(read_rule(offer.rule, Consent.ALLOW) for offer in offers)
    after = decide_tool(tool, arguments, dataclasses.replace(policy, rules=(*policy.rules, *allowed)))
    return offers if after.verdict is Consent.ALLOW else ()


def preview(name: str, arguments: Mapping[str, object], root: Path, *, paths: tuple[str, ...]) -> str:
    """What a file tool would change, as a unified diff, as far as that can be told before.

    Args:
        paths: the files that the call writes.
    """
    if name == "apply_patch":
        return str(arguments.get("patch", ""))
    if len(paths) != 1 or name not in _KNOWN:
        return ""
    before = _content(root / paths[0])
    after = _after(name, arguments, before)
    if after is None:
        return ""
    lines = unified_diff(before.splitlines(), after.splitlines(), f"a/{paths[0]}", f"b/{paths[0]}", lineterm="")
    return "\n".join(list(lines)[:_DIFF_LINES])


def change_of_call(name: str, arguments: str, root: Path) -> tuple[str, str | None, str] | None:
    """The file that a call would write: its absolute path, its text before (None = there is no such file) and after.

    Args:
        arguments: raw JSON text.
    Returns:
        None where that cannot be told before.
    """
    import json

    try:
        given = json.loads(arguments)
    except ValueError:
        return None
    path = given.get("path") if isinstance(given, dict) and name in _KNOWN else None
    if not isinstance(path, str) or not path:
        return None
    file = root / path
    before = _content(file)
    after = _after(name, given, before)
    return None if after is None else (str(file), before if file.is_file() else None, after)


def _preview(tool: Tool, arguments: Mapping[str, object], root: Path) -> str:
    if tool.preview is not None:
        return tool.preview(arguments)
    if tool.foresees is not None:
        return "\n".join(tool.foresees(arguments, root).diff.splitlines()[:_DIFF_LINES])
    return preview(tool.name, arguments, root, paths=tool.writes(arguments))


def _plain(text: str, secrets: tuple[str, ...]) -> str:
    return redact(clean(text), secrets=secrets).text


def _after(name: str, arguments: Mapping[str, object], before: str) -> str | None:
    if name == "write_file":
        return str(arguments.get("content", ""))
    if name == "append_file":
        return before + str(arguments.get("content", ""))
    if name == "edit":
        old, new = str(arguments.get("old_string", "")), str(arguments.get("new_string", ""))
        return before.replace(old, new, -1 if arguments.get("replace_all") else 1) if old else None
    return None


def _content(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError:  # a new file, or a folder: the tool itself says so
        return ""
