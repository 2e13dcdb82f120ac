"""The process that serves a local model: `python -m agentforge.local.server ORDER`, where ORDER is a JSON object.

It bounds its own memory, is the first that the kernel ends when memory runs out, listens on loopback with a key of its own, and
ends when nobody has held a lease for a while.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import secrets
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_TICK_S = 1.0
_PROMPT_CACHE_MIB = 256
_PING_S = 15
_CONNECTIONS = 8
_ERRORS = 1
"""Verbosity of llama.cpp: errors only."""


def main(order: dict[str, Any]) -> int:
    """Serve until idle.

    Returns:
        0 when another server holds the place already; 1 when the model cannot be loaded, after saying why. It does not return
        once it serves.
    """
    os.chdir("/")
    place = Path(order["place"])
    alive = os.open(place.with_suffix(".alive"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    _bound(order["limit"])
    key = secrets.token_urlsafe(24)
    try:
        server = _load(order, key)
        _hear(server.listening_address)
    except (RuntimeError, MemoryError, ImportError, OSError) as exc:
        sys.stderr.write(f"Error: {exc}\n")  # the log, where the one who started this looks
        return 1
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    _tell(place, order, url=server.listening_address, key=key)
    _serve_until_idle(place, float(order["idle_s"]))
    os._exit(0)  # without the destructors of llama.cpp, which wait for its threads


def _bound(limit: int) -> None:
    """Bound this process's memory, and offer it first when the machine's runs out."""
    with suppress(ValueError, OSError):  # a system that knows no such bound
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def _load(order: dict[str, Any], key: str) -> Any:
    import xllamacpp

    wishes = xllamacpp.CommonParams()
    wishes.model.path = order["file"]
    wishes.n_ctx = order["context"]
    wishes.n_parallel = order["parallel"]
    wishes.kv_unified = True  # the slots share the context, so that one request may have nearly all of it
    wishes.cpuparams.n_threads = wishes.cpuparams_batch.n_threads = order["threads"]
    wishes.no_extra_bufts = order["lean"]
    wishes.cache_ram_mib = 0 if order["lean"] else _PROMPT_CACHE_MIB
    wishes.n_gpu_layers = 0
    wishes.n_threads_http = _CONNECTIONS
    wishes.fit_params = False
    wishes.warmup = False
    wishes.ui = False
    wishes.port = 0
    wishes.api_keys = [key]
    wishes.sse_ping_interval = _PING_S
    wishes.verbosity = _ERRORS
    return xllamacpp.Server(wishes)


def _hear(url: str) -> None:
    """Have the server answer once: one that has too little memory for its threads ends here, before anybody counts on it."""
    from urllib.request import urlopen

    with urlopen(f"{url}/health", timeout=30) as answer:
        answer.read()


def _tell(place: Path, order: dict[str, Any], *, url: str, key: str) -> None:
    """Write down where this server listens; whoever sees the file sees all of it."""
    told = {name: order[name] for name in ("file", "context", "threads", "parallel", "lean", "memory")}
    record = json.dumps({"pid": os.getpid(), "url": url, "key": key, **told})
    draft = place.with_suffix(".draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(record)
    draft.replace(place.with_suffix(".json"))


def _serve_until_idle(place: Path, idle_s: float) -> None:
    """Return when nobody has held a lease for `idle_s` seconds; the record is gone then, and nobody can take a lease before."""
    lease = os.open(place.with_suffix(".lease"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    began = time.time()
    while True:
        time.sleep(min(_TICK_S, idle_s / 4))
        with suppress(BlockingIOError):
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - max(began, os.fstat(lease).st_mtime) >= idle_s:
                place.with_suffix(".json").unlink(missing_ok=True)
                return
            fcntl.flock(lease, fcntl.LOCK_UN)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
