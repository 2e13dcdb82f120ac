"""What passes from one command to the next: the folder in which it runs, and the words of a loop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import join, normpath

from agentforge.safety.shell.grammar.syntax import ShellCommand, Word


def is_plain_path(word: Word) -> bool:
    """Whether a loop's word is one path below the folder in which it runs, and can be no option."""
    text = word.value or ""
    one = re.fullmatch(r"[\w.@+,:][\w./@+,:=-]*", text) is not None and ".." not in text
    return (one and not word.tilde) or _is_file_glob(text)


def _is_file_glob(text: str | None) -> bool:
    """`*.py` and the like: what it names ends in a known way, so that no such name is a whole option."""
    found = re.fullmatch(r"(?:[\w@][\w.@-]*/)*(?:[\w@]?[\w@-]*\*)\.\w+", text or "")
    return found is not None


def looped(items: Sequence[Word]) -> Word | None:
    """What a loop's variable is judged as: one of its words, the one that leads away where one does; None where nobody knows."""
    if any(item.whole for item in items) and all(item.is_number for item in items):
        return Word(text="...", pieces=(None,), whole=True)
    if not items or not all(is_plain_path(item) or _is_path(item) for item in items):
        return None
    return next((item for item in items if not is_plain_path(item)), items[0])


def is_one_path(word: Word) -> bool:
    """Whether a word is one path anywhere, no pattern, and can be no option."""
    return not word.glob and (is_plain_path(word) or _is_path(word))


def _is_path(word: Word) -> bool:
    """Whether a loop's word is one path anywhere, and can be no option."""
    return not word.tilde and not word.glob and re.fullmatch(r"[\w.@+,:/][\w./@+,:=-]*", word.value or "") is not None


def folders_after(command: ShellCommand, folders: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Where the next command runs when this one succeeds; a folder that begins with "~" lies in the home."""
    words = command.words
    while words and words[0].value in ("command", "builtin", "time"):
        words = words[1:]
    name = words[0].value if words else ""
    if name in ("eval", "pushd", "popd", "source", "."):
        return (None,)
    if name != "cd":
        return folders
    targets = list(words[1:])
    while targets and targets[0].value in ("-P", "-L", "-e", "--"):
        targets.pop(0)
    if len(targets) != 1 or (targets[0].value or "").startswith("-"):
        return ("~",) if not targets else (None,)
    target = targets[0]
    head = (target.value or "").partition("/")[0]
    if target.value is None or target.glob or not target.value or (target.tilde and head in ("~+", "~-")):
        return (None,)
    place = target.value
    if target.tilde and head != "~":  # the home of another user
        place = join("/home", place[1:])
    return tuple(None if one is None else _join(one, place) for one in folders)


def nested(outer: Sequence[str | None], inner: Sequence[str | None]) -> tuple[str | None, ...]:
    """Where an inner command line runs whose command runs in `outer`."""
    joined = (None if one is None or two is None else _join(one, two) for one in outer for two in inner)
    return tuple(dict.fromkeys(joined))


def _join(folder: str, target: str) -> str:
    if not target:
        return folder
    if target.partition("/")[0] == "~":
        return target
    if folder.partition("/")[0] == "~":
        return join(folder, target)
    place = normpath(join(folder, target))
    return "" if place == "." else place
