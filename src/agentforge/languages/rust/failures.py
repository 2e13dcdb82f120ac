"""Reads what rustc and a failing Rust test say: where, and about which symbol."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from agentforge.testing.outcome import MESSAGE_LIMIT, CollectionError, Failure

_TEXT_LIMIT = 1500
_ABSENT = frozenset({"E0425", "E0432", "E0433", "E0412", "E0405", "E0422", "E0423", "E0531", "E0583", "E0603"})
_MEMBER = frozenset({"E0599", "E0609", "E0560", "E0026", "E0407", "E0437", "E0438", "E0576"})
_MISFIT = frozenset({"E0061", "E0308", "E0107", "E0277", "E0023", "E0063", "E0618"})
_QUOTED = re.compile(r"`([\w:]+)`")
_MACRO = re.compile(r"macro_rules! *(\w+)|(\w+)!")
_UNMATCHED = ("no rules expected", "unexpected end of macro invocation")
_WORD = re.compile(r"[A-Za-z_]\w*")
_PANIC = re.compile(r"panicked at ([^\n]+?):(\d+):\d+:\n(.*)", re.DOTALL)
_OLD_PANIC = re.compile(r"panicked at '(.*)', ([^\n]+?):(\d+):\d+", re.DOTALL)


def compile_error(message: Mapping[str, Any], *, file: str) -> CollectionError:
    """Describe an error of rustc.

    Args:
        message: the diagnostic as `--message-format=json` has it.
        file: repository path of the root file of what was compiled.
    """
    spans = [one for one in message.get("spans") or () if one.get("is_primary")]
    span: Mapping[str, Any] = spans[0] if spans else {}
    path = str(span.get("file_name") or file)
    said = str(message.get("message", ""))
    code = str((message.get("code") or {}).get("code", ""))
    kind, names = _about(code, said, span)
    if said.startswith(_UNMATCHED) and (macros := _macros_of_project(message, path)) is not None:
        kind, names = "TypeError", macros
    text = str(message.get("rendered") or said)[:_TEXT_LIMIT]
    failure = Failure(
        exc_type=kind, message=said[:MESSAGE_LIMIT], file=path, line=int(span.get("line_start") or 0), in_test=True,
        names=names, text=text,
    )  # fmt: skip
    return CollectionError(id=file, failure=failure, text=text)


def panic(stdout: str, *, test_file: str) -> Failure:
    """Describe a test that panicked, from what libtest kept of its output."""
    found = _PANIC.search(stdout)
    old = None if found else _OLD_PANIC.search(stdout)
    if found:
        path, line, said = found[1], int(found[2]), found[3]
    elif old:
        path, line, said = old[2], int(old[3]), old[1]
    elif "did not panic" in stdout:
        return Failure(
            exc_type="AssertionError", message=stdout[:MESSAGE_LIMIT], file=test_file, in_test=True, text=stdout
        )
    else:
        text = stdout.strip() or "it failed without a panic"
        return Failure(exc_type="Error", message=text[:MESSAGE_LIMIT], text=text[:_TEXT_LIMIT])
    said = said.partition("\nnote: ")[0].partition("\nstack backtrace:")[0].strip()
    return Failure(
        exc_type=_kind_of_panic(said), message=said[:MESSAGE_LIMIT], file=path, line=line, in_test=path == test_file,
        text=f"{path}:{line}: {said}"[:_TEXT_LIMIT],
    )  # fmt: skip


def _kind_of_panic(said: str) -> str:
    if said.startswith(("not implemented", "not yet implemented")):
        return "NotImplementedError"
    return "AssertionError" if said.startswith("assertion") or "panic did not occur" in said else "Panic"


def _about(code: str, said: str, span: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    names = tuple(one.rpartition("::")[2] for one in _QUOTED.findall(said))
    if code in _ABSENT:
        return "ImportError", names[:1]
    if code in _MEMBER:
        return "AttributeError", names
    if code in _MISFIT:
        return "TypeError", (*names, *_highlighted(span.get("text") or ()))
    return "SyntaxError", ()


def _macros_of_project(message: Mapping[str, Any], path: str) -> tuple[str, ...] | None:
    """The macros of another file of the project whose rules did not match, as far as they are named; None of any other macro."""
    beside = [one for child in message.get("children") or () for one in child.get("spans") or ()]
    beside += [one for one in message.get("spans") or () if not one.get("is_primary")]
    names = [str(one.get("file_name")) for one in beside]
    if not any(name != path and not PurePosixPath(name).is_absolute() for name in names):
        return None
    texts = [str(row.get("text", "")) for one in (*message.get("spans", ()), *beside) for row in one.get("text") or ()]
    return tuple(dict.fromkeys(one for text in texts for found in _MACRO.findall(text) for one in found if one))


def _highlighted(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """The identifiers that rustc underlines."""
    found = []
    for line in lines[:2]:
        text, start, end = (
            str(line.get("text", "")),
            int(line.get("highlight_start", 1)),
            int(line.get("highlight_end", 1)),
        )
        found += _WORD.findall(text[start - 1 : end - 1])
    return found
