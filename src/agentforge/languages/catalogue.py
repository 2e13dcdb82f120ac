"""The languages that are known here: every folder beside this file that exports a `LANGUAGE`. Nothing is registered.

Names the tests of a source file without running it, in every language that can tell them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from agentforge.languages.language import Language
from agentforge.testing.plan import TestPlan
from agentforge.workspace.code.symbols import language_of, parse_tree


@cache
def languages() -> tuple[Language, ...]:
    """All languages, in the order in which a repository is asked for them."""
    folders = sorted(file.parent.name for file in Path(__file__).parent.glob("*/language.py"))
    found = [import_module(f"agentforge.languages.{name}.language").LANGUAGE for name in folders]
    return tuple(sorted(found, key=lambda one: one.rank))


def of_runner(runner: str) -> Language | None:
    """The language of a test runner; None for one that is of no language (a command that writes JUnit XML)."""
    return next((one for one in languages() if runner in one.runners), None)


def of_path(path: str) -> Language | None:
    """The language of a source file by its suffix; None where it is none of these."""
    grammar = language_of(path)
    return next((one for one in languages() if grammar in one.grammars), None) if grammar else None


@cache
def comment_mark() -> re.Pattern[str]:
    """What a comment begins with that ends with its line, in any of the languages, and the blanks around it."""
    return re.compile(rf"\s*(?:{'|'.join(sorted({re.escape(one.comment) for one in languages()}))})\s*")


def is_compiled(plan: TestPlan) -> bool:
    """Whether the test files of a plan are compiled together: what does not compile keeps its neighbours from running."""
    language = of_runner(plan.runner)
    return language is not None and language.is_compiled


def runs_all(plan: TestPlan) -> bool:
    """Whether the runner of a plan runs the whole suite whatever it is asked for."""
    language = of_runner(plan.runner)
    return language is not None and language.runs_all


def named_tests(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield (name as the runner tells it, source text) of each test; nothing for a language that does not tell them.

    A title that is computed is left out.
    """
    language = of_path(path)
    if language is None or language.named_tests is None:
        return
    root = parse_tree(data.decode("utf-8", "replace"), language_of(path) or "")
    if root is not None:
        yield from language.named_tests(root)


def has_tests(path: str, data: bytes) -> bool:
    """Whether a file holds tests, those with a computed title included; False for a language that does not tell them."""
    language = of_path(path)
    if language is None or language.holds_tests is None:
        return any(True for _ in named_tests(path, data))
    root = parse_tree(data.decode("utf-8", "replace"), language_of(path) or "")
    return root is not None and language.holds_tests(root)
