"""Wrong values by declared type: what a stub returns to see whether a test looks at the value at all.

One set of stand-ins for the symbols of a change.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_NOTHING = "None"
_WORD = re.compile(r"wrong|Wrong")
_NUMBER = re.compile(r"(?<![\w\\])[1-9]\d+")
_LETTERS = "bcdfghjklmnpqrstvwxz"
_LEAST_SHARE = 0.8  # a drawn number stays as implausible, and fits its type as the one that it stands for


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Python expressions.

    Attributes:
        wrong: a value that no honest test expects, as a pattern for `drawn`; empty when the type has none (bool).
        empty, other: two different values of the type that a test of an edge case may expect.
        nullable: None is a value of the type, or the type is not known.
    """

    wrong: str
    empty: str
    other: str
    nullable: bool


_BY_TYPE = {
    "str": ("'\\x00wrong'", "''", "'x'"),
    "bytes": ("b'\\x00wrong'", "b''", "b'x'"),
    "int": ("-987654321", "0", "-1"),
    "float": ("-9.87654321e30", "0.0", "-1.0"),
    "bool": ("", "False", "True"),
    "list": ("['\\x00wrong']", "[]", "[None]"),
    "tuple": ("('\\x00wrong',)", "()", "(None,)"),
    "set": ("{'\\x00wrong'}", "set()", "{None}"),
    "frozenset": ("frozenset({'\\x00wrong'})", "frozenset()", "frozenset({None})"),
    "dict": ("{'\\x00wrong': '\\x00wrong'}", "{}", "{None: None}"),
}
_ALIASES = {
    "List": "list", "Sequence": "list", "Iterable": "list", "Collection": "list", "Iterator": "list", "Generator": "list",
    "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset", "Dict": "dict", "Mapping": "dict", "MutableMapping": "dict",
    "Decimal": "int", "Text": "str", "complex": "float",
}  # fmt: skip
_UNKNOWN = ("type('Wrong', (), {})()", "None", "0")


def values_for(annotation: ast.expr | None) -> Values:
    """Choose the wrong values for a return annotation; None means that nothing is declared."""
    if annotation is None:
        return _values(_UNKNOWN, nullable=True)
    options = list(_options(annotation))
    named = [option for option in options if option != _NOTHING]
    nullable = _NOTHING in options
    if not named:
        return Values(wrong="'\\x00wrong'", empty="None", other="0", nullable=True)
    found = _BY_TYPE.get(_ALIASES.get(named[0], named[0]))
    return _values(_UNKNOWN, nullable=True) if found is None else _values(found, nullable=nullable)


def drawn(expression: str, *, seed: str) -> str:
    """The expression of a wrong value with another word and another number in it, drawn by a seed; for any language here.

    Args:
        seed: nothing that a test can know; the same seed gives the same value.
    """
    chance = random.Random(seed)
    word = "".join(chance.choice(_LETTERS) for _ in range(10))

    def number(found: re.Match[str]) -> str:
        top = int(found[0])
        return str(chance.randint(int(top * _LEAST_SHARE), top))

    numbered = _NUMBER.sub(number, expression)
    return _WORD.sub(lambda found: word.capitalize() if found[0] == "Wrong" else word, numbered)


def _values(three: tuple[str, str, str], *, nullable: bool) -> Values:
    wrong, empty, other = three
    return Values(wrong=wrong, empty=empty, other=other, nullable=nullable)


def _options(annotation: ast.expr) -> list[str]:
    """The alternatives of an annotation by their plain names: `Optional[list[int]]` -> list, None."""
    if isinstance(annotation, ast.Constant):
        if annotation.value is None:
            return [_NOTHING]
        if isinstance(annotation.value, str):
            try:
                return _options(ast.parse(annotation.value, mode="eval").body)
            except SyntaxError:
                return ["?"]
        return ["?"]
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return [*_options(annotation.left), *_options(annotation.right)]
    if isinstance(annotation, ast.Subscript):
        outer = _options(annotation.value)[0]
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        if outer == "Optional":
            return [*_options(inner[0]), _NOTHING]
        if outer == "Union":
            return [option for one in inner for option in _options(one)]
        return [outer]
    if isinstance(annotation, ast.Attribute):
        return [annotation.attr]
    return [annotation.id] if isinstance(annotation, ast.Name) else ["?"]


Source = Callable[[str], str | None]
"""Gives the text of a repository's file; for a folder (`lib/`, `/` = the top) the paths of its files, one a line; None = none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One set of wrong implementations.

    Attributes:
        name: raises, wrong, none, empty, other, or spoils (it changes what it is given).
        hard: no honest target passes; otherwise only a suite of which every target passes is hollow.
        files: path -> new content.
    """

    name: str
    hard: bool
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NullWay:
    """How the changed functions of a file are made wrong.

    Attributes:
        seed: draws the wrong values, so that no test can know them.
        raising: they raise, where the language tells such a test from one that looks at a value.
        observed: function name -> type of the result that tests expect, for functions without an annotation.
    """

    seed: str
    raising: bool = False
    observed: Mapping[str, str] = field(default_factory=dict)
