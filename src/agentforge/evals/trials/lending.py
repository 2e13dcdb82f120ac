"""The environment of a repository of the user's, lent to one that was made of its files: python, packages, built files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.suite.detection import detect

if TYPE_CHECKING:
    from agentforge.config.settings import Settings


def lend(source: Path, repo: Path, *, settings: Settings, environ: Mapping[str, str]) -> dict[str, object]:
    """Let the tests of `repo` run with what those of `source` run with.

    Args:
        source: the top of the user's repository, where dependencies are installed.
        repo: a repository of some of its files.
        settings: those of `source`.
    Returns:
        Settings (dotted key -> value) that name what is used where it stands.
    Side effects: folders like node_modules are put into `repo`, file by file as hard links where the file system allows it,
        and git is told not to see them.
    """
    table = settings.table("test")
    plan = detect(source, settings=table, environ=environ)
    names = [name for name in plan.environments if not plan.interpreter or name not in (".venv", "venv")]
    for name in names:
        _link_all(source / name, repo / name)
    exclude = repo / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    with exclude.open("a", encoding="utf-8") as file:
        file.writelines(f"/{name}\n" for name in names)
    chosen = {f"test.{key}": value for key, value in table.items() if settings.origin(f"test.{key}") != "default"}
    return {**chosen, **({"test.python": plan.interpreter} if plan.interpreter else {})}


def _link_all(source: Path, target: Path) -> None:
    """Copy a file or folder by hard links; what cannot be linked is copied."""
    if not source.exists() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, copy_function=_link)
    else:
        _link(str(source), str(target))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
