"""What the base knows of the tests in the files that RED declares: the base line speaks of these, and RED does not."""

from __future__ import annotations

from collections.abc import Callable, Collection

from agentforge.suite import Rig, run_tree
from agentforge.testing.outcome import SuiteRun, file_of, without_parameters
from agentforge.verification.source.test_hashes import freeze
from agentforge.verification.stages.red_suite import Suite, declared


def known_before(rig: Rig, base_tree: str, red_tree: str, suite: Suite, run: SuiteRun) -> frozenset[str]:
    """Name the tests of the declared files that nobody declared and that the base has.

    They are unchanged, or stand in no source and end at the base as they do here: inherited ones fail, those that a program
    makes are skipped.

    Args:
        run: what the declared files came to in `red_tree`.

    Returns:
        Their ids, without parameters; items that a plug-in of pytest adds are among them.
    Side effects: runs the files of failing and of skipped tests at the base.
    """
    before = freeze(suite.files, read=rig.read(base_tree)).tests
    after = freeze(suite.files, read=rig.read(red_tree)).tests
    same = {name for name, digest in before.items() if after.get(name) == digest and declared(name, suite) is None}
    inherited = _ending_alike(_failing, run, rig, base_tree, suite, told={*same, *after})
    skipped = _ending_alike(_skipped, run, rig, base_tree, suite, told=same)
    return frozenset(same) | inherited | skipped | _of_plugins(run, rig, red_tree, suite)


def _ending_alike(
    ending: Callable[[SuiteRun], frozenset[str]],
    run: SuiteRun,
    rig: Rig,
    base_tree: str,
    suite: Suite,
    *,
    told: Collection[str],
) -> frozenset[str]:
    """Tests that nobody declared and that end at the base in the same way.

    Args:
        ending: which tests of a run end in the way that is meant.
        told: tests that are left out, because something else tells of them.
    """
    found = {one for one in ending(run) if one not in told and declared(one, suite) is None}
    files = sorted({file_of(one) for one in found if rig.git.show(base_tree, file_of(one)) is not None})
    return frozenset(found & ending(run_tree(rig, base_tree, tests=files))) if files else frozenset()


def _failing(run: SuiteRun) -> frozenset[str]:
    """The tests of which a row fails."""
    return frozenset(
        without_parameters(nodeid) for nodeid, one in run.outcomes.items() if one.outcome in ("failed", "error")
    )


def _skipped(run: SuiteRun) -> frozenset[str]:
    """The tests of which every row is skipped."""
    running = {without_parameters(nodeid) for nodeid, one in run.outcomes.items() if one.outcome != "skipped"}
    return frozenset(map(without_parameters, run.outcomes)) - running


def _of_plugins(run: SuiteRun, rig: Rig, red_tree: str, suite: Suite) -> frozenset[str]:
    """Items that a plug-in of pytest adds to a file, as `::mypy-status`: nobody declared them and they stand in no source."""
    found = set()
    for nodeid in map(without_parameters, run.outcomes):
        name = nodeid.rpartition("::")[2]
        if file_of(nodeid).endswith(".py") and not name.startswith("test") and declared(nodeid, suite) is None:
            text = rig.git.show(red_tree, file_of(nodeid)) or b""
            found |= {nodeid} - ({nodeid} if name.encode() in text else set())
    return frozenset(found)
