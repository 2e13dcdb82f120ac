"""Which existing tests name what a task is about: what the specification changes of it, they may contradict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from agentforge.pipeline.context.excerpts import source_text

_MOST_READ = 2000  # test files
_EVERYWHERE = 12
"""A name in more files than this is only counted: it is a word like any other there."""
_MOST_NAMES, _MOST_FILES, _MOST_LINES = 6, 3, 4
_SHORT_NAME = 3  # letters that say nothing


def named_in_tests(root: Path, tests: Iterable[str], names: Iterable[str]) -> str:
    """A line for each name that stands in tests: in which files, and on which lines of them; "" where none does.

    Args:
        root: where the files lie.
        tests: paths of test files, relative to it.
        names: qualified names; their last parts are looked for, as whole words.
    """
    words = list(dict.fromkeys(name.rpartition(".")[2] for name in names))
    wanted = [word for word in words if len(word) > _SHORT_NAME][:_MOST_NAMES]
    if not wanted:
        return ""
    lines = {path: (source_text(root, path) or "").splitlines() for path in islice(tests, _MOST_READ)}
    return "\n".join(line for word in wanted for line in _told(word, lines))


def _told(word: str, lines: dict[str, list[str]]) -> Iterator[str]:
    whole = re.compile(rf"(?<![\w$]){re.escape(word)}(?![\w$])")
    found = {path: [at for at, line in enumerate(text, start=1) if whole.search(line)] for path, text in lines.items()}
    most = sorted((path for path, numbers in found.items() if numbers), key=lambda path: -len(found[path]))
    if len(most) > _EVERYWHERE:
        yield f"- {word}: {len(most)} files"
    elif most:
        places = "; ".join(f"{path} {_numbers(found[path])}" for path in most[:_MOST_FILES])
        yield f"- {word}: {places}{_more(len(most) - _MOST_FILES)}"


def _numbers(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:_MOST_LINES])) + _more(len(numbers) - _MOST_LINES)


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
