"""What the file tools share: finding, reading and writing one file, with answers that help a model on."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from io import BytesIO
from pathlib import Path
from tokenize import detect_encoding

from agentforge.messages import Picture
from agentforge.tools.base import ToolContext, ToolError, failed
from agentforge.workspace.code.symbols import parse_python
from agentforge.workspace.files.file_access import (
    BinaryFile,
    OutsideWorkspace,
    TextFile,
    TooLarge,
    read_text,
    resolve_inside,
    write_text,
)
from agentforge.workspace.files.pictures import PictureTooLarge, read_picture
from agentforge.workspace.files.search import files

_NEAREST = 3
_MOST_LISTED = 20_000


def place(context: ToolContext, path: str) -> Path:
    """Resolve a repository path.

    Raises:
        ToolError: it leaves the workspace.
    """
    try:
        return resolve_inside(context.root, path)
    except OutsideWorkspace as exc:
        raise ToolError(
            failed(
                str(exc), error_type="outside-workspace", next_actions=("use a path relative to the repository's root",)
            )
        ) from exc


def reaching(context: ToolContext, path: str) -> ToolContext:
    """The context in which a path outside the workspace can be read, when it lies in a readable folder."""
    if not path.startswith("/"):
        return context
    real = Path(path).resolve()
    return next((replace(context, root=folder) for folder in context.readable if real.is_relative_to(folder)), context)


def shown(context: ToolContext, target: Path) -> str:
    """The path of a file as the model writes it: relative to the root."""
    return target.relative_to(context.root.resolve()).as_posix()


def existing(context: ToolContext, path: str) -> Path:
    """Resolve the path of something that is there.

    Raises:
        ToolError: nothing is there; names what is called nearly so.
    """
    target = place(context, path)
    if target.exists():
        return target
    close = _nearest_paths(context.root, path)
    raise ToolError(
        failed(
            f"{path} does not exist",
            error_type="not-found",
            text="Nearest names: " + ", ".join(close) if close else "No file has a similar name.",
            next_actions=tuple(f"use path {name}" for name in close[:1]) or ("use glob or list_dir to find the file",),
        )
    )


def read(context: ToolContext, path: str) -> TextFile:
    """Read a text file.

    Raises:
        ToolError: missing, a folder, binary, or too large.
    """
    target = existing(context, path)
    if target.is_dir():
        raise ToolError(failed(f"{path} is a folder", error_type="is-a-folder", next_actions=(f"list_dir {path}",)))
    if not target.is_file():
        raise ToolError(failed(f"{path} is no regular file", error_type="no-regular-file", retryable=False))
    try:
        return read_text(target)
    except BinaryFile as exc:
        size = f"{target.stat().st_size:,} bytes"
        raise ToolError(failed(f"{path} is binary ({size})", error_type="binary", retryable=False)) from exc
    except TooLarge as exc:
        size = f"{target.stat().st_size:,} bytes"
        raise ToolError(
            failed(f"{path} is too large to read ({size})", error_type="too-large", next_actions=(f"grep in {path}",))
        ) from exc


def picture(context: ToolContext, path: str) -> Picture | None:
    """Read an image; None when the file is none, or not there.

    Raises:
        ToolError: it is larger than models take.
    """
    target = context.root / path
    try:
        return read_picture(target, name=path) if target.is_file() else None
    except OSError:
        return None
    except PictureTooLarge as exc:
        raise ToolError(failed(str(exc), error_type="too-large", retryable=False)) from exc


def refuse_if_changed(context: ToolContext, path: str, file: TextFile) -> None:
    """Refuse to write over what the model has not seen.

    Raises:
        ToolError: the file is not the one that the model saw last.
    """
    seen = context.seen.get(path)
    if seen is None or seen == file.digest:
        return
    raise ToolError(
        failed(
            f"{path} changed since it was last read; nothing was written",
            error_type="changed-since-read",
            next_actions=(f"read_file {path}, then edit it again",),
        )
    )


def store(context: ToolContext, path: str, text: str, *, like: TextFile | None) -> str:
    """Write a text file whole, atomically, in the encoding and with the line ends of `like`.

    Returns:
        A note when Python cannot load the bytes, or when the file was parseable Python before and is not now, else "".
    Raises:
        ToolError: the file may not have this text in the stage.
        Unencodable: the encoding of the file cannot hold the text.
    """
    reason = context.may_hold(path, text)
    if reason is not None:
        summary = f"{path} may not have this text in this stage; nothing was written"
        raise ToolError(failed(summary, error_type="out-of-scope", text=reason))
    write_text(context.root / path, text, like=like)
    unloadable = encoding_note(path, text, encoding=like.encoding) if like is not None else ""
    return unloadable or syntax_note(path, text, before=like.text if like is not None else None)


def encoding_note(path: str, text: str, *, encoding: str) -> str:
    """Say that Python cannot load a source file because its bytes are not in the encoding that it names; "" for all others."""
    if not path.endswith((".py", ".pyi")) or encoding == "utf-8":
        return ""
    data = text.encode(encoding)
    try:
        named, _ = detect_encoding(BytesIO(data).readline)
        data.decode(named)
    except (SyntaxError, UnicodeDecodeError):
        line = f"# -*- coding: {encoding} -*-"
        return f"Note: Python cannot load {path}: its bytes are {encoding}, which no line of it says; make {line} its first line"
    return ""


def syntax_note(path: str, text: str, *, before: str | None = None) -> str:
    """Say where Python source no longer parses; "" for all other files, and for those that did not parse before."""
    if not path.endswith((".py", ".pyi")):
        return ""

    trouble = parse_python(text)
    if not isinstance(trouble, str) or (before is not None and isinstance(parse_python(before), str)):
        return ""
    return f"Note: {path} does not parse as Python now: {trouble}"


def numbered(lines: list[str], *, first: int) -> str:
    """Lines with their numbers in front; an empty one has none: those around it tell, and so it costs a model next to nothing."""
    return "\n".join(f"{number} {line}" if line else "" for number, line in enumerate(lines, start=first))


def _nearest_paths(root: Path, path: str) -> list[str]:
    """Paths of the same file name first, then those that look alike."""
    names = files(root)[:_MOST_LISTED]
    name = path.rstrip("/").rpartition("/")[2].lower()
    same = [item for item in names if item.rpartition("/")[2].lower() == name]
    if same:
        return same[:_NEAREST]
    tails = {item.rpartition("/")[2].lower(): item for item in reversed(names)}
    return [tails[tail] for tail in get_close_matches(name, tails, n=_NEAREST, cutoff=0.7)]
