"""One word, one meaning: public classes have names of their own, and nobody uses a word that only this house knew."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.meta.conftest import Source

Sources = tuple["Source", ...]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_BANNED = frozenset({"stirring", "overhearing", "ward", "honesty", "unasked", "spoken", "birth"})
"""Say: wake dependents, live output, protected paths, evasion, out of scope, mentions, child run."""
_NOUNS = frozenset({"finding", "keyring", "mapping", "reading", "recording", "refactoring", "testing"})
_APART = ("testing/programs/", "evals/sets/", "demo/")
"""Programs that run on their own, in another process: no name of theirs meets one of ours."""


def _table(root: Path, title: str) -> list[str]:
    text = (root / "docs" / "glossary.md").read_text("utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|")[0].strip().strip("`") for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def _is_apart(source: Source) -> bool:
    return source.path.removeprefix("src/agentforge/").startswith(_APART)


def _homonyms(sources: Sources) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        path = source.path.removeprefix("src/agentforge/")
        top = {id(node) for node in source.tree.body}
        for node in source.classes:
            if id(node) in top and not node.name.startswith("_") and not path.startswith(_APART):
                found[node.name].append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def test_a_class_has_a_name_of_its_own_or_a_row_in_the_glossary(root: Path, sources: Sources) -> None:
    listed, found = _table(root, "Words that still have two meanings"), _homonyms(sources)
    assert {name: found[name] for name in sorted(set(found) - set(listed))} == {}, "give the new class another name"
    assert sorted(set(listed) - set(found)) == [], "these rows of docs/glossary.md are no longer true: delete them"
    assert listed == sorted(listed)


def test_nobody_is_called_by_a_banned_word(sources: Sources) -> None:
    wrong = []
    for source in sources:
        if _is_apart(source):
            continue
        names = [Path(source.path).stem, *(node.name for node in source.classes)]
        names += [name.rpartition(".")[2] for name, _ in source.public_functions]
        said = {name for name in names if _BANNED & {word.lower() for word in _WORDS.findall(name)}}
        wrong += [f"{source.path}: {name}" for name in sorted(said)]
    assert wrong == []


def test_a_module_and_its_package_are_called_by_nouns(sources: Sources) -> None:
    """A word that ends in -ing is one only where the field uses it as a noun."""
    stems = {
        name: source.path
        for source in sources
        if not _is_apart(source)
        for name in Path(source.path).with_suffix("").parts
    }
    assert [
        path for stem, path in sorted(stems.items()) if stem.endswith("ing") and stem.rpartition("_")[2] not in _NOUNS
    ] == []
