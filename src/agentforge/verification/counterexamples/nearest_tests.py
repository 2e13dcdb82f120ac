"""The test files that lie nearest to changed files where no run tells which lines a test executes: by package and by import."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Read

_MOST = 20
_SPECIFIER = re.compile(rb"""(?:from|import|require\()\s*\(?\s*["'](\.{1,2}/[^"']*)["']""")
_ENDINGS = ("", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx", "/index.js", "/index.ts", "/index.mjs")
_SCRIPTS = (".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx")


def tests_near(changed: Sequence[str], *, present: Collection[str], read: Read) -> tuple[str, ...]:
    """The test files of the packages of changed files (Go, Java, unit tests of Rust), and those that import one (JavaScript).

    Args:
        changed: product files, repository paths.
        present: all paths of the tree.
    Returns:
        the first few, in the order of their paths.
    """
    tests = [path for path in sorted(present) if is_test_path(path)]
    return tuple(islice(dict.fromkeys(_found(changed, tests, frozenset(present), read)), _MOST))


def _found(changed: Sequence[str], tests: Sequence[str], present: frozenset[str], read: Read) -> Iterator[str]:
    folders = {posixpath.dirname(path) for path in changed if path.endswith(".go")}
    yield from (path for path in tests if path.endswith("_test.go") and posixpath.dirname(path) in folders)
    yield from (path for path in changed if path.endswith(".rs") and b"#[test]" in (read(path) or b""))
    named = {f"/{path.rpartition('/')[2].removesuffix('.java')}Test.java" for path in changed if path.endswith(".java")}
    yield from (path for path in tests if any(f"/{path}".endswith(one) for one in named))
    scripts = frozenset(path for path in changed if path.endswith(_SCRIPTS))
    for path in tests if scripts else ():
        if path.endswith(_SCRIPTS) and scripts & imported_scripts(path, read(path) or b"", present):
            yield path


def imported_scripts(path: str, data: bytes, present: frozenset[str]) -> frozenset[str]:
    """The repository paths that the relative imports of a script name; `./a.js` may stand for `a.ts`."""
    found = set()
    for said in _SPECIFIER.findall(data):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), said.decode("utf-8", "replace")))
        stem = place.removesuffix(".js").removesuffix(".mjs").removesuffix(".cjs")
        found |= {one + ending for one in (place, stem) for ending in _ENDINGS} & present
    return frozenset(found)
