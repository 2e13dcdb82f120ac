"""Stub variants of the declared symbols, and what a suite shows that passes against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agentforge.languages.catalogue import languages
from agentforge.languages.stub_variant import Source, Variant
from agentforge.languages.symbols import Symbol
from agentforge.testing.outcome import SuiteRun


def variants(symbols: Iterable[Symbol], *, source: Source, seed: str) -> tuple[Variant, ...]:
    """Make the stub variants of the declared symbols, the raising one first, in the first language that can make some.

    Args:
        source: text of a repository path at the base; None when it does not exist.
        seed: draws the wrong values, so that no test can know them.
    Returns:
        () when no symbol of a language that makes stubs is declared as new or changed.
    """
    declared = tuple(symbols)
    for language in languages():
        made = language.stubs(declared, source=source, seed=seed) if language.stubs is not None else ()
        if made:
            return made
    return ()


def stub_compiles(run: SuiteRun, variant: Variant) -> bool:
    """Whether a compiler took a stub; one that does not compile shows nothing of the tests."""
    blamed = {one.failure.file for one in run.collection_errors if one.failure is not None}
    blamed |= {problem.removesuffix(" does not compile") for problem in run.problems}
    return not blamed & set(variant.files)


def survivors(
    passed: Mapping[str, Iterable[str]], *, made: Sequence[Variant], targets: Iterable[str]
) -> list[tuple[str, str]]:
    """Say which targets a wrong implementation satisfies.

    A target must fail for every hard variant, and for one of `empty` and `other`, which differ in value. A target that
    expects an empty result may pass for `empty`; but no single variant may satisfy all targets.

    Args:
        passed: variant name -> ids that passed under it.
    Returns:
        (variant, id) pairs, sorted.
    """
    wanted = set(targets)
    by_name = {one.name: wanted & set(passed.get(one.name, ())) for one in made}
    found = {(one.name, nodeid) for one in made if one.hard for nodeid in by_name[one.name]}
    found |= {("any value", nodeid) for nodeid in by_name.get("empty", set()) & by_name.get("other", set())}
    for one in made:
        if not one.hard and wanted and by_name[one.name] == wanted:
            found |= {(one.name, nodeid) for nodeid in wanted}
    return sorted(found)
