"""What this machine can carry: its processor, its free cores and memory; and from them how a model is served on it."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path

from agentforge.errors import LocalModelError
from agentforge.frozen import dataclass
from agentforge.local.gguf import Header

PARALLEL = 8
"""Samples that a server gives to one request."""

_NEEDED_FLAGS = frozenset({"avx2", "fma", "f16c", "bmi2"})
"""What the wheel of llama.cpp was compiled for on x86-64; a processor without them ends it at once."""
_CHOICES = ((16_384, False), (8_192, False), (8_192, True), (4_096, False), (4_096, True), (2_048, True))
"""Context, and whether without a second copy of the weights: the best that fits is taken."""
_AMPLE = 16_384
_MOST_THREADS = 8
_LOOK_S = 0.04
_MIB = 1024 * 1024
_BUFFERS = 350 * _MIB
_PROMPT_CACHE = 256 * _MIB
_ADDRESSES = 1_536 * _MIB
"""Address space that threads and allocators reserve and never use."""
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """This machine, as it is now.

    Attributes:
        kind: e.g. `x86_64`.
        flags: abilities of the processor, as Linux names them; empty where they cannot be known.
        cores: that this process may use.
        idle: cores that nobody uses now.
        memory: bytes that can be had without swapping.
    """

    kind: str
    flags: frozenset[str]
    cores: int
    idle: float
    memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MachinePlan:
    """How a model is served.

    Attributes:
        context: tokens that prompt and answers may have together.
        lean: without a second copy of the weights in the processor's own order: slower, and less memory.
        memory: bytes that it will need.
        limit: bytes of address space at which the server is refused more.
    """

    context: int
    threads: int
    parallel: int
    lean: bool
    memory: int
    limit: int


def look() -> Machine:
    """Look at this machine; takes 40 ms, in which the load is measured."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(kind=platform.machine(), flags=_flags(), cores=cores, idle=_idle(cores), memory=_memory())


def plan(header: Header, *, file_bytes: int, machine: Machine, wishes: Mapping[str, int]) -> MachinePlan:
    """Choose context, threads and memory for a model. Pure.

    Args:
        wishes: of the settings: `context`, `threads`, `memory_mb`; what is missing is chosen.
    Raises:
        LocalModelError: the processor or the memory cannot carry the model.
    """
    _check_processor(machine)
    context, lean = _fitting(header, file_bytes, machine, wishes)
    memory = _need(header, file_bytes, context=context, lean=lean)
    limit = wishes["memory_mb"] * _MIB if wishes.get("memory_mb") else memory * 5 // 4 + _ADDRESSES
    return MachinePlan(
        context=context,
        threads=wishes.get("threads") or max(1, min(_MOST_THREADS, machine.cores, int(machine.idle + 0.5))),
        parallel=PARALLEL,
        lean=lean,
        memory=memory,
        limit=limit,
    )


def _check_processor(machine: Machine) -> None:
    missing = sorted(_NEEDED_FLAGS - machine.flags)
    if machine.kind in ("x86_64", "AMD64") and machine.flags and missing:
        raise LocalModelError(
            f"this processor has no {', '.join(missing).upper()}, which the local model server needs",
            hint="use a server that was built for it (--model ollama/NAME), or a hosted model",
            requests=0,
        )


def _fitting(header: Header, file_bytes: int, machine: Machine, wishes: Mapping[str, int]) -> tuple[int, bool]:
    """The largest context that fits, with a second copy of the weights where there is room for it."""
    wished = wishes.get("context")
    known = tuple((context, lean) for context, lean in _CHOICES if context <= header.context)
    choices = ((wished, False), (wished, True)) if wished else known or ((header.context, True),)
    for context, lean in choices:
        share = 0.5 if context >= _AMPLE and not wished else 0.95
        if _need(header, file_bytes, context=context, lean=lean) <= machine.memory * share:
            return context, lean
    need = _need(header, file_bytes, context=choices[-1][0], lean=True)
    raise LocalModelError(
        f"{header.name or 'the model'} needs {_gb(need)} of memory, and {_gb(machine.memory)} is available",
        hint="close something, or take a smaller model: agentforge model pull qwen2.5-coder-0.5b",
        requests=0,
    )


def _need(header: Header, file_bytes: int, *, context: int, lean: bool) -> int:
    weights = file_bytes if lean else file_bytes * 8 // 5
    return weights + context * header.context_bytes + _BUFFERS + (0 if lean else _PROMPT_CACHE)


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


def _flags() -> frozenset[str]:
    for line in _lines("/proc/cpuinfo"):
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def _idle(cores: int) -> float:
    """Cores that were idle during a short look; all of them where the system does not tell."""
    before = _times()
    if before is None:
        return float(cores)
    time.sleep(_LOOK_S)
    after = _times() or before
    spent = after[1] - before[1]
    return cores * (after[0] - before[0]) / spent if spent > 0 else float(cores)


def _times() -> tuple[int, int] | None:
    """Ticks that all cores were idle, and ticks in all."""
    for line in _lines("/proc/stat"):
        if line.startswith("cpu "):
            ticks = [int(word) for word in line.split()[1:9]]
            return ticks[3] + ticks[4], sum(ticks)
    return None


def _memory() -> int:
    """What is available, and no more than the process group may still take."""
    free = next((int(line.split()[1]) * 1024 for line in _lines("/proc/meminfo") if line.startswith("MemAvail")), 0)
    free = free or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit, usage, parts in _CGROUPS:
        most, used = _number(limit), _number(usage)
        if most is not None and used is not None:
            free = min(free, max(0, most - used + _file_pages(parts)))
    return free


def _file_pages(parts: str) -> int:
    """Bytes of files that the group keeps in memory and can let go of at any time."""
    words = [line.split() for line in _lines(parts)]
    return sum(int(word[1]) for word in words if word[0] in ("inactive_file", "active_file"))


def _number(path: str) -> int | None:
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdigit() else None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
