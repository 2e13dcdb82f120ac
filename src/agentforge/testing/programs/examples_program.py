"""Runs the examples of documents and docstrings; what is right only the caller knows.

Started like `replay_program.py`: the text of `plain_program.py` stands before this one. A child runs the examples of one text
after one another with the same names, and tells what each printed or raised.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import types
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentforge.testing.programs.plain_program import _enter, _forked, _imported, _message, _opened, _write

_SAID_MOST = 20_000


def main(setup: dict[str, Any]) -> None:
    """Run every text in a child of its own and pass on what it told.

    Side effects: leaves by `os._exit`.
    """
    descriptor, nonce = _opened(setup)
    for number, text in enumerate(setup["texts"]):
        rows, _ = _forked(partial(_run_text, setup, text), descriptor, setup["timeout_s"])
        _write(descriptor, json.dumps({"number": number, "rows": rows, "nonce": nonce}).encode("ascii") + b"\n")
    os._exit(0)


def _run_text(setup: dict[str, Any], text: dict[str, Any], writing: int) -> None:
    """Run the examples of one text and leave. Never returns."""
    write, leave, dumps = _write, os._exit, json.dumps
    try:
        _enter(setup)
        names = _names_of(text["modules"])
        for source in text["sources"]:
            write(writing, dumps(_one(source, names, setup["names"])).encode("ascii") + b"\n")
        write(writing, b"\n")
    finally:
        leave(0)


def _names_of(modules: list[str]) -> dict[str, Any]:
    """The names that an example sees: those of its module, else none."""
    fresh = types.ModuleType("__main__")
    names = dict(vars(_imported(modules))) if modules else {}
    return {**names, "__name__": "__main__", "__builtins__": vars(fresh).get("__builtins__", __builtins__)}


def _one(source: str, names: dict[str, Any], own: list[str]) -> dict[str, Any]:
    """Run one statement as a prompt would."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            sys.displayhook = sys.__displayhook__
            exec(compile(source, "<example>", "single"), names)
    except BaseException as exc:  # noqa: BLE001 - whatever an example raises is its result
        raised = [one.__name__ for one in type(exc).__mro__ if one is not object]
        return {
            "printed": said.getvalue()[:_SAID_MOST],
            "raised": raised,
            "message": _message(exc),
            "own": _is_own(exc, own),
        }
    return {"printed": said.getvalue()[:_SAID_MOST]}


def _is_own(exc: BaseException, own: list[str]) -> bool:
    """Whether what an example asks for and does not get is the project's: a name of a module or an object, an argument."""
    if isinstance(exc, ImportError):
        return (exc.name or "").partition(".")[0] in own
    asked = getattr(exc, "obj", None)
    owner = asked.__name__ if isinstance(asked, types.ModuleType) else type(asked).__module__
    if isinstance(exc, AttributeError) and asked is not None:
        return owner.partition(".")[0] in own
    trace = exc.__traceback__
    depth = 0
    while trace is not None:
        depth += 1
        trace = trace.tb_next
    return isinstance(exc, TypeError) and depth <= 2  # raised by the call that the example makes itself
