"""Content hashes of accepted tests: per test function and per test file."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agentforge.canonical import digest_bytes
from agentforge.languages.catalogue import named_tests
from agentforge.languages.python.source import module_of
from agentforge.languages.test_parts import MARK, inner_tests, key_of
from agentforge.workspace.git.repository import Read


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenTests:
    """What later stages must not change.

    Attributes:
        tests: id without parameters -> hash of the function's source with its decorators and those of its class.
        files: path -> hash of the whole file, data files and conftest.py included; of a product file that holds tests, the path
            with a mark (`src/lib.rs#tests`) -> hash of these.
    """

    tests: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> tuple[str, ...]:
        """The files that are frozen from the first to the last byte."""
        return tuple(path for path in self.files if not path.endswith(MARK))

    @property
    def parts(self) -> tuple[str, ...]:
        """The product files of which only the tests are frozen."""
        return tuple(path.removesuffix(MARK) for path in self.files if path.endswith(MARK))


def freeze(paths: Iterable[str], *, read: Read, whole: Collection[str] = ()) -> FrozenTests:
    """Hash test files and the test functions in them.

    Args:
        read: content of a repository path; None when it does not exist. A path that does not exist is left out.
        whole: files that are tests from the first to the last line, whatever they are called.
    """
    tests: dict[str, str] = {}
    files: dict[str, str] = {}
    for path in sorted(paths):
        data = read(path)
        if data is not None:
            key = path if path in whole else key_of(path)
            files[key] = digest_bytes(data if key == path else inner_tests(path, data))
            tests.update({f"{path}::{name}": digest for name, digest in test_hashes(path, data)})
    return FrozenTests(tests=tests, files=files)


def compare(frozen: FrozenTests, read: Read) -> tuple[str, ...]:
    """List what is not as it was frozen: ids of changed tests, and paths whose tests are the same but the rest is not."""
    changed: list[str] = []
    for key, digest in frozen.files.items():
        path = key.removesuffix(MARK)
        data = read(path)
        held = data if key == path or data is None else inner_tests(path, data)
        if held is not None and digest_bytes(held) == digest:
            continue
        now = dict(test_hashes(path, data)) if data is not None else {}
        own = {name: one for name, one in frozen.tests.items() if name.partition("::")[0] == path}
        altered = [name for name, one in own.items() if now.get(name.partition("::")[2]) != one]
        changed += altered or [key]
    return tuple(changed)


def test_hashes(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield (name, hash) of each test of a file, in the languages whose tests can be told without running them."""
    if path.endswith(".py"):
        yield from function_hashes(data)
        return

    for name, text in named_tests(path, data):
        yield name, digest_bytes(text.encode("utf-8", "replace"))


test_hashes.__test__ = False  # type: ignore[attr-defined]  # no test, whatever pytest thinks of the name


def function_hashes(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield (`Class::test_name`, hash) of each test of a Python file; nothing for a file that cannot be parsed."""
    for name, node, classes in test_functions(data):
        lines = data.decode("utf-8", "replace").splitlines()
        parts = [_decorators(lines, owner) for owner in classes]
        start = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        parts.append("\n".join(line.rstrip() for line in lines[start - 1 : node.end_lineno]))
        yield name, digest_bytes(textwrap.dedent("\n".join(parts)).encode("utf-8", "replace"))


def test_functions(
    data: bytes,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, tuple[ast.ClassDef, ...]]]:
    """Yield (`Class::test_name`, its node, the classes around it) of each test function, in order; twice when defined twice."""
    yield from _tests_of(module_of(data).body, ())


def duplicates(path: str, data: bytes) -> tuple[str, ...]:
    """Ids of tests that are defined twice in one place: only the last definition would run."""
    seen: set[str] = set()
    twice: dict[str, None] = {}
    names = (name for name, _node, _classes in test_functions(data))
    for name in names if path.endswith(".py") else (name for name, _digest in test_hashes(path, data)):
        if name in seen:
            twice[f"{path}::{name}"] = None
        seen.add(name)
    return tuple(twice)


def _tests_of(
    body: list[ast.stmt], classes: tuple[ast.ClassDef, ...]
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, tuple[ast.ClassDef, ...]]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _tests_of(node.body, (*classes, node))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield "::".join([*(owner.name for owner in classes), node.name]), node, classes


def _decorators(lines: list[str], owner: ast.ClassDef) -> str:
    if not owner.decorator_list:
        return ""
    return "\n".join(line.strip() for line in lines[owner.decorator_list[0].lineno - 1 : owner.lineno])


test_functions.__test__ = False  # type: ignore[attr-defined]  # no test, whatever pytest thinks of the name
