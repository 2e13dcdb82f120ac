"""What other tasks delivered, laid out for the tests of a task that waited for it: importable where the project looks for it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agentforge.errors import AgentForgeError
from agentforge.events.state.run_state import RunState
from agentforge.languages.javascript.scripts import read_package
from agentforge.languages.python.plan import source_folders
from agentforge.testing.plan import TestPlan
from agentforge.workspace.git.repository import Git


def with_delivered(plan: TestPlan, state: RunState, *, folder: Path, mounted: bool) -> TestPlan:
    """Let the tests of a task find what arrived from other repositories.

    In the sandbox the delivered tree stands where the other repository lies, so that an editable install, a linked package,
    and a path in go.mod or Cargo.toml lead to it. Python finds its packages without being installed; a package of
    JavaScript is linked into `node_modules` where the project has none of that name.

    Args:
        folder: where the trees are laid out; one that is there already is taken.
        mounted: the sandbox can show a folder under another path; else only Python's packages are found.
    Side effects: writes below `folder`.
    """
    trees = dict(_trees(state, folder))
    if not trees:
        return plan
    roots = []
    if plan.language == "python":
        roots = [
            str((repo if mounted else tree) / root) for repo, tree in trees.items() for root in _python_roots(tree)
        ]
    shown = [(str(tree), str(repo)) for repo, tree in trees.items()] if mounted else []
    if mounted and plan.language == "javascript":
        shown += [pair for tree in trees.values() for pair in _linked(tree, Path(state.identity.repo))]
    return replace(plan, pythonpath=(*roots, *plan.pythonpath), delivered=tuple(shown))


def _trees(state: RunState, folder: Path) -> dict[Path, Path]:
    """The repositories whose delivery arrived -> the folder that holds it; the last one of each repository counts."""
    found: dict[Path, Path] = {}
    for seen in state.relations.awaited.values():
        arrived = seen.get("found")
        repo, commit = Path(str(seen.get("repo") or "/")), ""
        if seen.get("status") == "arrived" and isinstance(arrived, Mapping):
            commit = str(arrived.get("commit") or "")
        if not commit or repo.resolve() in (Path("/"), Path(state.identity.repo).resolve()):
            continue
        try:
            found[repo] = _laid_out(Git.open(repo), commit, folder)
        except AgentForgeError:  # the other repository is gone: the tests tell what they miss
            continue
    return found


def _laid_out(git: Git, commit: str, folder: Path) -> Path:
    place = folder / commit[:12]
    if not place.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="draft-", dir=folder))
        git.materialise(git.tree_of(commit), draft / "tree")
        (draft / "tree").rename(place)
        draft.rmdir()
    return place


def _python_roots(tree: Path) -> list[str]:
    names = [str(path.relative_to(tree)) for path in tree.rglob("*.py")]
    return [*source_folders(tree, names), "."] if names else []


def _linked(tree: Path, repo: Path) -> list[tuple[str, str]]:
    """The delivered package under its name in `node_modules`, unless the project has it there or git keeps the folder."""
    name = str(read_package(tree / "package.json").get("name") or "")
    if not name or ".." in name or (repo / "node_modules").is_dir():
        return []
    return [(str(tree), str(repo / "node_modules" / name))]
