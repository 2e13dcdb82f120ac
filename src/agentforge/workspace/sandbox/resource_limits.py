"""How much a command may take: sizes and counts that the kernel holds for each process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

# Data, not address space: node, Java and the sanitizers reserve tens of gigabytes of addresses that they never use.
_MOST = {"data": 8 << 30, "nproc": 2048, "fsize": 2 << 30, "nofile": 16_384, "core": 0}


def limited(argv: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Put the limits before a command; where prlimit is missing the command stays as it is."""
    prlimit = _prlimit(env.get("PATH", ""))
    return [prlimit, *_options(), "--", *argv] if prlimit else list(argv)


def limits() -> dict[str, int]:
    """The limits by name, none above what this process may set itself."""
    import resource

    found = {}
    for name, most in _MOST.items():
        _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
        found[name] = most if hard == resource.RLIM_INFINITY else min(most, hard)
    return found


@cache
def _options() -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in limits().items())


@cache
def _prlimit(path: str) -> str | None:
    import shutil

    return shutil.which("prlimit", path=path) or shutil.which("prlimit", path="/usr/bin:/bin")
