"""Whether tests of the base still hold as they stood there, with the data and the fixtures of then."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from agentforge.runners.freeze import test_functions
from agentforge.runners.rig import Edits, Rig, run_tree, sound
from agentforge.workspace.relevance import is_test_path

_LISTED = 50


def broken_under_old_text(
    rig: Rig, tree: str, *, changed: Iterable[str], base_tree: str, passed: Collection[str], edits: Edits
) -> tuple[str, ...] | None:
    """Run the tests of the base as they stood there, data and fixtures included, and list those that no longer pass.

    A change of tests and their data may hide what it broke: a golden file written anew, a widened tolerance in a constant.

    Args:
        passed: ids that passed at the base.
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
    run = run_tree(rig, tree, tests=wanted, edits=Edits(files={**edits.files, **files}))
    if not sound(run, rig.plan):
        return None
    ran = [one for one in passed if one.partition("::")[0] in wanted]
    return tuple(sorted(one for one in ran if one not in run.passed_ids)[:_LISTED])


def _holds_tests(path: str, data: bytes) -> bool:
    """Whether a file holds tests; anything else (data, fixtures, conftest.py) may serve every test."""
    return path.endswith(".py") and bool(tuple(test_functions(data)))


def _is_run(path: str, passed: Collection[str]) -> bool:
    return any(one.partition("::")[0] == path for one in passed)
