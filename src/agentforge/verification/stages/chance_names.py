"""Tests whose names are made by chance: no two runs of the same tree have them, so that one of them is missing shows nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from agentforge.suite import Rig, run_tree, sound
from agentforge.testing.outcome import SuiteRun, file_of
from agentforge.underway import underway


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceNames:
    """What was found.

    Attributes:
        names: tests that are called so by chance.
        files: their files, but for those in which a test failed as they were.
    """

    names: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()

    def failing(self, run: SuiteRun, *, known: Collection[str]) -> list[str]:
        """The tests of these files that fail under a name that nobody has seen before: each counts as a loss.

        Args:
            known: names of which somebody else tells what became of them.
        """
        return [one for one in run.failing_ids if file_of(one) in self.files and one not in known]


def chance_names(
    rig: Rig, run: SuiteRun, *, base: Iterable[str], base_tree: str, required: Iterable[str], red_tree: str
) -> ChanceNames:
    """Run the files of tests that are missing in a run again as they were, and tell which names do not come back there either.

    A file that cannot be loaded there tells nothing.

    Args:
        run: of the tree that is judged.
        base: the names that passed at the base; they are looked for at `base_tree` again.
        required: the names that RED's suite had; they are looked for at `red_tree` again.
    """
    names: set[str] = set()
    files: set[str] = set()
    for wanted, tree in ((base, base_tree), (required, red_tree)):
        missing = [one for one in wanted if not _is_in(one, run)]
        if not missing:
            continue
        with underway("looks whether missing tests are called so by chance"):
            again = run_tree(rig, tree, tests=sorted(set(map(file_of, missing))), repeat=1)
        loaded = set(map(file_of, again.outcomes)) - {one.id for one in again.collection_errors}
        found = {one for one in missing if file_of(one) in loaded and not _is_in(one, again)}
        names |= found if sound(again, rig.plan) else set()
        files |= set(map(file_of, found & names)) - set(map(file_of, again.failing_ids))
    return ChanceNames(names=frozenset(names), files=frozenset(files))


def _is_in(nodeid: str, run: SuiteRun) -> bool:
    """Whether a run tells of a test, or of rows of it."""
    return nodeid in run.outcomes or any(one.startswith(f"{nodeid}[") for one in run.outcomes)
