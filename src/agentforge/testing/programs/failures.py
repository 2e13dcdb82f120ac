"""Turns an exception and its traceback into the facts that a verdict needs: type, message, where it rose, about what."""

from __future__ import annotations

import linecache
import os
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

_MESSAGE_LIMIT = 500
_TEXT_LIMIT = 1500
_SHOWN_FRAMES = 4
_CALLED = re.compile(r"^([\w.<>]+)\(\)")
_QUOTED = re.compile(r"'([\w.]+)'")
_IMPORTED = re.compile(r"cannot import name '?([\w.]+)'? from (?:partially initialized module )?'?([\w.]+)'?")


def describe(exc: BaseException, trace: TracebackType | None, *, root: str, test_file: str) -> dict[str, Any]:
    """Describe a failure.

    Args:
        root: absolute path of the checkout.
        test_file: absolute path of the file that holds the test.
    Returns:
        {exc_type, message, file, line, in_test, names, text}; `file` and `line` are those of the innermost frame that
        belongs to the checkout, and `in_test` says whether that frame is in the test's own file.
    """
    own = _own(root)
    frames = [(path, line, frame) for path, line, frame in _frames(trace) if own(path)]
    path, line = (frames[-1][0], frames[-1][1]) if frames else ("", 0)
    if isinstance(exc, SyntaxError) and exc.filename and belongs(exc.filename, root):
        path, line = os.path.realpath(exc.filename), exc.lineno or 0
    message = _message(exc).replace(root + os.sep, "")
    return {
        "exc_type": type(exc).__name__,
        "message": message[:_MESSAGE_LIMIT],
        "file": os.path.relpath(path, root) if path else "",
        "line": line,
        "in_test": bool(path) and os.path.realpath(path) == os.path.realpath(test_file),
        "names": _names(exc, message, frames[-1][2] if frames else None),
        "text": _text(exc, message, frames, root),
    }


def belongs(path: str, root: str) -> bool:
    """Whether a file is the project's own: in the checkout, and not in an environment that lies inside of it."""
    return not path.startswith("<") and _own(root)(os.path.realpath(path))


def _own(root: str) -> Callable[[str], bool]:
    """Tell real paths of the project's own files from others; links are followed once, not for every frame."""
    top = os.path.realpath(root) + os.sep
    prefix = os.path.realpath(sys.prefix) + os.sep if len(sys.prefix) > len(root) else ""

    def own(real: str) -> bool:
        if not real.startswith(top) or f"{os.sep}site-packages{os.sep}" in real:
            return False
        return not (prefix and real.startswith(prefix))

    return own


def _frames(trace: TracebackType | None) -> Iterator[tuple[str, int, FrameType]]:
    """Every frame of a traceback, outermost first, with its real path."""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        yield name if name.startswith("<") else os.path.realpath(name), trace.tb_lineno or 0, trace.tb_frame
        trace = trace.tb_next


def _message(exc: BaseException) -> str:
    """`str(exc)`, whatever the exception's own code does."""
    if type(exc).__name__ == "FixtureLookupError":
        return f"fixture '{getattr(exc, 'argname', '')}' not found"
    try:
        return str(exc)
    except Exception as problem:  # noqa: BLE001 - the project's __str__ may raise anything
        return f"<message cannot be shown: {type(problem).__name__}>"


def _names(exc: BaseException, message: str, frame: FrameType | None) -> list[str]:
    """The symbols that the exception is about, as far as it says."""
    names: list[str] = []
    own = getattr(exc, "name", None)
    if isinstance(exc, (ImportError, AttributeError, NameError)) and isinstance(own, str):
        names.append(own)
    if isinstance(exc, ImportError):
        found = _IMPORTED.search(message)
        names = [found.group(1), found.group(2)] if found else names or _QUOTED.findall(message)
    elif isinstance(exc, AttributeError):
        names += [name for name in reversed(_QUOTED.findall(message)) if name not in names]
    elif isinstance(exc, NameError):
        names = names or _QUOTED.findall(message)[:1]
    elif isinstance(exc, TypeError):
        called = _CALLED.match(message)
        names += [called.group(1)] if called else []
        names += _QUOTED.findall(message)
    elif type(exc).__name__ == "DoesNotEnd" and frame is not None:
        names.append(str(frame.f_code.co_name))
    elif isinstance(exc, NotImplementedError) and frame is not None:
        names.append(str(getattr(frame.f_code, "co_qualname", frame.f_code.co_name)))
    return names[:6]


def _text(exc: BaseException, message: str, frames: list[tuple[str, int, FrameType]], root: str) -> str:
    """A short traceback of the project's own frames, the exception last."""
    lines = []
    for path, line, frame in frames[-_SHOWN_FRAMES:]:
        lines.append(f"{os.path.relpath(path, root)}:{line} in {frame.f_code.co_name}")
        source = linecache.getline(path, line, frame.f_globals).strip()
        if source:
            lines.append(f"    {source[:200]}")
    lines.append(f"{type(exc).__name__}: {message}" if message else type(exc).__name__)
    text = "\n".join(lines)
    if len(text) <= _TEXT_LIMIT:
        return text
    return text[: _TEXT_LIMIT * 2 // 3] + "\n...\n" + text[-(_TEXT_LIMIT // 3 - 8) :]
