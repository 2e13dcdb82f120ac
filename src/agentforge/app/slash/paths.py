"""/paths: where everything is read from and kept, in the order in which it counts."""

from __future__ import annotations

from pathlib import Path

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.config.paths import config_dir, data_dir, project_files


def _paths(chat: Chat, _rest: str) -> SlashReply:
    shop = chat.workshop
    around, environ = shop.around, shop.environ
    config, data, top = config_dir(environ), data_dir(environ), around.project.tops[-1]
    rows = [
        ("cwd", shop.root, ""),
        ("project", around.project.tops[0], ""),
        ("settings", config / "config.toml", ""),
        *(("project settings", file, "") for file in project_files(top)),
        *(("env", file, "") for file in (shop.root / ".env", config / ".env")),
        ("data", data, ""),
        *((name, data / name, "") for name in ("runs", "sessions", "checkpoints", "events")),
        *((f"memory ({scope})", around.memory.file(scope), "") for scope in ("user", "project")),
        *(("instructions", one.file, one.why_not) for one in around.guidance.files()),
        *(
            ("skills", place, "" if used or not place.is_dir() else "not used")
            for place, used in around.skills.places()
        ),
    ]
    lines = [f"| {kind} | `{path}` | {note or _state(path)} |" for kind, path, note in rows]
    value = [{"kind": kind, "path": str(path), "note": note or _state(path)} for kind, path, note in rows]
    last = "Instructions: a later row goes before an earlier one, what you say before all. Skills: the first row wins."
    return SlashReply(
        text="\n".join(["| what | path | |", "| --- | --- | --- |", *lines, "", last]), data={"paths": value}
    )


def _state(path: Path) -> str:
    return "" if path.exists() else "not there"


COMMANDS = (SlashCommand(name="paths", summary="Show where settings, data, instructions and skills are.", run=_paths),)
