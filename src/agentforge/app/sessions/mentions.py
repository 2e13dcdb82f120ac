"""Files that a message names by @, and long pasted texts: what goes along with the message as notes, whole.

Nothing is shortened here: what does not fit into the model's window is refused as a whole when it is said (Sizing.check_room).

Resources of MCP servers that a message names by `@server:uri`, beside files; and what a begun name could become.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agentforge.errors import UsageError
from agentforge.frozen import dataclass
from agentforge.messages import Picture
from agentforge.safety.text.hygiene import wrap
from agentforge.tools.base import ToolError
from agentforge.workspace.files.file_access import decoded
from agentforge.workspace.files.pictures import PictureTooLarge, read_picture

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat
    from agentforge.app.sessions.services import Workshop
    from agentforge.tools.mcp.servers import Servers


_MENTION = re.compile(r"(?<![\w@/.])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<bare>[^\s@\"'`,;()\[\]{}<>]+))")
_LIKE_A_PATH = re.compile(r"/|\.\w{1,4}$")
_MOST_BYTES = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What goes along with a message.

    Attributes:
        notes: texts for the model.
        shown: for the person: what went along, and what did not and why.
        pictures: images for the model.
        sources: where texts that nobody vouches for came from (events.taint).
    """

    notes: tuple[str, ...] = ()
    shown: tuple[str, ...] = field(default=())
    sources: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()


Read = Callable[[str], tuple[str, str] | None]
"""Reads what is no file: name -> (note, line for the person), None when it is nothing that can be read."""


def notes_of(text: str, root: Path, *, resource: Read = lambda _name: None) -> Notes:
    """Read the files and folders that a message names by `@path` or `@"path with spaces"`.

    Only what lies in the workspace goes along; an @ before something that is no path is left alone.

    Args:
        resource: reads what is no file of the workspace, such as `@server:uri`.
    Raises:
        UsageError: a file is so large that no model's window holds it.
    """
    notes: list[str] = []
    shown: list[str] = []
    sources: set[str] = set()
    pictures: list[Picture] = []
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
        elif place.is_file() and (found_picture := _picture(place, name)) is not None:
            pictures.append(found_picture)
            sources.add("repository")
            shown.append(f"@{name}: {found_picture.media_type}, {len(found_picture.data):,} bytes")
        elif place.is_file():
            note, line = _file(place, name)
            notes += [note] if note else []
            sources |= {"repository"} if note else set()
            shown.append(line)
        elif _LIKE_A_PATH.search(name):
            shown.append(f"@{name}: there is no such file, nothing went along")
    return Notes(notes=tuple(notes), shown=tuple(shown), sources=tuple(sorted(sources)), pictures=tuple(pictures))


def fitting(files: Sequence[str], word: str, *, most: int = 50) -> list[str]:
    """The paths that fit a begun word, best first: name begins so, a folder of it does, name holds it, path holds it, letters
    in order."""
    begun = word.lower()
    if not begun:
        return list(files[:most])
    ranked: list[tuple[int, int, str]] = []
    letters = re.compile(".*?".join(map(re.escape, begun)))
    for path in files:
        low = path.lower()
        name = low.rpartition("/")[2]
        if begun in low:
            inside = low.startswith(begun) or f"/{begun}" in low
            rank = 0 if name.startswith(begun) else 1 if inside else 2 if begun in name else 3
        elif letters.search(low):
            rank = 4
        else:
            continue
        ranked.append((rank, len(path), path))
    ranked.sort()
    return [path for _, _, path in ranked[:most]]


def with_folders(files: Sequence[str]) -> list[str]:
    """The files and before them their folders, each of these with a slash at its end."""
    folders = {f"{parent}/" for path in files for parent in PurePosixPath(path).parents if parent.name}
    return [*sorted(folders), *files]


def as_mention(path: str) -> str:
    """The path as it is written in a message."""
    return f'@"{path}"' if re.search(r"[\s@'`,;()\[\]{}<>]", path) else f"@{path}"


def pasted(text: str, number: int) -> tuple[str, str]:
    """Give a long pasted text a name and a note.

    Returns:
        What stands for it in the message, and the note with the text.
    """
    name = f"[pasted {number}: {text.count(chr(10)) + 1:,} lines, {len(text):,} characters]"
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
    return "\n".join(names) or "(empty)"


def _picture(place: Path, name: str) -> Picture | None:
    """Read an image; None when the file is none, or cannot be read.

    Raises:
        UsageError: it is larger than models take.
    """
    try:
        return read_picture(place, name=name)
    except OSError:
        return None
    except PictureTooLarge as exc:
        raise UsageError(f"@{exc}", hint=f"make {name} smaller, or attach a part of it") from exc


def _file(place: Path, name: str) -> tuple[str, str]:
    """Read a file whole.

    Raises:
        UsageError: it is so large that no model's window holds it.
    """
    try:
        with place.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as exc:
        return "", f"@{name}: cannot be read: {exc.strerror}"
    if len(data) > _MOST_BYTES:
        raise UsageError(
            f"@{name} has {place.stat().st_size:,} bytes, {_MOST_BYTES:,} at most",
            hint=f"write {name} without the @ and say which part matters; the agent can search and read it",
        )
    text = decoded(data)
    if text is None:
        return "", f"@{name}: not a text, left out"
    count = len(text.splitlines())
    return f'<file path="{name}">\n{text}\n</file>', f"@{name}: {count:,} line{'s' * (count != 1)}"


def mentioned(chat: Chat, text: str) -> Notes:
    """Read the files, folders and resources that a message names by @.

    Side effects: a server whose resource is named is started.
    """
    found = notes_of(text, chat.workshop.root, resource=Resources(chat.workshop).read)
    pasted = tuple(picture for name, picture in chat.pasted.items() if name in text)
    return replace(found, pictures=(*found.pictures, *pasted))


class Resources:
    """What the servers of a session offer to read. What was listed once is remembered until `forget`."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._listed: dict[str, list[str]] = {}

    def fitting(self, word: str) -> list[str]:
        """The mentions that a begun one (`@od`, `@odd:mem`) could become, as far as they are known without asking a server."""
        servers = self._servers
        begun = word.removeprefix("@").strip('"')
        if servers is None:
            return []
        server, colon, _ = begun.partition(":")
        if not colon:
            return [f"@{one.name}:" for one in servers.statuses() if one.name.startswith(begun)]
        return [as_mention(name) for name in fitting(self._listed.get(server, []), begun, most=20)]

    def wants(self, word: str) -> str:
        """The server that has to be asked before `fitting` knows more; "" = none."""
        server, colon, _ = word.removeprefix("@").strip('"').partition(":")
        return server if colon and server not in self._listed and self._knows(server) else ""

    def ask(self, server: str) -> None:
        """List what a server offers; nothing when it does not answer.

        Side effects: starts it.
        """
        try:
            found: Sequence[str] = self._servers.listing(server)["resources"] if self._servers is not None else ()
        except ToolError:  # /mcp says why
            found = ()
        self._listed[server] = [f"{server}:{row.partition(' (')[0]}" for row in found]

    def read(self, name: str) -> tuple[str, str] | None:
        """Read the resource `server:uri`.

        Returns:
            The note for the model, fenced as untrusted ("" = it could not be read), and the line for the person; None when no
            server is called so.
        """
        server, colon, uri = name.partition(":")
        servers = self._servers
        if servers is None or not colon or not uri or not self._knows(server):
            return None
        try:
            text = servers.read(server, uri).text
        except ToolError as error:
            return "", f"@{name}: cannot be read: {error.observation.summary}"
        fenced = wrap(text, nonce=self._workshop.nonce)
        return f'<resource server="{server}" uri="{uri}">\n{fenced}\n</resource>', f"@{name}: {len(text):,} characters"

    def _knows(self, server: str) -> bool:
        return self._servers is not None and server in {one.name for one in self._servers.statuses()}

    @property
    def _servers(self) -> Servers | None:
        return None if self._workshop.options.bare else self._workshop.shed.servers
