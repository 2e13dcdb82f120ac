"""What other tasks delivered for this one: the contracts that it waited for, as they stand in the delivered commits."""

from __future__ import annotations

from pathlib import Path

from agentforge.context.budget import Piece
from agentforge.errors import AgentForgeError
from agentforge.events.state import RunState
from agentforge.workspace.git import Git

_STAGES = ("analyze", "spec")
_LIMIT = 500


def arrived_pieces(stage: str, state: RunState) -> list[Piece]:
    """The contents of what arrived, for the stages that settle what is to be done; [] where nothing was waited for."""
    if stage not in _STAGES:
        return []
    pieces = []
    for seen in state.awaited.values():
        found = seen.get("found")
        path = str(found.get("path", "")) if isinstance(found, dict) else ""
        if seen.get("status") == "arrived" and isinstance(found, dict) and path:
            name = f"contract {path} {found.get('version')}, delivered by {seen.get('task_id')}"
            text = _text(Path(str(seen.get("repo"))), str(found.get("commit")), path)
            pieces.append(Piece(name=name, text=text, limit=_LIMIT, foreign=True))
    return pieces


def _text(repo: Path, commit: str, path: str) -> str:
    try:
        data = Git.open(repo).show(commit, path)
    except AgentForgeError as exc:  # the other repository is gone: said where the contract would stand
        return f"cannot be read any more: {exc.message}"
    return (data or b"").decode("utf-8", "replace")
