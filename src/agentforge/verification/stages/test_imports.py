"""What test files import: what the request wants to be importable, and what star imports will give them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from agentforge.languages.python.source import starred
from agentforge.languages.symbols import Symbol, modules
from agentforge.suite import Rig
from agentforge.verification.source.test_hashes import test_functions
from agentforge.workspace.git.repository import Read


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


_STATEMENT = re.compile(r"\bfrom\s+[\w.]+\s+import\s+\w+(?:\s*,\s*\w+)*|(?<![\w.])import\s+[\w.]+")


def importing_tests(files: Iterable[str], *, read: Read, symbols: Sequence[Symbol], told: str) -> Iterator[str]:
    """Yield the id of each test of Python that does nothing with a new module or name but import it.

    It may do so in a process of its own, with the statement in a text.

    Args:
        files: test files.
        symbols: the declared ones.
        told: the words of people; the statement has to stand in them as the test has it.
    """
    new = [one for one in symbols if one.change == "new"]
    names = {one.last for one in new} | {name.rpartition(".")[2] for one in new for name in modules(one.file)}
    said = " ".join(told.split())
    for path in files:
        data = (read(path) or b"") if path.endswith(".py") else b""
        lines = data.decode("utf-8", "replace").splitlines()
        for name, node, _classes in test_functions(data):
            text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            asked = [one for one in _STATEMENT.findall(text) if _stands_in(" ".join(one.split()), said)]
            rest = _STATEMENT.sub(" ", text)
            own = [one for one in asked if names & set(re.findall(r"\w+", one))]
            if own and not names & set(re.findall(r"\w+", rest)):
                yield f"{path}::{name}"


def _stands_in(statement: str, said: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(statement)}(?![\w.]*\w)", said) is not None
