"""Start-up file of python processes that tests start: records what they execute, then runs the project's own start-up file."""

# ruff: noqa: PTH118, PTH120, PTH123
from __future__ import annotations

import atexit
import importlib.util
import json
import os
import sys
import uuid
from types import ModuleType

_OWN = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100 - plain strings for paths


def _record() -> None:
    told = os.environ.get("AGENTFORGE_TRACE")
    if not told or sys.gettrace() is not None:
        return
    setup = json.loads(told)
    start = os.path.join(setup["package"], "__init__.py")
    spec = importlib.util.spec_from_file_location("coverage", start, submodule_search_locations=[setup["package"]])
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage"] = module
    try:
        spec.loader.exec_module(module)
        with open(os.path.join(setup["out"], "now"), encoding="utf-8") as file:
            now = file.read()
        recorder = module.Coverage(
            data_file=os.path.join(setup["out"], f"child-{uuid.uuid4().hex}"), context=now, config_file=False,
            include=setup["include"], omit=setup["omit"], messages=False,
        )  # fmt: skip
        recorder.start()
    except Exception:  # noqa: BLE001 - a child that cannot record must still do what the test started it for
        recorder = None
    hidden = {name: one for name, one in sys.modules.items() if name == "coverage" or name.startswith("coverage.")}
    for name in hidden:
        del sys.modules[name]
    if recorder is not None:
        atexit.register(_save, recorder, hidden)


def _save(recorder: object, hidden: dict[str, ModuleType]) -> None:
    sys.modules.update(hidden)
    recorder.stop()  # type: ignore[attr-defined]  # a coverage.Coverage, loaded by path
    recorder.save()  # type: ignore[attr-defined]  # as above


def _next() -> None:
    """Run the start-up file that ours stands in front of."""
    for entry in sys.path:
        path = os.path.join(entry or os.curdir, "sitecustomize.py")
        if os.path.dirname(os.path.abspath(path)) != _OWN and os.path.isfile(path):  # noqa: PTH100, PTH113 - as above
            spec = importlib.util.spec_from_file_location("sitecustomize", path)
            if spec is not None and spec.loader is not None:
                module = importlib.util.module_from_spec(spec)
                sys.modules["sitecustomize"] = module
                spec.loader.exec_module(module)
            return


_record()
_next()
