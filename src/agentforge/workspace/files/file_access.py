"""Files of a workspace: read and written with their encoding, mark, line ends and mode, and only inside it."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from pathlib import Path
from shutil import rmtree
from typing import Literal

from agentforge.canonical import Digest, digest_bytes
from agentforge.errors import AgentForgeError, StorageError
from agentforge.frozen import dataclass

Newline = Literal["\n", "\r\n", "mixed"]

SIZE_LIMIT_BYTES = 10_000_000
_NEW_FILE_MODE = 0o666
_NAME_LIMIT_BYTES = 255
_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_COOKIE = rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"  # PEP 263
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG})
_CLOSED_FOLDERS = frozenset({".git", ".agentforge"})


class OutsideWorkspace(AgentForgeError):
    """A path that does not lead to a file of the workspace that may be touched."""

    slug = "outside-workspace"


class BinaryFile(AgentForgeError):
    """A file that holds no text."""

    slug = "binary-file"


class TooLarge(AgentForgeError):
    """A file that is too large to be read as text."""

    slug = "too-large"


class Unencodable(AgentForgeError):
    """Text that the file's encoding cannot hold."""

    slug = "unencodable"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A text file in memory.

    Attributes:
        text: lines end with "\\n", unless `newline` is "mixed": then they are as on disk.
        encoding: of the bytes after the byte order mark.
        bom: whether a byte order mark stands in front.
        mode: permission bits.
        digest: of the bytes on disk.
    """

    text: str
    encoding: str
    bom: bool
    newline: Newline
    mode: int
    digest: Digest


def read_text(path: Path, *, limit_bytes: int = SIZE_LIMIT_BYTES) -> TextFile:
    """Read a text file and remember how it is written.

    The encoding is what the byte order mark says, else a PEP 263 cookie in the first two lines, else UTF-8, else
    Latin-1, which can hold any bytes and gives them back unchanged.

    Raises:
        BinaryFile: it holds NUL bytes, or is no regular file.
        TooLarge: it has more than `limit_bytes`.
        OSError: it cannot be read.
    """
    info = path.stat()
    if stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(info.st_mode):
        raise BinaryFile(f"{path} is not a regular file")
    if info.st_size > limit_bytes:
        raise TooLarge(f"{path} has {info.st_size} bytes, the limit is {limit_bytes}", hint="search in it instead")
    data = path.read_bytes()
    encoding, bom = _encoding_of(data, path)
    text = data[len(bom) :].decode(encoding)
    newline = _newline_of(text)
    return TextFile(
        text=text.replace("\r\n", "\n") if newline == "\r\n" else text,
        encoding=encoding,
        bom=bool(bom),
        newline=newline,
        mode=stat.S_IMODE(info.st_mode),
        digest=digest_bytes(data),
    )


def write_text(path: Path, content: TextFile | str, *, like: TextFile | None = None) -> Digest:
    """Write text so that the file is either the old one or the whole new one, also after a crash.

    Args:
        content: a string takes encoding, mark, line ends and mode from `like`; without it UTF-8, lines as given, and
            the mode of the file that is there.
    Returns:
        Digest of the bytes on disk.
    Raises:
        Unencodable: the encoding has no way to write a character of the text.
        StorageError: the disk is full or failed; the old file stands.
        OSError: the folder is missing or may not be written.
    """
    text = content
    if isinstance(text, TextFile):
        like, text = text, text.text
    data = encode_text(text, like=like, name=str(path))
    write_bytes(path, data, mode=None if like is None else like.mode)
    return digest_bytes(data)


def encode_text(text: str, *, like: TextFile | None, name: str) -> bytes:
    """Turn text into the bytes of a file that is written like another one.

    Raises:
        Unencodable: the encoding has no way to write a character of the text.
    """
    encoding = "utf-8" if like is None else like.encoding
    if like is not None and like.newline == "\r\n":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    mark = next(bom for bom, known in _BOMS if known == encoding) if like is not None and like.bom else b""
    try:
        return mark + text.encode(encoding)
    except UnicodeEncodeError as exc:
        sign = f"{text[exc.start]!r} (U+{ord(text[exc.start]):04X}) at line {text.count(chr(10), 0, exc.start) + 1}"
        hint = "leave the character out or escape it; the file keeps its encoding"
        raise Unencodable(f"{name} is written in {encoding}, which cannot hold {sign}", hint=hint) from exc


def write_bytes(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Replace a file's content at once: temporary file beside it, sync, rename, sync of the folder.

    Args:
        mode: permission bits; None keeps those of the file that is there.
    Raises:
        StorageError: the disk is full or failed; the old file stands.
        OSError: the folder is missing or may not be written.
    """
    target = path.resolve()
    if mode is None and target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
    temporary = target.with_name(f".agentforge-{os.urandom(8).hex()}.tmp")
    try:
        _write_new(temporary, data, mode=mode)
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as exc:
        temporary.unlink(missing_ok=True)
        if exc.errno in _FULL:
            raise StorageError(f"{path} was not written: {exc.strerror}", hint="free some space and resume") from exc
        raise


def digest_file(path: Path) -> Digest:
    """SHA-256 of a file of any size.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return Digest(hashlib.file_digest(file, "sha256").hexdigest())


def resolve_inside(root: Path, relative: str) -> Path:
    """Find the file of the workspace that a path really leads to, links and `..` followed.

    Args:
        relative: to `root`; an absolute path is accepted when it lies inside.
    Raises:
        OutsideWorkspace: it leads outside, or into `.git` or `.agentforge` at any depth, or is no path at all.
    """
    if "\0" in relative or not relative:
        raise OutsideWorkspace(f"{relative!r} is not a path", hint="give a path relative to the repository")
    try:
        if any(len(os.fsencode(part)) > _NAME_LIMIT_BYTES for part in Path(relative).parts):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        base = root.resolve()
        path = (base / relative).resolve()
        if any(one.is_symlink() for one in (path, *path.parents)):  # Python 3.13 leaves a circle of links as it is
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except (OSError, RuntimeError, ValueError) as exc:  # links in a circle, a name that cannot be
        raise OutsideWorkspace(f"{relative!r} leads nowhere: {exc}", hint="choose another path") from exc
    if not path.is_relative_to(base):
        raise OutsideWorkspace(f"{relative!r} leads outside the repository", hint="stay inside it")
    asked = () if Path(relative).is_absolute() else Path(relative).parts
    for part in (*asked, *path.relative_to(base).parts):
        if part.casefold() in _CLOSED_FOLDERS:
            raise OutsideWorkspace(f"{relative!r} lies in {part}, which is closed to tools", hint="leave it alone")
    return path


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it, or a file, link, pipe or socket; folders without permissions too.

    Raises:
        OSError: something cannot be removed.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):  # a pipe or a socket, too
        return path.unlink()
    if not path.exists():
        return None
    try:
        return rmtree(path)
    except PermissionError:
        path.chmod(0o700)
        for folder, names, _ in os.walk(path):
            for name in names:
                below = Path(folder, name)
                if not below.is_symlink():
                    below.chmod(0o700)
        return rmtree(path)


def decoded(data: bytes) -> str | None:
    """The text of bytes, in the encoding that `read_text` would find; None when they are no text."""
    try:
        encoding, bom = _encoding_of(data, Path("-"))
    except BinaryFile:
        return None
    return data[len(bom) :].decode(encoding)


def _encoding_of(data: bytes, path: Path) -> tuple[str, bytes]:
    for bom, encoding in _BOMS:
        if data.startswith(bom) and _survives(data[len(bom) :], encoding):
            return encoding, bom
    if b"\0" in data:
        raise BinaryFile(f"{path} is a binary file of {len(data)} bytes", hint="tools read and write text only")
    for line in data.split(b"\n", 2)[:2]:
        if (cookie := re.match(_COOKIE, line)) and _survives(data, cookie[1].decode("ascii")):
            return cookie[1].decode("ascii"), b""
    return ("utf-8" if _survives(data, "utf-8") else "latin-1"), b""


def _survives(data: bytes, encoding: str) -> bool:
    """Whether the bytes can be read so and written back unchanged."""
    try:
        return data.decode(encoding).encode(encoding) == data
    except (LookupError, UnicodeError):
        return False


def _newline_of(text: str) -> Newline:
    windows = text.count("\r\n")
    if windows == 0:
        return "\n"
    return "\r\n" if windows == text.count("\n") else "mixed"


def _write_new(path: Path, data: bytes, *, mode: int | None) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _NEW_FILE_MODE)
    try:
        if mode is not None:
            os.fchmod(fd, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(folder: Path) -> None:
    """Make what was created in or renamed into `folder` survive a power cut.

    Raises:
        OSError: the folder cannot be synced.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
