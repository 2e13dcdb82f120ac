"""The doctor's attempts: none gets out of a sandbox, and nearly all do where there is none."""

from __future__ import annotations

import os

import pytest

from agentforge.workspace.sandbox.box import choose, landlock_missing_because, missing_because
from agentforge.workspace.sandbox.escapes import try_escapes


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_no_way_out_is_open(kind: str) -> None:
    reason = missing_because(os.environ) if kind == "bubblewrap" else landlock_missing_because()
    if reason:
        pytest.skip(reason)
    open_ways = [one.name for one in try_escapes(choose(kind), os.environ) if one.held is False]  # type: ignore[arg-type]
    assert set(open_ways) <= {"threads"}  # a bound on root's processes needs writable control groups


def test_the_attempts_are_real_where_nothing_confines_them() -> None:
    found = {one.name: one.held for one in try_escapes(choose("none"), os.environ)}
    assert not any(found[name] for name in ("secret", "outside", "hook", "config", "nested", "tcp", "udp", "socket"))
    assert not any(found[name] for name in ("abstract", "environ", "processes", "signal", "alive"))
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 12 << 30:  # a small machine refuses by itself
        assert not found["memory"]
    assert found["threads"] is None
    assert found["kernel"] is not None
    assert found["namespace"] is not None
