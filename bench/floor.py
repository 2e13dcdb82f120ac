"""The cost of the kernel floor: CPU of one command in the sandbox over the same command without it."""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


def over_bare_ms(*, runs: int) -> float:
    """CPU milliseconds, own and of the children, that bubblewrap adds to a command; medians, both in turns."""
    from agentforge.workspace.sandbox.box import Box, choose

    with tempfile.TemporaryDirectory(prefix="agentforge-bench-") as folder:
        place = Path(folder).resolve()
        for number in range(20):
            (place / f"package_{number}").mkdir()
            (place / f"package_{number}" / "module.py").write_text("x = 1\n")
        box = Box(workspace=place, mount_at=place)
        kinds = {"bubblewrap": choose("bubblewrap"), "none": choose("none")}
        found: dict[str, list[float]] = {name: [] for name in kinds}
        for turn in range(runs + 2):
            for name, sandbox in kinds.items():
                spent = _cpu_s(lambda sandbox=sandbox: sandbox.run(["true"], box=box, timeout_s=20))
                found[name] += [spent] if turn > 1 else []
    return 1000 * (statistics.median(found["bubblewrap"]) - statistics.median(found["none"]))


def _cpu_s(command: Callable[[], object]) -> float:
    before = _used_s()
    command()
    return _used_s() - before


def _used_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime + time.process_time()
