"""Files that a message names by @, and long pasted texts: what goes along with the message as notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from agentforge.frozen import dataclass

_MENTION = re.compile(r"(?<![\w@/.])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<bare>[^\s@\"'`,;()\[\]{}<>]+))")
_FILE_BYTES = 60_000
_ALL_BYTES = 200_000
_FOLDER_NAMES = 200
_INLINE = 20_000
_HEAD = 12_000
_TAIL = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What goes along with a message.

    Attributes:
        notes: texts for the model.
        shown: for the person: what went along, and what did not and why.
        sources: where texts that nobody vouches for came from (events.taint).
    """

    notes: tuple[str, ...] = ()
    shown: tuple[str, ...] = field(default=())
    sources: tuple[str, ...] = ()


Read = Callable[[str], tuple[str, str] | None]
"""Reads what is no file: name -> (note, line for the person), None when it is nothing that can be read."""


def notes_of(text: str, root: Path, *, resource: Read = lambda _name: None) -> Notes:
    """Read the files and folders that a message names by `@path` or `@"path with spaces"`.

    Only what lies in the workspace goes along; an @ before something that is no path is left alone.

    Args:
        resource: reads what is no file of the workspace, such as `@server:uri`.
    """
    notes: list[str] = []
    shown: list[str] = []
    sources: set[str] = set()
    room = _ALL_BYTES
    for name in _names(text):
        place = root / name
        found = resource(name) if ":" in name and not place.exists() else None
        if found is not None:
            notes += [found[0]] if found[0] else []
            sources |= {"mcp"} if found[0] else set()
            shown.append(found[1])
            continue
        if not _inside(place, root):
            if place.exists():
                shown.append(f"@{name}: outside the workspace, left out")
            continue
        if place.is_dir():
            listed = _folder(place)
            notes.append(f'<folder path="{name}">\n{listed}\n</folder>')
            shown.append(f"@{name}: {listed.count(chr(10)) + 1} names")
        elif place.is_file():
            note, line = _file(place, name, room=room)
            notes += [note] if note else []
            sources |= {"repository"} if note else set()
            shown.append(line)
            room -= len(note)
    return Notes(notes=tuple(notes), shown=tuple(shown), sources=tuple(sorted(sources)))


def fitting(files: Sequence[str], word: str, *, most: int = 50) -> list[str]:
    """The paths that fit a begun word, best first: name begins so, name holds it, path holds it, letters in order."""
    begun = word.lower()
    if not begun:
        return list(files[:most])
    ranked: list[tuple[int, int, str]] = []
    letters = re.compile(".*?".join(map(re.escape, begun)))
    for path in files:
        low = path.lower()
        name = low.rpartition("/")[2]
        if begun in low:
            rank = 0 if name.startswith(begun) else 1 if begun in name else 2 if low.startswith(begun) else 3
        elif letters.search(low):
            rank = 4
        else:
            continue
        ranked.append((rank, len(path), path))
    ranked.sort()
    return [path for _, _, path in ranked[:most]]


def as_mention(path: str) -> str:
    """The path as it is written in a message."""
    return f'@"{path}"' if re.search(r"[\s@'`,;()\[\]{}<>]", path) else f"@{path}"


def pasted(text: str, number: int) -> tuple[str, str]:
    """Give a long pasted text a name and a note.

    Returns:
        What stands for it in the message, and the note with the text; of a very long one its beginning and its end.
    """
    name = f"[pasted {number}: {text.count(chr(10)) + 1:,} lines, {len(text):,} characters]"
    if len(text) > _INLINE:
        left = len(text) - _HEAD - _TAIL
        text = f"{text[:_HEAD]}\n[... {left:,} characters left out ...]\n{text[-_TAIL:]}"
    return name, f'<pasted number="{number}">\n{text}\n</pasted>'


def _names(text: str) -> list[str]:
    found = [match["quoted"] or match["bare"].rstrip(".:!?") for match in _MENTION.finditer(text)]
    return list(dict.fromkeys(name for name in found if name))


def _inside(place: Path, root: Path) -> bool:
    try:
        return place.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no file can have
        return False


def _folder(place: Path) -> str:
    names = sorted(f"{child.name}/" if child.is_dir() else child.name for child in place.iterdir())
    more = [f"... {len(names) - _FOLDER_NAMES} more"] if len(names) > _FOLDER_NAMES else []
    return "\n".join([*names[:_FOLDER_NAMES], *more]) or "(empty)"


def _file(place: Path, name: str, *, room: int) -> tuple[str, str]:
    limit = min(_FILE_BYTES, room)
    if limit <= 0:
        return "", f"@{name}: left out, the message holds enough already; the agent can read it"
    try:
        with place.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as exc:
        return "", f"@{name}: cannot be read: {exc.strerror}"
    if b"\0" in data:
        return "", f"@{name}: not a text, left out"
    cut = "\n[cut here; the rest can be read with read_file]" if len(data) > limit else ""
    text = data[:limit].decode("utf-8", "replace")
    lines = f"{text.count(chr(10)) + 1:,} lines{', cut' if cut else ''}"
    return f'<file path="{name}">\n{text}{cut}\n</file>', f"@{name}: {lines}"
