"""What a change touches beyond what the specification lets it touch."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

from agentforge.verification.source.inner_tests import Read, only_tests_changed
from agentforge.verification.source.test_hashes import FrozenTests


def outside(
    changed: Iterable[str], scope: Sequence[str], frozen: FrozenTests, *, before: Read, after: Read
) -> list[str]:
    """List the changed paths that are neither in a scope nor RED's; of a product file the tests inside may be RED's alone.

    Args:
        scope: paths, folders ("pkg/") or patterns.
    """
    left = [path for path in changed if not _in_scope(path, (*scope, *frozen.whole))]
    return [
        path for path in left if path not in frozen.parts or not only_tests_changed(path, before=before, after=after)
    ]


def _in_scope(path: str, scope: Sequence[str]) -> bool:
    """Whether a path is one of the scope's paths, lies in one of its folders, or matches one of its patterns."""
    return any(
        path == one or (one.endswith("/") and path.startswith(one)) or fnmatch.fnmatchcase(path, one) for one in scope
    )
