"""Whether tests of the base still hold as they stood there, with the data and the fixtures of then."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from agentforge.suite.test_environment import Edits, Rig, run_tree, sound
from agentforge.testing.identity import without_parameters
from agentforge.testing.outcome import SuiteRun
from agentforge.verification.source.test_hashes import freeze, test_functions
from agentforge.verification.stages.endings import lacks, without_imports
from agentforge.workspace.code.relevance import is_test_path

_LISTED = 50


def broken_under_old_text(
    rig: Rig,
    tree: str,
    *,
    changed: Iterable[str],
    base_tree: str,
    passed: Collection[str],
    edits: Edits,
    gone: Collection[str] = (),
) -> tuple[str, ...] | None:
    """Run the tests of the base as they stood there, data and fixtures included, and list those that no longer pass.

    A change of tests and their data may hide what it broke: a golden file written anew, a widened tolerance in a constant.

    Args:
        passed: ids that passed at the base.
        gone: names that the specification removes: a file that cannot be loaded for want of one runs without that import.
    Returns:
        () when nothing of the base's tests was changed; None when the run is no evidence.
    """
    files: Mapping[str, bytes] = {
        path: data for path in changed if is_test_path(path) and (data := rig.git.show(base_tree, path)) is not None
    }
    if not files:
        return ()
    concerned = passed if any(not _holds_tests(path, data) for path, data in files.items()) else ()
    wanted = sorted({one.partition("::")[0] for one in concerned} | {path for path in files if _is_run(path, passed)})
    if not wanted:
        return ()
    run = run_old(rig, tree, tests=wanted, files=files, edits=edits, gone=gone)
    if not sound(run, rig.plan):
        return None
    lost = frozenset(one.id for one in run.collection_errors if one.id in files and not one.id.endswith(".py"))
    beside = [path for path in wanted if path not in lost]
    held = set(run.passed_ids)
    if lost and beside:  # a compiler refuses the tests beside such a file, too: they run beside its new text
        rest = {path: data for path, data in files.items() if path not in lost}
        again = run_old(rig, tree, tests=beside, files=rest, edits=edits, gone=gone)
        if not sound(again, rig.plan):
            return None
        held |= {one for one in again.passed_ids if one.partition("::")[0] not in lost}
    kept = _kept_in_lost_files(rig, tree, base_tree, lost)
    ran = [one for one in passed if one.partition("::")[0] in wanted and without_parameters(one) not in kept]
    return tuple(sorted(one for one in ran if one not in held)[:_LISTED])


def run_old(
    rig: Rig, tree: str, *, tests: Sequence[str], files: Mapping[str, bytes], edits: Edits, gone: Collection[str]
) -> SuiteRun:
    """Run tests with old texts of some files; a file that lacks a name which is to go runs without its import.

    That excuses nothing: a test that needs the name fails for want of it.
    """
    run = run_tree(rig, tree, tests=tests, edits=Edits(files={**edits.files, **files}))
    lost = {one.id for one in run.collection_errors if gone and lacks(one.failure, gone)}
    bare = {path: without_imports(data, gone) for path, data in files.items() if path in lost and path.endswith(".py")}
    return run_tree(rig, tree, tests=tests, edits=Edits(files={**edits.files, **files, **bare})) if bare else run


def _kept_in_lost_files(rig: Rig, tree: str, base_tree: str, lost: Collection[str]) -> frozenset[str]:
    """Tests that stand word for word in the new text of a file whose old text does not compile any more.

    A compiler refuses a whole file for one call with the old signature. What the other tests of the file show is shown by the new
    text, in which they run as they stood.
    """
    before = freeze(sorted(lost), read=rig.read(base_tree)).tests
    after = freeze(sorted(lost), read=rig.read(tree)).tests
    return frozenset(name for name, digest in before.items() if after.get(name) == digest)


def _holds_tests(path: str, data: bytes) -> bool:
    """Whether a file holds tests; anything else (data, fixtures, conftest.py) may serve every test."""
    return path.endswith(".py") and bool(tuple(test_functions(data)))


def _is_run(path: str, passed: Collection[str]) -> bool:
    return any(one.partition("::")[0] == path for one in passed)
