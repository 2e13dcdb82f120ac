"""Asks the project's build backend what it says of the project, in a child: a build may run any code.

Started like `replay_program.py`: the text of `plain_program.py` stands before this one.
"""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH100, PTH118, PTH123
from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentforge.testing.programs.plain_program import _collected, _message, _write

_LIMIT_S = 50.0


def main(setup: dict[str, Any]) -> None:
    """Tell {metadata: text} or {error: text}.

    Side effects: leaves by `os._exit`.
    """
    descriptor, nonce = setup.pop("descriptor"), setup.pop("nonce")
    os.set_inheritable(descriptor, False)
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(descriptor)
        _asked(setup, writing)
    os.close(writing)
    data, _ = _collected(reading, time.monotonic() + _LIMIT_S)
    try:
        told = json.loads(data.decode("ascii", "replace").strip() or "{}")
    except ValueError:
        told = {}
    record = {**(told or {"error": "the build backend ended before it told anything"}), "nonce": nonce}
    _write(descriptor, json.dumps(record).encode("ascii") + b"\n")
    os._exit(0)


def _asked(setup: dict[str, Any], writing: int) -> None:
    """Ask the backend and leave. Never returns."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for target in (0, 1, 2):
            os.dup2(null, target)
        os.chdir(setup["root"])
        sys.path[:0] = [os.path.abspath(one) for one in setup["backend_path"]]
        try:
            told = {"metadata": _metadata(setup["backend"])}
        except BaseException as exc:  # noqa: BLE001 - whatever a build raises is its answer
            told = {"error": type(exc).__name__ + ": " + _message(exc)}
        _write(writing, json.dumps(told).encode("ascii") + b"\n\n")
    finally:
        os._exit(0)


def _metadata(backend: str) -> str:
    name, _, inner = backend.partition(":")
    made: Any = importlib.import_module(name)
    for part in inner.split(".") if inner else ():
        made = getattr(made, part)
    with tempfile.TemporaryDirectory() as folder:
        found = made.prepare_metadata_for_build_wheel(folder)
        with open(os.path.join(folder, found, "METADATA"), encoding="utf-8") as file:
            return file.read()
