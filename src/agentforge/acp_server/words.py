"""What an editor sends as a prompt, as text and notes; and what it is told of modes and options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    UnstructuredCommandInput,
)

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.mentions import as_mention, notes_of
from agentforge.app.slash import commands
from agentforge.frozen import dataclass
from agentforge.safety.policy.modes import MODE_MEANING

MODES = {
    "plan": ("Plan", "Looks and plans; changes nothing."),
    "build": ("Build", "Works: changes files and runs commands, asking where the settings say so."),
    "swarm": ("Swarm", "Several subagents look into one question side by side."),
    "task": ("Task", "The pipeline: a request becomes a verified branch in a worktree of its own."),
}
_UNFIT = ("exit", "quit", "theme", "keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A prompt.

    Attributes:
        text: what the person wrote.
        notes: what goes along: contents that the editor embedded, files that the text names.
    """

    text: str
    notes: tuple[str, ...] = ()


def said_of(blocks: Sequence[Any], root: Path) -> Said:
    """Read the blocks of a prompt; links to files of the workspace become mentions, embedded texts become notes."""
    words: list[str] = []
    notes: list[str] = []
    for block in blocks:
        kind = getattr(block, "type", "")
        if kind == "text":
            words.append(block.text)
        elif kind == "resource_link":
            words.append(_mention(str(block.uri), root) or f"{block.name} ({block.uri})")
        elif kind == "resource":
            text = getattr(block.resource, "text", None)
            uri = str(block.resource.uri)
            shown = text if isinstance(text, str) else "(not text: left out)"
            notes.append(f'<file path="{_path(uri, root) or uri}">\n{shown}\n</file>')
        else:
            notes.append(f"(the editor sent {kind or 'something'}, which cannot be read here)")
    text = " ".join(word for word in words if word.strip()).strip()
    return Said(text=text, notes=(*notes, *notes_of(text, root).notes))


def modes_now(mode: str) -> SessionModeState:
    """The modes and the one that holds."""
    rows = [SessionMode(id=name, name=title, description=words) for name, (title, words) in MODES.items()]
    return SessionModeState(current_mode_id=mode, available_modes=rows)


def options_now(chat: Chat, *, mode: str, models: Sequence[str]) -> list[SessionConfigOptionSelect]:
    """What can be chosen in a session: mode, model, how much is asked.

    Args:
        models: the one that answers first, then others.
    """
    approvals = {str(name): meaning for name, meaning in MODE_MEANING.items()}
    return [
        _select("mode", "Mode", "mode", mode, {name: words for name, (_, words) in MODES.items()}),
        _select("approval", "Approval", None, str(chat.workshop.policy().mode), approvals),
        *([_select("model", "Model", "model", models[0], dict.fromkeys(models, ""))] if models else []),
    ]


def commands_now() -> AvailableCommandsUpdate:
    """The slash commands that an editor offers."""
    rows = []
    for name, command in commands().items():
        if name == command.name and name not in _UNFIT:
            hint = AvailableCommandInput(UnstructuredCommandInput(hint=command.usage)) if command.usage else None
            rows.append(AvailableCommand(name=name, description=command.summary, input=hint))
    return AvailableCommandsUpdate(session_update="available_commands_update", available_commands=rows)


def _select(option: str, name: str, category: Any, value: str, choices: dict[str, str]) -> SessionConfigOptionSelect:
    rows = [SessionConfigSelectOption(value=key, name=key, description=words or None) for key, words in choices.items()]
    return SessionConfigOptionSelect(
        id=option, name=name, category=category, type="select", current_value=value, options=rows
    )


def _mention(uri: str, root: Path) -> str:
    path = _path(uri, root)
    return as_mention(path) if path else ""


def _path(uri: str, root: Path) -> str:
    """The path of a file address inside the workspace, relative to it; "" for any other."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return ""
    file = Path(unquote(parts.path))
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else ""
