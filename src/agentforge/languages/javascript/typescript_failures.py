"""Reads what the TypeScript compiler says inside of a test runner (ts-jest): each error, and what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentforge.languages.javascript.failures import module_name, relative
from agentforge.testing.outcome import MESSAGE_LIMIT, Failure

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ERROR = re.compile(
    r"^\s*(?P<path>\S[^\n:]*):(?P<line>\d+):\d+ - error (?P<code>TS\d+): (?P<text>[^\n]*)", re.MULTILINE
)
_QUOTED = re.compile(r"'([^']+)'")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_EXPORTS = frozenset({"TS2305", "TS2459", "TS2460", "TS2613", "TS2614", "TS2724"})
_MEMBERS = frozenset({"TS2339", "TS2551", "TS2576"})
_MODULES = frozenset({"TS2307", "TS2792", "TS7016"})
_NAMES = frozenset({"TS2304", "TS2552", "TS2582", "TS2503"})


def compiler_failures(message: str, *, root: str, test_file: str) -> list[Failure]:
    """The errors that a compiler told, in order; [] when the message holds none.

    Args:
        root: absolute path of the checkout as the tests see it.
        test_file: repository path of the test's file.
    """
    text = _COLOUR.sub("", message)
    return list(_failures(text, root=root, test_file=test_file))


def _failures(text: str, *, root: str, test_file: str) -> Iterator[Failure]:
    found = list(_ERROR.finditer(text))
    for at, one in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        path = relative(one["path"], root)
        kind, names = _about(one["code"], one["text"], text[one.end() : end], test_file)
        yield Failure(
            exc_type=kind,
            message=f"{one['code']}: {one['text']}"[:MESSAGE_LIMIT],
            file=path,
            line=int(one["line"]),
            in_test=path == test_file,
            names=names,
            text=text[one.start() : end].strip()[:1500],
        )


def _about(code: str, said: str, frame: str, test_file: str) -> tuple[str, tuple[str, ...]]:
    """The kind of an error, and what it is about; one that names nothing is about the words of its line."""
    quoted = _QUOTED.findall(said)
    if code in _EXPORTS:
        plain = [name for name in quoted if not name.startswith('"') and _WORD.fullmatch(name)]
        return "ImportError", tuple(plain[:1])
    if code in _MODULES:
        return "ModuleNotFoundError", (module_name(quoted[0] if quoted else "", test_file),)
    if code in _MEMBERS:
        return "AttributeError", tuple(quoted[:1])
    if code in _NAMES:
        return "NameError", tuple(quoted[:1])
    if code.startswith("TS1"):
        return "SyntaxError", ()
    line = next((row for row in frame.splitlines() if row.strip()), "")
    return "TypeError", tuple(dict.fromkeys(_WORD.findall(line)))
