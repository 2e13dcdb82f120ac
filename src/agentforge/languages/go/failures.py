"""Reads what the Go compiler and a failing Go test say: where, and about which symbol."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from agentforge.testing.outcome import MESSAGE_LIMIT, CollectionError, Failure

_TEXT_LIMIT = 1500
_ERROR = re.compile(r"^(?:vet: )?([^\s:][^:\n]*\.go):(\d+):(?:(\d+):)? (.*)$")
_LOCATED = re.compile(r"^\s+([\w.-]+\.go):(\d+): ?(.*)$", re.MULTILINE)
_FRAME = re.compile(r"^\t(/[^\n]+\.go):(\d+)(?: \+0x[0-9a-f]+)?$", re.MULTILINE)
_SYMBOLS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("AttributeError", re.compile(r"(?:\.|^)(\w+) undefined \(type")),
    ("AttributeError", re.compile(r"unknown field '?(\w+)'? in struct literal")),
    ("ImportError", re.compile(r"^undefined: (?:\w+\.)?(\w+)")),
    ("ImportError", re.compile(r"^(?:\w+\.)?(\w+) (?:undefined|not declared by package)")),
    ("ImportError", re.compile(r"name (\w+) not exported by package")),
    ("TypeError", re.compile(r"(?:argument to|arguments in call to) (?:\w+\.)*(\w+)")),
    ("TypeError", re.compile(r"assignment mismatch: .* but (?:\w+\.)*(\w+)(?:\(.*\))? returns")),
    ("TypeError", re.compile(r"(?:\w+\.)*(\w+)\(.*\) \((?:no value|value of type)")),
)
_PACKAGE = re.compile(r"(?:package|module provides package|cannot find package \"?)\s*\"?([\w./~-]+)")


def collection_errors(
    output: str, *, root: str, module: str, packages: Mapping[str, Sequence[str]]
) -> tuple[tuple[CollectionError, ...], frozenset[str]]:
    """Read what `go test` says of packages that do not build.

    Args:
        output: stdout and stderr of the build.
        module: the module's import path.
        packages: folder -> repository paths of its test files.
    Returns:
        An error for each symbol that a file lacks, one for each other test file of such a package, and the folders.
    """
    told: dict[tuple[str, str], CollectionError] = {}
    broken: set[str] = set()
    for line in output.splitlines():
        found = _ERROR.match(line.replace(f"{root}/", "").removeprefix("./"))
        if found is None or posixpath.dirname(found[1]) not in packages:
            continue
        path = posixpath.normpath(found[1])
        failure = _compile_failure(path, int(found[2]), found[4], module)
        broken.add(posixpath.dirname(path))
        told.setdefault((path, failure.message), CollectionError(id=path, failure=failure, text=failure.text))
    errors = list(told.values())
    for folder in sorted(broken):
        first = next(one for one in errors if posixpath.dirname(one.id) == folder)
        named = {one.id for one in errors}
        errors += [
            CollectionError(id=path, failure=first.failure, text=first.text)
            for path in packages[folder]
            if path not in named
        ]
    return tuple(one for one in errors if one.id.endswith("_test.go")), frozenset(broken)


def test_failure(output: str, *, root: str, folder: str, test_file: str) -> Failure:
    """Describe a test that failed, from what it printed."""
    text = output.replace(f"{root}/", "")
    located = _LOCATED.search(text)
    panic = re.search(r"^panic: (.*)$", text, re.MULTILINE)
    if panic is not None:
        frames = [(path, int(line)) for path, line in _FRAME.findall(output) if path.startswith(f"{root}/")]
        path, at = (frames[0][0][len(root) + 1 :], frames[0][1]) if frames else ("", 0)
        said = panic[1].removesuffix(" [recovered]")
        return Failure(
            exc_type="NotImplementedError" if "not implemented" in said else "Panic",
            message=said[:MESSAGE_LIMIT], file=path, line=at, in_test=path == test_file, text=text[:_TEXT_LIMIT],
        )  # fmt: skip
    if located is None:
        return Failure(exc_type="Error", message=text.strip()[:MESSAGE_LIMIT] or "it failed", text=text[:_TEXT_LIMIT])
    path = posixpath.join(folder, located[1])
    return Failure(
        exc_type="AssertionError", message=located[3][:MESSAGE_LIMIT] or "it failed", file=path, line=int(located[2]),
        in_test=path == test_file, text=text[:_TEXT_LIMIT],
    )  # fmt: skip


test_failure.__test__ = False  # type: ignore[attr-defined]  # no test, whatever pytest thinks of the name


def _compile_failure(path: str, line: int, message: str, module: str) -> Failure:
    kind, names = _about(message, module)
    return Failure(
        exc_type=kind, message=message[:MESSAGE_LIMIT], file=path, line=line, in_test=True, names=names,
        text=f"{path}:{line}: {message}"[:_TEXT_LIMIT],
    )  # fmt: skip


def _about(message: str, module: str) -> tuple[str, tuple[str, ...]]:
    for kind, pattern in _SYMBOLS:
        found = pattern.search(message)
        if found:
            return kind, (found[1],)
    package = _PACKAGE.search(message)
    if package and ("not in" in message or "no required module" in message or "cannot find" in message):
        inside = package[1].removeprefix(f"{module}/") if package[1].startswith(f"{module}/") else package[1]
        return "ModuleNotFoundError", (inside.replace("/", "."),)
    return "SyntaxError", ()


def folders_of(files: Iterable[str]) -> tuple[str, ...]:
    """The folders of files, each once, in order."""
    return tuple(dict.fromkeys(posixpath.dirname(one) for one in files))
