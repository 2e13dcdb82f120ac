"""Which existing tests name what a task is about: a change of it may contradict them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from agentforge.pipeline.context.excerpts import source_text
from agentforge.pipeline.context.excerpts_of_tests import tests_in

_MOST_READ = 2000  # test files
_EVERYWHERE = 12
"""A name in more files than this is only counted: it is a word like any other there."""
_MOST_NAMES, _MOST_FILES, _MOST_TESTS = 6, 3, 4
_SAYS_NOTHING = 3  # letters that say nothing


def named_in_tests(root: Path, tests: Iterable[str], names: Iterable[str]) -> str:
    """A line for each name that stands in tests: in which files, and in which tests of them; "" where none does.

    Args:
        root: where the files lie.
        tests: paths of test files, relative to it.
        names: qualified names; their last parts are looked for, as whole words.
    """
    words = list(dict.fromkeys(name.rpartition(".")[2] for name in names))
    wanted = [word for word in words if len(word) > _SAYS_NOTHING][:_MOST_NAMES]
    if not wanted:
        return ""
    texts = {path: source_text(root, path) or "" for path in islice(tests, _MOST_READ)}
    return "\n".join(line for word in wanted for line in _told(word, texts))


def _told(word: str, texts: Mapping[str, str]) -> Iterator[str]:
    whole = re.compile(rf"(?<![\w$]){re.escape(word)}(?![\w$])")
    holding = ((path, text.splitlines()) for path, text in texts.items() if word in text)
    found = {path: [at for at, row in enumerate(rows, start=1) if whole.search(row)] for path, rows in holding}
    most = sorted((path for path, numbers in found.items() if numbers), key=lambda path: -len(found[path]))
    if len(most) > _EVERYWHERE:
        yield f"- {word}: {len(most)} files"
    elif most:
        places = "; ".join(f"{path} {_places(path, texts[path], found[path])}" for path in most[:_MOST_FILES])
        yield f"- {word}: {places}{_more(len(most) - _MOST_FILES)}"


def _places(path: str, text: str, numbers: Sequence[int]) -> str:
    """The tests in which some lines of a file stand, each once; where none stands in a test, the numbers of the lines."""
    known = tests_in(path, text)
    around = [[one for one in known if one.line <= number <= one.end_line] for number in numbers]
    tests = dict.fromkeys(max(ones, key=lambda one: one.line).qualified for ones in around if ones)
    told = list(tests) or [str(number) for number in numbers]
    return ", ".join(told[:_MOST_TESTS]) + _more(len(told) - _MOST_TESTS)


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
