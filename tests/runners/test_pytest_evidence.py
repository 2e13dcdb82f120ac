"""The evidence of a pytest run: what honest suites show, and that tricks do not pass."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from agentforge.suite.test_environment import run_tree

CALC = "def add(a, b):\n    return a + b\n"

HONEST = """
import unittest
import pytest
from calc import add

def test_pass(): assert add(1, 1) == 2
def test_fail(): assert add(1, 1) == 3
def test_raises_nothing():
    with pytest.raises(ValueError): add(1, 1)
def test_deep(): add(None, 1)
@pytest.mark.parametrize("text", ["a::b", "x[y]", "new\\nline", "nul\\x00", "sp ace", "ü"])
def test_odd(text): assert text
def test_returns(): return add(1, 1) == 3
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.mark.xfail
def test_xpass(): assert True
@pytest.mark.skip
def test_skip(): assert False
def test_no_fixture(nofixture): assert True
@pytest.fixture
def broken(): raise RuntimeError("set-up")
def test_broken_setup(broken): assert True
@pytest.fixture
def late():
    yield
    raise RuntimeError("tear-down")
def test_broken_teardown(late): assert True
class TestUnit(unittest.TestCase):
    def test_equal(self): self.assertEqual(add(1, 1), 2)
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number): self.assertEqual(number, 1)
"""


def test_every_outcome_of_an_honest_suite_is_told_by_id(project):
    made = project({"calc.py": CALC, "tests/test_a.py": HONEST, "tests/test_b.py": "from calc import nothing\n"})
    run = made.run()
    assert (run.complete, run.canary, run.agree, run.timed_out) == (True, "held", True, False)
    short = {name.removeprefix("tests/test_a.py::"): one.outcome for name, one in run.outcomes.items()}
    odd = {name for name in short if name.startswith("test_odd")}
    assert len(odd) == 6
    assert {name: outcome for name, outcome in short.items() if name not in odd} == {
        "test_pass": "passed", "test_fail": "failed", "test_raises_nothing": "failed", "test_deep": "failed",
        "test_returns": "failed", "test_xfail": "xfailed", "test_xpass": "xpassed", "test_skip": "skipped",
        "test_no_fixture": "error", "test_broken_setup": "error", "test_broken_teardown": "error",
        "TestUnit::test_equal": "passed", "TestUnit::test_parts": "failed",
    }  # fmt: skip
    why = {name.removeprefix("tests/test_a.py::"): one.failure for name, one in run.outcomes.items() if one.failure}
    assert why["test_fail"].in_test and why["test_fail"].exc_type == "AssertionError"
    assert why["test_raises_nothing"].in_test and "DID NOT RAISE" in why["test_raises_nothing"].message
    assert (why["test_deep"].in_test, why["test_deep"].file, why["test_deep"].line) == (False, "calc.py", 2)
    assert why["test_no_fixture"].message == "fixture 'nofixture' not found"
    assert why["test_returns"].exc_type == "NotAPass"
    (broken,) = run.collection_errors
    assert (broken.id, broken.failure.exc_type, broken.failure.names) == (
        "tests/test_b.py",
        "ImportError",
        ("nothing", "calc"),
    )


def test_selected_ids_run_alone_and_in_an_order_that_the_seed_decides(project):
    cases = "import pytest\n@pytest.mark.parametrize('n', range(20))\ndef test_n(n): assert n < 99\ndef test_other(): assert 1\n"
    made = project({"tests/test_a.py": cases})
    one = made.run(tests=("tests/test_a.py::test_n",), seed=1)
    other = made.run(tests=("tests/test_a.py::test_n",), seed=2)
    assert "tests/test_a.py::test_other" not in one.outcomes
    assert set(one.outcomes) == set(other.outcomes) and len(one.outcomes) == 20
    assert list(one.outcomes) != list(other.outcomes)
    assert one.complete and other.complete


FORCED = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
    report.longrepr = None
"""
SWALLOW = """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True
"""
DROP = "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'bad' not in i.name]\n"
STATUS = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
ADD_XFAIL = (
    "import pytest\ndef pytest_collection_modifyitems(items):\n    [i.add_marker(pytest.mark.xfail) for i in items]\n"
)
BAD_LATER = "import calc\ndef test_a_first(): calc.add(1, 1)\ndef test_bad(): assert calc.add(1, 1) == 3\n"
BAD = "import calc\ndef test_good(): assert True\ndef test_bad(): assert calc.add(1, 1) == 3\n"
PATCH = CALC + "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
FORGE = (
    CALC
    + """
import os
for number in range(3, 64):
    try: os.write(number, b'{"n":0,"s":"00","r":{"kind":"finished","exit":0}}\\n')
    except OSError: continue
"""
)
EXIT = (
    CALC
    + "import os, sys\nprint('tests/test_a.py::test_bad PASSED [100%]\\n2 passed in 0.01s', flush=True)\nos._exit(0)\n"
)
EXIT_LATE = CALC + "import atexit, os\n_add = add\ndef add(a, b):\n    os._exit(0)\n"
REWRITE = (
    CALC
    + """
import atexit, glob, os
def _rewrite():
    for path in glob.glob(os.path.join(os.path.dirname(os.environ["HOME"]), "junit.xml")):
        open(path, "w").write("<testsuites><testsuite/></testsuites>")
atexit.register(_rewrite)
"""
)
PLUGIN = (
    CALC
    + """
import sys
for name, module in list(sys.modules.items()):
    if hasattr(module, "Evidence"):
        module.Evidence._worse = lambda self, verdict, phase: self._current.update(outcome="passed")
"""
)
SWAP = """
import sys
def add(a, b):
    for module in list(sys.modules.values()):
        if hasattr(module, "test_bad"):
            module.test_bad.__code__ = (lambda: None).__code__
    return a + b
"""
BYTECODE = (
    CALC
    + """
import importlib.util, marshal, os, sys
import pytest
source = os.path.join(os.path.dirname(__file__), "tests", "test_b.py")
tag = f"{sys.implementation.cache_tag}-pytest-{pytest.__version__}"
cached = os.path.join(os.path.dirname(source), "__pycache__", f"test_b.{tag}.pyc")
os.makedirs(os.path.dirname(cached), exist_ok=True)
code = marshal.dumps(compile("def test_bad(): pass", source, "exec"))
digest = importlib.util.source_hash(open(source, "rb").read())
open(cached, "wb").write(importlib.util.MAGIC_NUMBER + bytes([3, 0, 0, 0]) + digest + code)
"""
)
CELLS = (
    CALC
    + """
import gc, json, types
def _encode(record):
    return json.dumps({**record, "outcome": "passed", "failure": None} if "test_bad" in str(record.get("id")) else record)
for one in gc.get_objects():
    if isinstance(one, types.FunctionType) and one.__name__ == "send" and one.__closure__:
        dict(zip(one.__code__.co_freevars, one.__closure__))["encode"].cell_contents = _encode
"""
)
SKIPS = "import pytest\ndef add(a, b):\n    pytest.skip('not here')\n"


@pytest.mark.parametrize(
    "files",
    [
        {"tests/conftest.py": FORCED}, {"tests/conftest.py": SWALLOW}, {"tests/conftest.py": DROP},
        {"tests/conftest.py": STATUS}, {"tests/conftest.py": ADD_XFAIL}, {"calc.py": PATCH}, {"calc.py": FORGE},
        {"calc.py": EXIT}, {"calc.py": EXIT_LATE}, {"calc.py": REWRITE}, {"calc.py": SKIPS},
        {"calc.py": PLUGIN}, {"calc.py": SWAP, "tests/test_a.py": BAD_LATER}, {"calc.py": CELLS},
        {"pytest.py": "import sys\nprint('2 passed')\nsys.exit(0)\n"}, {"sitecustomize.py": "import os\nos._exit(0)\n"},
        {"pytest.ini": "[pytest]\naddopts = -k good\n"}, {"json.py": "raise SystemExit(0)\n"},
    ],
    ids=["forced", "swallowed", "dropped", "status", "xfail", "patched", "forged", "exit", "exit-late", "rewritten", "skip",
         "plugin", "swapped-code", "cells",
         "shadow-pytest", "sitecustomize", "addopts", "shadow-json"],
)  # fmt: skip
def test_no_trick_makes_a_failing_test_pass_in_a_sound_run(project, files):
    run = project({"calc.py": CALC, "tests/test_a.py": BAD, **files}).run(timeout_s=20.0)
    outcome = run.outcomes.get("tests/test_a.py::test_bad")
    sound = run.complete and run.canary == "held" and run.agree
    assert not (sound and outcome is not None and outcome.passed)


def test_bytecode_that_product_code_plants_for_a_test_file_passes_nothing(project):
    files = {"calc.py": BYTECODE, "tests/test_a.py": "import calc\ndef test_a(): pass\n", "tests/test_b.py": BAD}
    run = project(files).run()
    assert run.outcomes["tests/test_b.py::test_bad"].outcome == "failed"


def test_a_report_that_a_hook_rewrites_is_not_believed(project):
    run = project({"calc.py": CALC, "tests/test_a.py": BAD, "tests/conftest.py": FORCED}).run()
    assert run.outcomes["tests/test_a.py::test_bad"].outcome == "failed"
    assert run.passed_ids == ("tests/test_a.py::test_good",)


def test_a_patched_runner_is_named(project):
    run = project({"calc.py": PATCH, "tests/test_a.py": BAD}).run()
    assert run.canary == "broken" and not run.complete
    assert any(
        "replaced parts of the test runner: _pytest.python.Function.runtest" in problem for problem in run.problems
    )


MOCKED = "from unittest.mock import Mock\ndef test_bad():\n    one = Mock()\n    one.assert_called_once()\n"
LOOSENED = "import unittest.mock\nunittest.mock.NonCallableMock.assert_called_once = lambda self: None\n"
CASE = """import unittest
class TestA(unittest.IsolatedAsyncioTestCase):
    async def test_a(self): self.assertEqual(1, 1)
    async def test_bad(self): self.assertEqual(1, 2)
"""


@pytest.mark.parametrize(
    ("conftest", "named"),
    [
        (LOOSENED, "unittest.mock.NonCallableMock.assert_called_once"),
        ("import sys\nsys.meta_path[:] = [one for one in sys.meta_path if 'Settled' not in type(one).__name__]\n" + LOOSENED,
         "unittest.mock, imported past the watch"),
        ("import unittest.async_case as a\na.IsolatedAsyncioTestCase._callTestMethod = lambda self, method: None\n",
         "unittest.async_case.IsolatedAsyncioTestCase._callTestMethod"),
    ],
    ids=["mock", "finder-gone", "async-case"],
)  # fmt: skip
def test_parts_of_the_runner_that_are_imported_later_are_watched_too(project, conftest, named):
    run = project({"tests/test_a.py": MOCKED, "tests/test_b.py": CASE, "tests/conftest.py": conftest}).run()
    assert not run.complete
    assert any(f"replaced parts of the test runner: {named}" in problem for problem in run.problems), run.problems


def test_a_pattern_by_which_pytest_takes_every_module_for_a_test_leaves_the_run_sound(project):
    doctest = 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n'
    files = {"calc.py": doctest, "tests/test_a.py": "from unittest.mock import Mock\n\n\ndef test_a():\n    assert Mock()\n",
             "tests/test_b.py": CASE, "pytest.ini": "[pytest]\npython_files = *.py\naddopts = --doctest-modules\n"}  # fmt: skip
    run = project(files).run()
    assert run.complete and run.canary == "held" and run.agree, run.problems
    assert run.passed_ids == ("calc.py::calc.one", "tests/test_a.py::test_a", "tests/test_b.py::TestA::test_a")
    run = project({**files, "tests/conftest.py": LOOSENED}).run()
    assert not run.complete and "unittest.mock.NonCallableMock.assert_called_once" in " ".join(run.problems)


def test_later_parts_come_from_where_they_lay_before_the_checkout_and_are_as_usual(project):
    code = MOCKED + (
        "def test_places():\n    import asyncio, inspect, unittest, unittest.mock\n"
        "    assert 'def assert_called_once(' in inspect.getsource(unittest.mock)\n"
        "    assert type(unittest.mock.__spec__.loader).__name__ == 'SourceFileLoader'\n"
        "    assert not hasattr(asyncio, 'fake')\n"
    )
    files = {
        "tests/test_a.py": code,
        "tests/test_b.py": CASE,
        "asyncio.py": "fake = True\n",
        "pytest.ini": "[pytest]\npythonpath = .\n",
    }
    run = project(files).run()
    assert [one.outcome for one in run.outcomes.values()] == ["failed", "passed", "passed", "failed"]
    assert run.complete and run.canary == "held" and run.agree, run.problems


def test_a_suite_that_needs_no_mocks_pays_for_none(project):
    code = "import sys\ndef test_a(): assert not {'asyncio', 'unittest.mock'} & set(sys.modules)\n"
    assert project({"tests/test_a.py": code}).run().passed_ids == ("tests/test_a.py::test_a",)


def test_a_hang_is_killed_and_the_finished_tests_are_kept(project):
    hang = "import threading\ndef test_a(): assert True\ndef test_b(): threading.Event().wait()\ndef test_c(): assert True\n"
    run = project({"tests/test_a.py": hang}).run(timeout_s=3.0)
    assert run.timed_out and not run.complete
    assert run.passed_ids == ("tests/test_a.py::test_a",)
    assert run.problems[-1] == "the suite was stopped at its time limit during tests/test_a.py::test_b"
    assert len(run.collected) == 3


def test_options_of_the_project_that_stop_early_or_spread_tests_do_not_disturb(project):
    ini = "[pytest]\naddopts = -x -n 2 --strict-markers -p no:cacheprovider\n"
    two = "def test_a(): assert False\ndef test_b(): assert False\ndef test_c(): assert True\n"
    run = project({"pytest.ini": ini, "tests/test_a.py": two}, env={}).run()
    assert [one.outcome for one in run.outcomes.values()] == ["failed", "failed", "passed"]
    assert run.complete and run.canary == "held" and run.agree


def test_a_suite_without_network_says_so_in_the_test_and_loopback_works(project, sandbox):
    if sandbox.kind == "none":
        pytest.skip("needs bubblewrap")
    code = """
import socket
def test_loopback():
    server = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(server.getsockname()).close()
    server.close()
def test_outside(): socket.create_connection(("192.0.2.1", 80), timeout=1)
"""
    run = project({"tests/test_a.py": code}).run()
    assert [one.outcome for one in run.outcomes.values()] == ["passed", "failed"]


def test_without_a_sandbox_modules_come_from_the_checkout(project, tmp_path):
    from dataclasses import replace

    from agentforge.workspace.sandbox.box import choose

    made = project(
        {"src/calc.py": CALC, "tests/test_a.py": "import calc\ndef test_a(): assert 'copy' in calc.__file__\n"}
    )
    plan = replace(made.plan, pythonpath=(str(made.path / "src"),))
    run = replace(made, plan=plan, sandbox=choose("none")).run()
    assert run.passed_ids == ("tests/test_a.py::test_a",) and run.complete
    leak = made.path / "tests" / "test_a.py"
    leak.write_text(
        f"import sys\nsys.path.insert(0, {str(made.path / 'src')!r})\nsys.modules.pop('calc', 0)\nimport calc\ndef test_a(): pass\n"
    )
    assert any(
        "from outside the checkout: calc" in problem for problem in replace(made, sandbox=choose("none")).run().problems
    )


def test_nothing_that_the_code_starts_outlives_the_run(project, sandbox):
    if sandbox.kind == "none":
        pytest.skip("without a sandbox a process can leave its group")
    daemon = (
        "import os, subprocess\n"
        "if os.fork() == 0:\n    os.setsid()\n"
        "    if os.fork() == 0:\n        os.execvp('sleep', ['sleep', '31415.9265'])\n    os._exit(0)\n"
        "subprocess.Popen(['sleep', '31415.9265'], start_new_session=True)\n"
    )
    run = project(
        {"calc.py": CALC + daemon, "tests/test_a.py": "import calc\ndef test_a(): assert calc.add(1, 1) == 2\n"}
    ).run()
    assert run.passed_ids == ("tests/test_a.py::test_a",)
    lines = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                lines.append((entry / "cmdline").read_bytes())
    assert not [line for line in lines if b"31415.9265" in line]


def test_sources_that_the_change_touches_are_the_same_after_the_run(project):
    made = project({"calc.py": CALC, "tests/test_a.py": "import calc\ndef test_a(): assert calc.add(1, 1) == 2\n"})
    tree = made.tree({"calc.py": CALC + "open(__file__, 'a').write('\\n')\n"})
    run = run_tree(made.rig(), tree, protected=("calc.py",))
    assert run.passed_ids == ()
