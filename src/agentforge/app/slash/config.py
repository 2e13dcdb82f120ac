"""/config, /reload, /doctor: what holds here and whether it works."""

from __future__ import annotations

import json
from dataclasses import replace
from fnmatch import fnmatchcase

from agentforge.app.sessions.chat import Chat
from agentforge.app.setup.diagnostics import examine
from agentforge.app.setup.session_diagnostics import Check
from agentforge.app.setup.setup_run import safe_fixes
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import UsageError

_SECRET = ("*KEY*", "*TOKEN*", "*SECRET*", "*PASSWORD*", "*AUTH*")
_NAMED_BY_USER = (".ENV", ".SET_VARS", ".HEADERS")


def _config(chat: Chat, rest: str) -> SlashReply:
    rows = [row for row in chat.workshop.settings.rows() if row.key.startswith(rest)]
    if not rows:
        raise UsageError(f"no setting begins with {rest!r}", hint="/config shows all")
    shown = {row.key: "set" if _is_secret(row.key) else row.value for row in rows}
    lines = [f"| {row.key} | `{json.dumps(shown[row.key], ensure_ascii=False)[:80]}` | {row.origin} |" for row in rows]
    text = "\n".join(["| setting | value | origin |", "| --- | --- | --- |", *lines])
    return SlashReply(text=text, data={"settings": shown})


def _is_secret(key: str) -> bool:
    """Only what the user names can be a secret: variables and headers; the settings of the program itself are none."""
    place, _, name = key.upper().rpartition(".")
    return place.endswith(_NAMED_BY_USER) and any(fnmatchcase(name, pattern) for pattern in _SECRET)


def _reload(chat: Chat, _rest: str) -> SlashReply:
    chat.workshop.reload()
    files = ", ".join(chat.workshop.settings.files()) or "no files, defaults hold"
    return SlashReply(text=f"Settings read again: {files}.", data={"files": list(chat.workshop.settings.files())})


def _of_session(chat: Chat, check: Check) -> Check:
    """A model that was chosen for this session needs none in the settings."""
    chosen = chat.workshop.setting("model") or chat.options.model
    if check.name != "model" or check.status == "ok" or not chosen:
        return check
    return replace(check, status="ok", message=f"{chosen}, chosen for this session; the settings name none", detail="")


def _doctor(chat: Chat, rest: str) -> SlashReply:
    if rest not in ("", "fix", "call"):
        raise UsageError(f"/doctor {rest}: not understood", hint="/doctor [fix|call]")
    fixed: tuple[str, ...] = ()
    if rest == "fix":
        fixed = safe_fixes(chat.workshop.root, chat.workshop.environ)
    found = examine(chat.workshop.root, chat.workshop.environ, call=rest == "call")
    lines = [*(f"- fixed: {line}" for line in fixed)]
    checks = [_of_session(chat, check) for check in found.checks]
    for check in checks:
        more = f" - {check.detail}" if check.detail and check.status != "ok" else ""
        lines.append(f"- **{check.status}** {check.name}: {check.message}{more}")
    errors = sum(check.status == "error" for check in checks)
    warnings = sum(check.status == "warning" for check in checks)
    return SlashReply(
        text="\n".join(lines), data={"ok": not errors, "errors": errors, "warnings": warnings, "fixed": list(fixed)}
    )


COMMANDS = (
    SlashCommand(name="config", usage="[prefix]", summary="Show the settings, each with its origin.", run=_config),
    SlashCommand(name="reload", summary="Read the settings from disk again.", run=_reload),
    SlashCommand(
        name="doctor", usage="[fix|call]", summary="Check settings, model, sandbox, hooks, servers.", run=_doctor
    ),
)
