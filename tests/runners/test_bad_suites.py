"""Suites that are strange or partly broken: what the base line says of them, and what a verdict still holds."""

from __future__ import annotations

import tracemalloc

import pytest

from agentforge.testing.channel import Received
from agentforge.testing.report_assembly import Canaries, assemble
from agentforge.verification.stages.baseline import measure_baseline
from agentforge.verification.stages.green import Promise, measure_green
from agentforge.workspace.processes.process import Completed
from tests.support.toolchains import need

_GOOD = "def test_{0}():\n    assert True\n"
_BROKEN = "import nowhere\n\ndef test_{0}():\n    assert True\n"


def test_a_suite_of_which_half_cannot_be_collected_is_measured_and_still_guards_the_other_half(project):
    files = {f"tests/test_{name}.py": (_GOOD if name < "c" else _BROKEN).format(name) for name in "abcd"}
    made = project({**files, "product.py": "x = 1\n"})
    base = made.tree()
    facts, evidence = measure_baseline(made.rig(), tree=base)
    assert (facts["passed"], facts["collection_errors"], facts["measured"]) == (
        2,
        ["tests/test_c.py", "tests/test_d.py"],
        True,
    )
    promise = Promise(
        red={"tests": [{"id": "tests/test_a.py::test_a"}]}, baseline=evidence, scope=("product.py", "tests/")
    )
    changed = made.tree({"product.py": "x = 2\n"})
    assert measure_green(made.rig(), promise, base_tree=base, red_tree=base, tree=changed)[0]["no_regressions"]
    worse = made.tree({"tests/test_b.py": _BROKEN.format("b")})
    facts, _ = measure_green(made.rig(), promise, base_tree=base, red_tree=base, tree=worse)
    assert (facts["no_regressions"], facts["missing"]) == (False, ["tests/test_b.py::test_b"])


def test_tests_that_write_into_the_tree_pass_and_leave_no_trace(project):
    code = (
        "from pathlib import Path\n\ndef test_writes():\n    here = Path(__file__).parent\n"
        "    (here / 'out').mkdir(exist_ok=True)\n    (here / 'out' / 'a.txt').write_text('x')\n    (here.parent / 'log').write_text('y')\n"
    )
    made = project({"tests/test_a.py": code, "log": "old"})
    tree = made.tree()
    for _ in range(2):
        facts, _ = measure_baseline(made.rig(), tree=tree)
        assert (facts["passed"], facts["measured"]) == (1, True)
    assert made.tree() == tree and (made.path / "log").read_text() == "old"


def test_tests_that_need_a_server_on_loopback_pass(project):
    code = (
        "import http.server, threading, urllib.request\n\ndef test_served():\n"
        "    server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n"
        "    threading.Thread(target=server.serve_forever, daemon=True).start()\n"
        "    opened = urllib.request.urlopen(f'http://localhost:{server.server_port}/', timeout=5)\n"
        "    assert opened.status == 200\n    opened.close()\n    server.shutdown()\n    server.server_close()\n"
    )
    run = project({"test_a.py": code}).run()
    assert run.passed_ids == ("test_a.py::test_served",), run.outcomes


def test_parameters_with_odd_characters_are_told_alike_by_both_channels_and_can_be_chosen(project):
    values = ["a::b", "[x]", "a/b", "]", "ü☃", "\0", "\x1b[0m", "a b\n", "x" * 3000, "", "\ud800", "#x00"]
    code = f"import pytest\n\n@pytest.mark.parametrize('v', {values!r})\ndef test_v(v):\n    assert v is not None\n"
    made = project({"tests/test_a.py": code})
    run = made.run()
    assert (run.complete, run.canary, run.agree, len(run.passed_ids)) == (True, "held", True, len(values)), run.problems
    for nodeid in run.outcomes:
        assert nodeid.startswith("tests/test_a.py::test_v[")
    again = made.run(tests=tuple(run.outcomes))
    assert set(again.outcomes) == set(run.outcomes) and again.complete
    promise = Promise(
        red={"tests": [{"id": one} for one in run.outcomes]}, baseline={"passed_ids": list(run.outcomes)}, repeats=1
    )
    tree = made.tree()
    assert measure_green(made.rig(), promise, base_tree=tree, red_tree=tree, tree=tree)[0]["all_tests_pass"]


def test_a_test_file_that_is_not_utf8_runs_when_it_says_so_and_is_named_when_it_does_not(project):
    made = project({"tests/test_ok.py": _GOOD.format("ok")})
    said = "# -*- coding: latin-1 -*-\ndef test_said():\n    assert len('é') == 1\n".encode("latin-1")
    (made.path / "tests" / "test_said.py").write_bytes(said)
    (made.path / "tests" / "test_silent.py").write_bytes("def test_silent():\n    assert 'é'\n".encode("latin-1"))
    facts, evidence = measure_baseline(made.rig(), tree=made.tree())
    assert evidence["passed_ids"] == ["tests/test_ok.py::test_ok", "tests/test_said.py::test_said"]
    assert facts["collection_errors"] == ["tests/test_silent.py"] and facts["measured"]


def _session(count):
    names = Canaries(first="test_x_a", late="test_x_b", end="test_x_c")
    ids = [f"tests/test_a.py::test_n[{number}]" for number in range(count)]
    plain = {"kind": "result", "duration": 0.0, "failure": None, "problems": []}
    failed = {**plain, "outcome": "failed"}
    records = [
        {"kind": "collected", "ids": ids}, {"kind": "planted", "ids": ["m.py::test_x_a", "m.py::test_x_b"]},
        {**failed, "id": "m.py::test_x_a"}, *({**plain, "id": one, "outcome": "passed"} for one in ids),
        {**failed, "id": "m.py::test_x_b"}, {**plain, "id": "m.py::test_x_c", "outcome": "passed"},
        {"kind": "finished", "exit": 1, "leaks": [], "replaced": []},
    ]  # fmt: skip
    ended = Completed(exit_code=1, output=b"", omitted_bytes=0, timed_out=False, duration_s=1.0)
    tracemalloc.start()
    run = assemble(
        Received(records=tuple(records), problems=()),
        ended,
        canaries=names,
        junit=None,
        command=("pytest",),
        runner="pytest",
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert run.complete and run.canary == "held" and len(run.passed_ids) == count
    return peak / count


def test_twenty_thousand_tests_cost_no_more_each_than_two_thousand():
    small, large = _session(2_000), _session(20_000)
    assert large < 1.5 * small  # bytes for each test


@pytest.mark.parametrize(
    ("program", "files", "test", "code", "name"),
    [
        ("node", {"package.json": '{"type": "module"}', "a.js": ""}, "test/b.test.js",
         'import test from "node:test";\ntest("b", () => {});\n', "b"),
        ("go", {"go.mod": "module example.org/a\n\ngo 1.19\n", "a.go": "package a\n"}, "b_test.go",
         'package a\n\nimport "testing"\n\nfunc TestB(t *testing.T) {}\n', "TestB"),
        ("cargo", {"Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": ""}, "tests/b.rs",
         "#[test]\nfn b() {}\n", "b"),
    ],
)  # fmt: skip
def test_a_project_without_tests_has_a_base_line_and_a_runner_for_its_first_one(
    project, program, files, test, code, name
):
    need(program)
    made = project(files, env={})
    facts, _ = measure_baseline(made.rig(), tree=made.tree())
    assert (facts["tests"], facts["measured"], facts["canary"]) == (0, True, "held"), facts
    facts, evidence = measure_baseline(made.rig(), tree=made.tree({test: code}))
    assert evidence["passed_ids"] == [f"{test}::{name}"]
