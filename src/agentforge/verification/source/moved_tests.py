"""Tests whose file got another path: the same tests by their names and texts."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.suite import Rig
from agentforge.testing.outcome import without_parameters
from agentforge.verification.source.test_hashes import test_hashes
from agentforge.workspace.code.relevance import is_test_path


def moved_tests(rig: Rig, base_tree: str, tree: str) -> Mapping[str, str]:
    """Map the tests of files that are gone to those of new files that have their names and texts: old id -> new id."""
    then, now = ({path for path in rig.git.list_files(one) if is_test_path(path)} for one in (base_tree, tree))
    gone, new = sorted(then - now), sorted(now - then)
    if not gone or not new:
        return {}
    places: dict[tuple[str, str], list[str]] = {}
    for path in new:
        for name, digest in test_hashes(path, rig.git.show(tree, path) or b""):
            places.setdefault((name, digest), []).append(path)
    found: dict[str, str] = {}
    for path in gone:
        for name, digest in test_hashes(path, rig.git.show(base_tree, path) or b""):
            there = places.get((name, digest))
            if there:
                found[f"{path}::{name}"] = f"{there.pop(0)}::{name}"
    return found


def place_of(nodeid: str, moved: Mapping[str, str]) -> str:
    """The id of a test whose file got another path, with its row; "" of any other test."""
    bare = without_parameters(nodeid)
    return f"{moved[bare]}{nodeid[len(bare) :]}" if bare in moved else ""
