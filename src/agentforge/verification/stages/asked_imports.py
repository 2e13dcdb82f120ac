"""Tests that only import what the request wants to be importable, in its own words: that this works is all that they can show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from agentforge.languages.symbols import Symbol, modules
from agentforge.verification.source.test_hashes import Read, test_functions

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
