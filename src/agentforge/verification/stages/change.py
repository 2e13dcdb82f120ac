"""A change as the strength of its tests is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change and the tests that are to show it.

    Attributes:
        lines: changed lines of the product files, by path, as bits.
        elsewhere: the same for files in other languages than Python.
        shrunk: product files that only lost lines.
        other: changed product files that no tracer can follow (data, templates, other languages).
        deleted: product files that are gone.
        action: create, modify, delete, refactor, fix or analyze.
        requirements: id -> its tests as declared (`path::name`).
        tests: {id, kind} of the tests that RED froze.
        named: requirement -> (path, name) of the declared functions that its text names.
        declared: names of all declared symbols.
        frozen: paths that are run as RED left them.
        impacted: ids of existing tests that ran the changed files at the base, the nearest first.
        impacted_long: those of them that take long: they are asked only about what all others leave open.
        traced_at_base: the base could be traced.
    """

    lines: Mapping[str, int]
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    shrunk: frozenset[str] = frozenset()
    other: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    action: str = "create"
    requirements: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tests: Sequence[Mapping[str, Any]] = ()
    named: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    declared: frozenset[str] = frozenset()
    frozen: Sequence[str] = ()
    impacted: Sequence[str] = ()
    impacted_long: Sequence[str] = ()
    traced_at_base: bool = False
