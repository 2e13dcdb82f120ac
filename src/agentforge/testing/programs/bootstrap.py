"""Entry point of a test run: `INTERPRETER -s -B bootstrap.py`, instructions as JSON on stdin, results on a descriptor.

The test runner is imported before the checkout gets on `sys.path`, so nothing in the checkout can stand in for it. The
caller clears PYTHONPATH; an isolated start (`-I`) would also lose the fixed hash seed.
"""

# Plain strings for paths: pathlib is more code that a project could replace.
# ruff: noqa: PTH100, PTH118, PTH120
from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
from typing import Any


def main() -> int:
    """Read the instructions, run the suite, send the closing record.

    Side effects: leaves by `os._exit` after the closing record, so that nothing of the project runs afterwards.
    """
    setup = json.loads(sys.stdin.buffer.read())
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry and os.path.abspath(entry) != own]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    send = load("stream").open_stream(setup["descriptor"], bytes.fromhex(setup.pop("key")))
    leave = os._exit
    if setup.get("user_site"):
        _add_user_site(setup["user_site"])
    failures, tampering = load("failures"), load("tampering")
    program = load("pytest_program" if setup["runner"] == "pytest" else "unittest_program")
    gc.disable()  # nothing of what is imported here is garbage before the end
    program.prepare()
    gc.freeze()
    gc.enable()
    altered = tampering.watch()
    _enter_checkout(setup)
    recorder, reason = load("recorder").open_recorder(setup["trace"]) if setup.get("trace") else (None, "")
    following = recorder.follow(send) if recorder is not None else send
    if setup.get("mutants"):
        judging = load("pytest_judge") if setup["runner"] == "pytest" else program
        status = load("mutants_program").run(setup, send=send, judge=judging.judge, ahead=judging.ahead)
    else:
        status = program.run(setup, send=following, describe=failures.describe)
    replaced = altered(lambda path: failures.belongs(path, setup["root"]))
    leaks = _leaks(setup)
    if recorder is not None:
        recorder.close(send)
    elif reason:
        send({"kind": "no-coverage", "reason": reason})
    send({"kind": "finished", "exit": int(status), "leaks": leaks, "replaced": replaced})
    sys.stdout.flush()
    sys.stderr.flush()
    leave(int(status))
    return int(status)


def load(name: str) -> Any:
    """Load a file of this folder under a name that no project uses."""
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(f"_agentforge_{name}", os.path.join(folder, f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"the evidence file {name}.py is missing from {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _enter_checkout(setup: dict[str, Any]) -> None:
    """Put the checkout and the user's PYTHONPATH in front, as `python -m` would."""
    root, outside = setup["root"], setup.get("outside")
    if outside:
        sys.path[:] = [_moved(entry, outside, root) for entry in sys.path]
    front = [os.path.normpath(os.path.join(root, entry)) for entry in setup["roots"]]
    front += [_moved(entry, outside, root) if outside else entry for entry in setup["pythonpath"]]
    sys.path[:0] = front
    os.environ["PYTHONPATH"] = os.pathsep.join(front)


def _moved(entry: str, outside: str, root: str) -> str:
    """An entry below the user's own repository, moved to the checkout; environments stay where they are."""
    if entry == outside or (entry.startswith(outside + os.sep) and "site-packages" not in entry):
        return root + entry[len(outside) :]
    return entry


def _leaks(setup: dict[str, Any]) -> list[str]:
    """Modules that came from the user's own repository instead of the checkout."""
    outside = setup.get("outside")
    if not outside:
        return []
    found = []
    for name, module in sorted(sys.modules.copy().items()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not path.startswith(outside + os.sep) or "site-packages" in path:
            continue
        if not path.startswith((os.path.realpath(sys.prefix) + os.sep, sys.prefix + os.sep)):
            found.append(name)
    return found[:50]


def _add_user_site(path: str) -> None:
    """Add the user's site directory, which an isolated start leaves out."""
    import site

    site.addsitedir(path)


if __name__ == "__main__":
    sys.exit(main())
