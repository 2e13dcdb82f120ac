"""What passes from one command to the next: the folder in which it runs, and the words of a loop."""

from __future__ import annotations

import re
from posixpath import join, normpath

from agentforge.safety.shell.syntax import Command, Word


def is_plain_path(word: Word) -> bool:
    """Whether a loop's word is one path below the folder in which it runs, and can be no option."""
    text = word.value or ""
    one = re.fullmatch(r"[\w.@+,:][\w./@+,:=-]*", text) is not None and ".." not in text
    return (one and not word.tilde) or _is_file_glob(text)


def _is_file_glob(text: str | None) -> bool:
    """`*.py` and the like: what it names ends in a known way, so that no such name is a whole option."""
    found = re.fullmatch(r"(?:[\w@][\w.@-]*/)*(?:[\w@]?[\w@-]*\*)\.\w+", text or "")
    return found is not None


def folders_after(command: Command, folders: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Where the next command runs when this one succeeds; a folder that begins with "~" lies in the home."""
    words = command.words
    while words and words[0].value in ("command", "builtin", "time"):
        words = words[1:]
    name = words[0].value if words else ""
    if name in ("eval", "pushd", "popd", "source", "."):
        return (None,)
    if name != "cd":
        return folders
    if len(words) == 1:
        return ("~",)
    targets = [word for word in words[1:] if not (word.value or "").startswith("-")]
    if len(targets) != 1 or len(targets) != len(words) - 1:
        return (None,)
    target = targets[0]
    head = (target.value or "").partition("/")[0]
    if target.value is None or target.glob or not target.value or (target.tilde and head != "~"):
        return (None,)
    return tuple(None if one is None else _join(one, target.value) for one in folders)


def _join(folder: str, target: str) -> str:
    if target.partition("/")[0] == "~":
        return target
    if folder.partition("/")[0] == "~":
        return join(folder, target)
    place = normpath(join(folder, target))
    return "" if place == "." else place
