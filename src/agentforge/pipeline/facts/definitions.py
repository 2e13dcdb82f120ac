"""Whether a file defines a symbol, as far as its language can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from agentforge.languages.javascript.source import defines as javascript_defines, is_javascript, named_by
from agentforge.verification.source.test_hashes import test_hashes
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of, outline_of


def dotted(name: str) -> str:
    """The name of a symbol without parameters, its parts with dots between them."""
    return name.split("(", maxsplit=1)[0].strip().replace("::", ".")


def defines(path: str, name: str, content: bytes, *, exactly: bool = False) -> bool | None:
    """Whether a file defines a symbol; None when its language cannot be read.

    Args:
        exactly: `area` is not the method `Circle.area`.
    """
    text = content.decode("utf-8", "replace")
    if is_javascript(path) and javascript_defines(path, text, dotted(name)):
        return True
    known = outline_of(path, text) if language_of(path) else None
    if known is None or known.note:
        return None
    names = {symbol.qualified for symbol in known.symbols}
    return dotted(name) in (names if exactly else names | {symbol.name for symbol in known.symbols})


def titled(path: str, name: str, text: str) -> bool:
    """Whether a name means a test whose title is made while tests run (`links > line 38` of a loop), or a file of test data.

    Its group stands in the file and holds no test whose title is written out; data of tests goes by the name of its file.
    """
    if not is_test_path(path):
        return False
    group, made, _ = name.rpartition(" > ")
    if not made:
        return name in (path, PurePosixPath(path).name)
    written = [title for title, _ in test_hashes(path, text.encode())]
    return all(one in text for one in group.split(made)) and not any(
        title.startswith(group + made) for title in written
    )


def named_elsewhere(path: str, name: str, *, files: Iterable[str], read: Callable[[str], str | None]) -> bool:
    """Whether a file exports something without a name, and a file beside or above it (the package's entry) gives it this one.

    Args:
        files: every file of the tree.
        read: the text of one of them.
    """
    text = read(path) if is_javascript(path) else None
    if text is None:
        return False
    above = {*PurePosixPath(path).parents}
    near = (one for one in files if is_javascript(one) and PurePosixPath(one).parent in above and one != path)
    return any(named_by(path, text, name, other=one, its_text=read(one) or "") for one in near)
