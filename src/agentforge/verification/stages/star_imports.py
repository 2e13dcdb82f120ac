"""Names that a test file will get by `from module import *` once they are there: to use them before is no mistake of the test."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from agentforge.languages.python.imports import starred
from agentforge.languages.symbols import Symbol
from agentforge.suite import Rig


def names_to_come(
    rig: Rig, tree: str, files: Iterable[str], *, symbols: Iterable[Symbol], changing: Collection[str]
) -> Mapping[str, frozenset[str]]:
    """The declared new names that star imports can give each test file.

    Args:
        tree: holds the test files.
        files: the test files; those that are no Python have no star imports.
        changing: product files that the change may alter; one that is imported whole may take any new name up.
    Returns:
        file -> names; files without one are left out.
    """
    new = [one for one in symbols if one.change == "new" and not one.owner]
    if not new:
        return {}
    present = frozenset(rig.git.list_files(tree))
    found = {}
    for file in files:
        given = starred(file, present=present, roots=rig.plan.roots, read=rig.read(tree)) if file in present else ()
        names = {one.name for one in new if one.file in given or not set(changing).isdisjoint(given)}
        if names:
            found[file] = frozenset(names)
    return found
