"""Apply a patch to the files of a workspace: all of it or nothing, and only where writing is allowed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from agentforge.errors import AgentForgeError, StorageError
from agentforge.frozen import dataclass
from agentforge.workspace.files.file_access import (
    OutsideWorkspace,
    TextFile,
    encode_text,
    read_text,
    resolve_inside,
    write_bytes,
)
from agentforge.workspace.files.patchformat import FilePatch, NoMatch, apply_hunks, parse_patch, strip_name
from agentforge.workspace.git.command import fixed_environment
from agentforge.workspace.processes import process

MayWrite = Callable[[str], str | None]

_GIT_TIMEOUT_S = 30.0
_NEAREST_CUTOFF = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """Why a patch was not applied.

    Attributes:
        path: the file, or "" when the patch as a whole cannot be read.
        nearest_lines: lines of the file that come closest to what the patch expects, with their numbers.
    """

    path: str
    reason: str
    nearest_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchResult:
    """What became of a patch: either `rejected` is empty, or nothing was written."""

    changed: tuple[str, ...] = ()
    rejected: tuple[Reject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Write:
    """The new content of one file; None removes it."""

    path: Path
    data: bytes | None
    mode: int | None = None


class _Rejected(AgentForgeError):
    def __init__(self, reject: Reject) -> None:
        super().__init__(reject.reason)
        self.reject = reject


def apply_patch(
    root: Path, patch_text: str, *, may_write: MayWrite, strip: int = 1, dry_run: bool = False
) -> PatchResult:
    """Apply a unified diff below `root`.

    git applies it first, in a scratch copy of the files. What git refuses is matched by context, hunk by hunk, without
    regard to line numbers and trailing white space. Encoding, byte order mark, line ends and mode of a file stay.

    Args:
        may_write: None when a path may be written, else the reason why not; asked before anything is written.
        strip: leading folders of the patch's paths; a missing `a/` or `b/` is forgiven.
        dry_run: only tell what would change.
    Raises:
        StorageError: the disk is full; all files are as before.
    """
    if "\n" not in patch_text.replace("\r\n", ""):  # the patch itself was written with CRLF, headers and all
        patch_text = patch_text.replace("\r\n", "\n")
    patches = parse_patch(patch_text)
    if not patches:
        return PatchResult(rejected=(Reject(path="", reason="no file header (--- a/path, +++ b/path) was found"),))
    named = [_with_local_names(patch, root=root, strip=strip) for patch in patches]
    touched = list(dict.fromkeys(name for patch in named for name in (patch.old, patch.new) if name))
    if refusals := tuple(_refusals(root, touched, may_write=may_write)):
        return PatchResult(rejected=refusals)
    writes = _by_git(root, patch_text, touched, strip=strip)
    if writes is None:
        writes, rejected = _by_context(root, named)
        if rejected:
            return PatchResult(rejected=rejected)
    if not dry_run:
        _perform(list(writes.values()))
    return PatchResult(changed=tuple(sorted(writes)))


def nearest_lines(text: str, needle: str, *, count: int = 3) -> tuple[str, ...]:
    """Show the lines of `text` that come closest to `needle`, as "  12: line", in their order.

    The longest line of `needle` that `text` does not have decides: it is the one that kept the whole from matching.
    """
    lines = text.split("\n")
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines, start=1):
        places.setdefault(line.strip(), []).append(number)
    asked = [line.strip() for line in needle.split("\n")]
    wanted = max([line for line in asked if line not in places] or asked, key=len)
    if not wanted:
        return ()

    close = get_close_matches(wanted, [key for key in places if key], n=count, cutoff=_NEAREST_CUTOFF)
    numbers = [number for key in close for number in places[key]][:count]
    return tuple(f"{number:4d}: {lines[number - 1]}" for number in sorted(numbers))


def _with_local_names(patch: FilePatch, *, root: Path, strip: int) -> FilePatch:
    def local(name: str | None) -> str | None:
        if name is None:
            return None
        short = strip_name(name, strip=strip)
        if strip == 1 and name[:2] not in ("a/", "b/") and ((root / name).exists() or not (root / short).exists()):
            return name
        return short

    return FilePatch(
        old=local(patch.old), new=local(patch.new), hunks=patch.hunks, mode=patch.mode, binary=patch.binary
    )


def _refusals(root: Path, paths: Sequence[str], *, may_write: MayWrite) -> Iterator[Reject]:
    for path in paths:
        try:
            real = resolve_inside(root, path).relative_to(root.resolve()).as_posix()
        except OutsideWorkspace as exc:
            yield Reject(path=path, reason=exc.message)
            continue
        if reason := may_write(path) or may_write(real):
            yield Reject(path=path, reason=reason)


def _by_git(root: Path, patch_text: str, paths: Sequence[str], *, strip: int) -> dict[str, _Write] | None:
    """Let git apply the patch to copies of the files; None when it refuses or cannot know how they are written."""
    if any(_needs_care(root / path) for path in paths):
        return None
    with tempfile.TemporaryDirectory(prefix="agentforge-patch-") as folder:
        scratch = Path(folder).resolve()
        before = {path: _copied(root / path, scratch / path) for path in paths}
        done = process.run(
            ["git", "apply", "--recount", "--whitespace=nowarn", f"-p{strip}", "-"],
            cwd=scratch,
            env={**fixed_environment(), "GIT_CEILING_DIRECTORIES": str(scratch.parent)},
            timeout_s=_GIT_TIMEOUT_S,
            stdin=patch_text.encode("utf-8", "surrogateescape"),
        )
        if done.exit_code != 0:
            return None
        after = {path: _state(scratch / path) for path in _files_below(scratch) | set(paths)}
    changed = {path: state for path, state in after.items() if state != before.get(path)}
    if not changed or not changed.keys() <= set(paths):
        return None  # it took the names in another way than we did
    return {
        path: _Write(
            path=root / path, data=None if state is None else state[0], mode=None if state is None else state[1]
        )
        for path, state in changed.items()
    }


def _needs_care(path: Path) -> bool:
    """Whether lines of the patch cannot go into the file as they are: its encoding or its line ends differ."""
    if path.is_symlink() or path.is_dir():
        return True
    try:
        file = read_text(path)
    except (AgentForgeError, FileNotFoundError):
        return False  # binary or new
    return file.encoding != "utf-8" or file.bom or file.newline == "\r\n"


def _copied(source: Path, copy: Path) -> tuple[bytes, int] | None:
    state = _state(source)
    if state is not None:
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(state[0])
        copy.chmod(state[1])
    return state


def _state(path: Path) -> tuple[bytes, int] | None:
    if path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes(), path.stat().st_mode & 0o777


def _files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def _by_context(root: Path, patches: Sequence[FilePatch]) -> tuple[dict[str, _Write], tuple[Reject, ...]]:
    writes: dict[str, _Write] = {}
    rejected: list[Reject] = []
    for patch in patches:
        try:
            writes |= _rewritten(root, patch, writes)
        except _Rejected as exc:
            rejected.append(exc.reject)
    return writes, tuple(rejected)


def _rewritten(root: Path, patch: FilePatch, earlier: dict[str, _Write]) -> dict[str, _Write]:
    name = patch.new or patch.old or ""
    if patch.binary:
        raise _Rejected(Reject(path=name, reason="git could not apply this binary patch"))
    if patch.old in earlier or name in earlier:
        raise _Rejected(Reject(path=name, reason="the patch names the file twice; join its hunks under one header"))
    if patch.old is None:
        return {name: _created(root, patch, name)}
    like, text = _read(root, patch.old)
    if patch.new is None and not patch.hunks:
        return {name: _Write(path=root / name, data=None)}
    try:
        text = apply_hunks(text, patch.hunks, windows=like.newline == "\r\n")
    except NoMatch as exc:
        near = nearest_lines(text, exc.wanted)
        raise _Rejected(Reject(path=patch.old, reason=str(exc), nearest_lines=near)) from exc
    if patch.new is None:
        if text:
            raise _Rejected(Reject(path=name, reason="the patch deletes the file but does not list all of its lines"))
        return {name: _Write(path=root / name, data=None)}
    write = _Write(path=root / name, data=_encoded(text, like, name), mode=patch.mode or like.mode)
    if patch.old == patch.new:
        return {name: write}
    if (root / name).exists():
        raise _Rejected(Reject(path=name, reason="the file that the patch renames to exists"))
    return {name: write, patch.old: _Write(path=root / patch.old, data=None)}


def _created(root: Path, patch: FilePatch, name: str) -> _Write:
    if (root / name).exists():
        raise _Rejected(Reject(path=name, reason="the patch creates the file, but it exists"))
    try:
        text = apply_hunks("", patch.hunks, windows=False)
    except NoMatch as exc:
        raise _Rejected(Reject(path=name, reason="a new file can only have lines that are added")) from exc
    return _Write(path=root / name, data=_encoded(text, None, name), mode=patch.mode)


def _read(root: Path, name: str) -> tuple[TextFile, str]:
    try:
        file = read_text(root / name)
    except OSError as exc:
        from difflib import get_close_matches

        near = get_close_matches(name, sorted(_neighbours(root, name)), n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise _Rejected(Reject(path=name, reason=f"no such file{hint}")) from exc
    except AgentForgeError as exc:
        raise _Rejected(Reject(path=name, reason=exc.message)) from exc
    return file, file.text


def _neighbours(root: Path, name: str) -> set[str]:
    folder = (root / name).parent
    if not folder.is_dir():
        return set()
    return {path.relative_to(root).as_posix() for path in folder.iterdir() if path.is_file()}


def _encoded(text: str, like: TextFile | None, name: str) -> bytes:
    try:
        return encode_text(text, like=like, name=name)
    except AgentForgeError as exc:
        raise _Rejected(Reject(path=name, reason=str(exc))) from exc


def _perform(writes: Sequence[_Write]) -> None:
    """Write everything, or put back what was written and raise."""
    before = [(write.path, _state(write.path)) for write in writes]
    done = 0
    try:
        for write in writes:
            done += 1
            _put(write)
    except (OSError, StorageError) as exc:
        for path, state in before[:done]:
            data, mode = (None, None) if state is None else state
            _put(_Write(path=path, data=data, mode=mode))
        if isinstance(exc, StorageError):
            raise
        raise StorageError(f"the patch was not applied: {exc}", hint="check the permissions of the folder") from exc


def _put(write: _Write) -> None:
    if write.data is None:
        write.path.unlink(missing_ok=True)
        return
    write.path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(write.path, write.data, mode=write.mode)
