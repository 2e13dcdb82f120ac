"""What other tasks delivered for this one: their changes, and the contracts that it waited for, from the delivered commits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentforge.context.sections import Level, Piece
from agentforge.errors import AgentForgeError
from agentforge.events.state.run_state import RunState
from agentforge.workspace.git.repository import Git

_STAGES = ("analyze", "spec", "red", "green")


def arrived_pieces(stage: str, state: RunState) -> list[Piece]:
    """The contents of what arrived, for the stages that build on it; [] where nothing was waited for."""
    if stage not in _STAGES:
        return []
    pieces = []
    for seen in state.relations.awaited.values():
        found = seen.get("found")
        path = str(found.get("path", "")) if isinstance(found, dict) else ""
        if seen.get("status") == "arrived" and isinstance(found, dict) and path:
            whose = f"delivered by {seen['task_id']}" if seen.get("task_id") else f"on branch {found.get('branch')}"
            name = f"contract {path} {found.get('version')}, {whose}"
            text = _text(Path(str(seen.get("repo"))), str(found.get("commit")), path)
            pieces.append(Piece(name=name, text=text, level=Level.LAW, foreign=True))
        elif seen.get("status") == "arrived" and isinstance(found, dict) and _elsewhere(seen, state):
            name = f"change that {seen.get('task_id')} delivered in {seen.get('repo')}; the tests here can import it"
            text = _change(Path(str(seen.get("repo"))), str(found.get("commit")))
            pieces.append(Piece(name=name, text=text, level=Level.NAMED, foreign=True, share=30))
    return pieces


def _elsewhere(seen: Mapping[str, object], state: RunState) -> bool:
    """Whether another repository delivered it: this one holds its own deliveries where it starts."""
    repo = str(seen.get("repo") or "")
    return bool(repo) and Path(repo).resolve() != Path(state.identity.repo).resolve()


def _change(repo: Path, commit: str) -> str:
    try:
        return Git.open(repo).diff(f"{commit}^", commit)
    except AgentForgeError as exc:  # the other repository is gone: said where the change would stand
        return f"cannot be read any more: {exc.message}"


def _text(repo: Path, commit: str, path: str) -> str:
    try:
        data = Git.open(repo).show(commit, path)
    except AgentForgeError as exc:  # the other repository is gone: said where the contract would stand
        return f"cannot be read any more: {exc.message}"
    return (data or b"").decode("utf-8", "replace")
