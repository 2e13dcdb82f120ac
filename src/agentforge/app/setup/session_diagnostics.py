"""What the doctor looks at for conversations: the model's answer, hooks, MCP servers, skills, the terminal, trust."""

from __future__ import annotations

import locale
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, cast

from agentforge.app.composition.assembly import Models
from agentforge.app.sessions.skill_activation import look_for_skills
from agentforge.app.tasks.added_stages import added_now
from agentforge.config.paths import project_tops
from agentforge.config.settings import Settings
from agentforge.config.trust import trusted
from agentforge.errors import AgentForgeError, TrustRequired
from agentforge.frozen import dataclass
from agentforge.hooks import read_hook
from agentforge.installation import command_for
from agentforge.messages import Message, ModelRequest, Text

Status = Literal["ok", "warning", "error"]

_ONE_WORD_TOKENS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding; `detail` says what to do."""

    name: str
    status: Status
    message: str
    detail: str = ""


def session_looks(folder: Path, settings: Settings, environ: Mapping[str, str]) -> tuple[Callable[[], Check], ...]:
    """The looks for conversations in a folder."""
    return (
        lambda: _hooks(settings),
        lambda: _servers(settings, environ),
        lambda: _skills(folder, settings, environ),
        lambda: _extra("screen", "textual", "tui", "the screen; line by line works without"),
        lambda: _terminal(environ),
        lambda: _trust(folder, environ),
    )


def answering(settings: Settings, environ: Mapping[str, str]) -> Check:
    """Ask the model for one word: the key is right, the name is right, the address answers."""
    name = "model answers"
    models = Models(settings=settings, environ=environ, flag=None)
    labels: dict[str, str | int] = {"stage": "doctor", "stage_step": 1}
    ask = Message(role="user", parts=(Text(text="Answer with the single word: ready"),))
    try:
        reply = models.of_stage("").complete(
            ModelRequest(messages=(ask,), max_output_tokens=_ONE_WORD_TOKENS, labels=labels)
        )
    except AgentForgeError as exc:
        return Check(name=name, status="error", message=exc.message, detail=exc.hint)
    finally:
        models.close()
    used = reply.usage.prompt_tokens + reply.usage.completion_tokens
    return Check(name=name, status="ok", message=f"{reply.model} in {reply.duration_ms} ms, {used} tokens")


def stages_look(folder: Path, settings: Settings, environ: Mapping[str, str]) -> Check:
    """The stages that this project, its user or a package adds to a task."""
    try:
        found = added_now(project_tops(folder, environ)[0], settings=settings, environ=environ)
    except TrustRequired as exc:
        return Check(name="stages", status="warning", message=exc.message, detail=exc.hint)
    except AgentForgeError as exc:
        return Check(name="stages", status="error", message=exc.message, detail=exc.hint)
    told = ", ".join(f"{one.stage.name} after {one.stage.after} ({one.source})" for one in found)
    return Check(name="stages", status="ok", message=f"the eight builtin ones{', and ' + told if told else ''}")


def _hooks(settings: Settings) -> Check:
    rows = cast("list[Mapping[str, object]]", settings.get("hooks") or [])
    if not rows:
        return Check(name="hooks", status="ok", message="none")
    if not settings.flag("hooks_enabled"):
        detail = "set hooks_enabled = true to have them run"
        return Check(name="hooks", status="warning", message=f"{len(rows)} configured, switched off", detail=detail)
    try:
        for row in rows:
            read_hook(row, origin="settings", folder=Path.cwd(), home=Path.home())
    except AgentForgeError as exc:
        return Check(name="hooks", status="error", message=exc.message, detail=exc.hint)
    return Check(name="hooks", status="ok", message=f"{len(rows)} configured")


def _servers(settings: Settings, environ: Mapping[str, str]) -> Check:
    servers = cast("Mapping[str, Mapping[str, object]]", settings.table("mcp_servers"))
    if not servers:
        return Check(name="mcp servers", status="ok", message="none")
    wrong = [
        f"{name}: {one['command']} was not found"
        for name, one in servers.items()
        if one.get("command") and shutil.which(str(one["command"]), path=environ.get("PATH")) is None
    ]
    if wrong:
        return Check(name="mcp servers", status="warning", message="; ".join(wrong), detail="install it, or correct it")
    return Check(name="mcp servers", status="ok", message=", ".join(sorted(servers)))


def _skills(folder: Path, settings: Settings, environ: Mapping[str, str]) -> Check:
    if not settings.flag("skills_enabled"):
        return Check(name="skills", status="ok", message="switched off")
    try:
        catalogue, notices = look_for_skills(folder, settings=settings, environ=environ)
    except AgentForgeError as exc:
        return Check(name="skills", status="warning", message=exc.message, detail=exc.hint)
    wrong = [one.reason for one in catalogue.skipped] + list(notices)
    message = ", ".join(catalogue.skills) or "none"
    if wrong:
        return Check(name="skills", status="warning", message=message, detail="; ".join(wrong))
    return Check(name="skills", status="ok", message=message)


def _extra(name: str, module: str, extra: str, what: str) -> Check:
    if find_spec(module) is None:
        detail = f"for {what}: {command_for(extra)}"
        return Check(name=name, status="warning", message=f"{module} is not installed", detail=detail)
    return Check(name=name, status="ok", message=f"{module} is installed")


def _terminal(environ: Mapping[str, str]) -> Check:
    size = shutil.get_terminal_size()
    encoding = sys.stdout.encoding or locale.getpreferredencoding(False)
    term = environ.get("TERM", "")
    message = f"{term or 'no TERM'}, {size.columns}x{size.lines}, {encoding}"
    if not encoding.lower().replace("-", "").startswith("utf8"):
        detail = "set LANG to a UTF-8 locale for more than ASCII on the screen"
        return Check(name="terminal", status="warning", message=message, detail=detail)
    return Check(name="terminal", status="ok", message=message + ("" if os.isatty(1) else ", no terminal now"))


def _trust(folder: Path, environ: Mapping[str, str]) -> Check:
    try:
        pending = trusted(folder, environ).pending()
    except AgentForgeError as exc:
        return Check(name="trust", status="warning", message=exc.message, detail=exc.hint)
    if pending:
        kinds = ", ".join(sorted({one.kind for one in pending}))
        detail = "`agentforge trust` shows them and asks; until then they are not loaded"
        return Check(name="trust", status="warning", message=f"the project brings: {kinds}", detail=detail)
    return Check(name="trust", status="ok", message="nothing waits for your trust")
