"""A declared signature: what a definition may say in its own way, and what it may not give up."""

from __future__ import annotations

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.verification.stages.existing_tests import weakened

SLUG = Symbol(name="slug", file="kit.py", kind="function", signature="(text: str, *, sep: str = '-') -> str")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def slug(text: str, *, sep: str = '-') -> str: ...", ""),
        ("def slug(text, sep='-'): ...", ""),
        ("def slug(words: str, *, sep: str = '-') -> str: ...", ""),
        ("def slug(text: str | None, *, sep: str = '-', more: int = 0) -> 'Slug': ...", ""),
        (
            "def slug(*args: Any, **kwargs: Any) -> str: ...",
            "takes *args or **kwargs instead of the declared text, sep",
        ),
        ("def slug(text: Any, *, sep: str = '-') -> object: ...", "gives up the declared type of text, the result"),
        ("def slug(text: str, *, sep: str = '-') -> typing.Any: ...", "gives up the declared type of the result"),
        ("@cached\ndef slug(*args): ...", ""),
        ("slug = partial(join, '-')", ""),
        ("def slug(", ""),
    ],
)
def test_types_and_parameters_may_not_be_given_up(source, told):
    assert weakened(SLUG, source.encode()) == told


def test_a_method_is_found_in_its_class_and_nothing_is_told_without_a_signature():
    source = b"class Box:\n    def open(self, *args) -> int: ...\n"
    method = Symbol(name="Box.open", file="kit.py", kind="method", signature="def open(self, key: str) -> int")
    assert weakened(method, source) == "takes *args or **kwargs instead of the declared key"
    assert weakened(Symbol(name="Box.open", file="kit.py", kind="method"), source) == ""
