"""Product files that hold tests, in two versions: which part of them differs, and one with the tests of the other."""

from __future__ import annotations

from collections.abc import Iterable

from agentforge.languages.test_parts import inner_tests, may_hold_tests, with_tests_of, without_tests
from agentforge.workspace.git.repository import Read


def only_tests_changed(path: str, *, before: Read, after: Read) -> bool:
    """Whether a product file of the base is the same but for the tests inside of it."""
    old, new = (before(path), after(path)) if may_hold_tests(path) else (None, None)
    return old is not None and new is not None and without_tests(path, old) == without_tests(path, new)


def inner_tests_changed(path: str, *, before: Read, after: Read) -> bool:
    """Whether the tests inside of a product file of the base are others; those of a file that is gone went with it."""
    old, new = (before(path), after(path)) if may_hold_tests(path) else (None, None)
    return old is not None and new is not None and inner_tests(path, old) != inner_tests(path, new)


def with_tests_as(path: str, *, then: Read, now: Read) -> bytes | None:
    """A file as it is run with its earlier tests: the earlier text of a test file, of a product file the earlier tests alone."""
    if not may_hold_tests(path):
        return then(path)
    old, new = then(path), now(path)
    return new if old is None or new is None else with_tests_of(path, new, old)


def put_back_in(paths: Iterable[str], *, frozen: Read, now: Read) -> dict[str, bytes | None]:
    """Those of some product files whose frozen tests are others now, with the frozen ones."""
    changed = (path for path in paths if inner_tests_changed(path, before=frozen, after=now))
    return {path: with_tests_as(path, then=frozen, now=now) for path in changed}
