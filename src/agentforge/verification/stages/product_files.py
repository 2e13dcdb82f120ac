"""Which changed files are the product, and which of them lie outside of what the specification lets a change touch."""

from __future__ import annotations

import ast
import fnmatch
import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import PurePosixPath

from agentforge.languages.python.source import imported_by, module_of
from agentforge.languages.test_parts import only_tests_changed
from agentforge.verification.source.test_hashes import FrozenTests
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Git, Read

Mentions = Callable[[Sequence[str]], Iterable[str]]
"""The files of a tree that hold one of some words."""

_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_SPECIFIER = re.compile(r"(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*['\"](\.{1,2}/[^'\"]*)['\"]")
_WHOLE_FOLDER = ("__init__", "index", "mod")
_MOST_STEPS = 200


def product_files(git: Git, tree: str, paths: Iterable[str], *, roots: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that are the product, in their order.

    A folder called `testing` makes no test of a module that the product imports: it is looked at as all other code is.

    Args:
        roots: folders that stand on `sys.path`, relative to the repository.
    """
    listed = tuple(paths)
    doubtful = [path for path in listed if is_test_path(path) and _can_be_imported(path)]
    if not doubtful:
        return tuple(path for path in listed if not is_test_path(path))

    def mentions(words: Sequence[str]) -> list[str]:
        done = git.command.run(
            "grep", "-l", "-z", "-I", "-F", *(one for word in words for one in ("-e", word)), tree, "--"
        )
        return [one.removeprefix(f"{tree}:") for one in os.fsdecode(done.output).split("\0") if one]

    used = imported_among(
        doubtful, present=frozenset(git.list_files(tree)), roots=tuple(roots), read=lambda path: git.show(tree, path),
        mentions=mentions,
    )  # fmt: skip
    return tuple(path for path in listed if not is_test_path(path) or path in used)


def imported_among(
    paths: Iterable[str], *, present: Collection[str], roots: Sequence[str], read: Read, mentions: Mentions
) -> frozenset[str]:
    """Those of the paths that a file which is not named as a test imports, directly or through files that are."""

    def is_imported(path: str) -> bool:
        seen, open_paths = {path}, [path]
        while open_paths and len(seen) < _MOST_STEPS:
            target = open_paths.pop()
            for other in mentions(_words_for(target)):
                if other in seen or not _imports(other, target, present=present, roots=roots, read=read):
                    continue
                if not is_test_path(other):
                    return True
                seen.add(other)
                open_paths.append(other)
        return False

    return frozenset(path for path in paths if is_imported(path))


def _can_be_imported(path: str) -> bool:
    """Whether other files may import a file; a runner alone reads `conftest.py`, and Go compiles no `_test.go` into anything."""
    name = path.rpartition("/")[2]
    return name.endswith((".py", ".go", *_SCRIPTS)) and name != "conftest.py" and not name.endswith("_test.go")


def _words_for(path: str) -> tuple[str, ...]:
    """What a file must hold to import another one."""
    pure = PurePosixPath(path)
    whole = pure.suffix == ".go" or pure.stem in _WHOLE_FOLDER
    return (pure.parent.name or pure.stem,) if whole else (pure.name.partition(".")[0],)


def _imports(path: str, target: str, *, present: Collection[str], roots: Sequence[str], read: Read) -> bool:
    data = read(path)
    if data is None or path.endswith(".py") is not target.endswith(".py"):
        return False
    if path.endswith(".py"):
        return target in imported_by(path, data, present=present, roots=roots) or _names_module(data, target)
    text = data.decode("utf-8", "replace")
    folder = posixpath.dirname(path)
    if target.endswith(".go"):
        return (
            path.endswith(".go") and re.search(rf'"[^"\s]*/{re.escape(posixpath.dirname(target))}"', text) is not None
        )
    said = {posixpath.normpath(posixpath.join(folder, one)) for one in _SPECIFIER.findall(text)}
    plain = PurePosixPath(target)
    stems = {target, str(plain.with_suffix("")), str(plain.with_suffix(".js"))}
    return bool(said & (stems | ({str(plain.parent)} if plain.stem == "index" else set())))


def _names_module(data: bytes, target: str) -> bool:
    """Whether a text in the source is the module's dotted name, as `import_module` takes it."""
    parts = PurePosixPath(target.removesuffix("/__init__.py")).with_suffix("").parts
    named = {".".join(parts[start:]) for start in range(len(parts) - 1)} | {f".{parts[-1]}"}
    return any(isinstance(one, ast.Constant) and one.value in named for one in ast.walk(module_of(data)))


def outside(
    changed: Iterable[str], scope: Sequence[str], frozen: FrozenTests, *, before: Read, after: Read
) -> list[str]:
    """List the changed paths that are neither in a scope nor RED's; of a product file the tests inside may be RED's alone.

    Args:
        scope: paths, folders ("pkg/") or patterns.
    """
    left = [path for path in changed if not _in_scope(path, (*scope, *frozen.whole))]
    return [
        path for path in left if path not in frozen.parts or not only_tests_changed(path, before=before, after=after)
    ]


def _in_scope(path: str, scope: Sequence[str]) -> bool:
    """Whether a path is one of the scope's paths, lies in one of its folders, or matches one of its patterns."""
    return any(
        path == one or (one.endswith("/") and path.startswith(one)) or fnmatch.fnmatchcase(path, one) for one in scope
    )
