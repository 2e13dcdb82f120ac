"""A test that ends its own process: one finding tells which and how, and nothing is told of the tests behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentforge.contracts.catalogue import build
from agentforge.contracts.check import check
from agentforge.events.fold.verification import to_repair
from agentforge.verification.stages.endings import early_end
from agentforge.verification.stages.green import Promise, measure_green
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

FOLDER = Path(__file__).parents[2] / "src/agentforge/contracts/builtin"
CONTRACTS = build({one.stem: one.read_text("utf-8") for one in FOLDER.glob("*.yaml")}, {})
PATH = "tests/test_deep.py"
BASE = {"deep.py": "def depth(text):\n    return 0\n"}
DEPTH = {"name": "depth", "file": "deep.py", "kind": "function", "signature": "depth(text)", "change": "changed"}
DIES = "import os, signal\n\n\ndef test_very_long():\n    os.kill(os.getpid(), signal.SIGSEGV)\n\n\n"
FIRST = "from deep import depth\n\n\ndef test_short():\n    assert depth('()') == 1\n\n\n"
BEHIND = "def test_behind():\n    assert depth('(())') == 2\n\n\ndef test_empty():\n    assert depth('') == 0\n"
KINDS = {"test_short": "target", "test_very_long": "target", "test_behind": "target", "test_empty": "guard"}


def _red(project: Any, code: str, kinds: dict[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """RED's facts, and what is told of the rules that they concern."""
    made = project(BASE)
    base, red = made.tree(), made.tree({PATH: code})
    tests = [{"path": PATH, "name": name, "kind": kind} for name, kind in kinds.items()]
    facts, _ = measure_red(made.rig(), Suite(tests=tests, symbols=[DEPTH], action="fix"), base_tree=base, red_tree=red)
    return facts, _told("test_suite", facts)


def _told(contract: str, facts: dict[str, Any]) -> dict[str, str]:
    """What a stage hears of the rules about the run of its tests, as a builtin contract judges it."""
    specification = {"requirements": [{"id": "REQ-001", "verification_method": "test"}], "symbols": [DEPTH]}
    result = check(CONTRACTS.get(contract), {}, facts=facts, inputs={"specification": specification})
    about = ("controls-held", "all-tests-fail", "all-collected", "guards-pass", "has-target", "right-reason")
    findings = to_repair([one.value() for one in result.results])
    return {
        one["rule"]: one["message"] for one in findings if one["rule"] in (*about, "suite-passes", "no-regressions")
    }


def test_red_hears_once_that_a_test_ended_the_process_and_which(project):
    facts, findings = _red(project, FIRST + DIES + BEHIND, KINDS)
    assert list(findings) == ["controls-held"], findings
    assert f"signal 11 (SIGSEGV) while {PATH}::test_very_long ran" in findings["controls-held"]
    ended = facts["ended_early"]
    assert (ended["signal"], ended["running"], ended["after"]) == (11, f"{PATH}::test_very_long", f"{PATH}::test_short")
    assert ended["lost"] == [f"{PATH}::{name}" for name in ("test_very_long", "test_behind", "test_empty")]
    assert "Segmentation fault" in ended["said"] and "_a_0.py" not in ended["said"]  # no name of a planted test
    assert not facts["controls"]["held"] and not facts["all_tests_fail"] and not facts["guards_pass"]


def test_what_does_not_follow_from_the_end_is_told_beside_it(project):
    code = FIRST.replace("== 1", "== 1 + nothing") + DIES + BEHIND
    _, findings = _red(project, code, {**KINDS, "test_other": "target"})
    assert set(findings) == {"controls-held", "all-collected", "right-reason"}, findings
    assert "test_other" in findings["all-collected"] and "test_behind" not in findings["all-collected"]


def test_a_process_that_ends_before_any_test_has_a_target_is_told_as_that(project):
    _, findings = _red(project, DIES, {"test_very_long": "target"})
    assert list(findings) == ["controls-held"], findings


@pytest.mark.parametrize("status", [0, 3])
def test_an_exit_in_the_middle_is_told_with_its_code(project, status):
    facts, findings = _red(project, FIRST + f"def test_leaves():\n    __import__('os')._exit({status})\n", {"test_short": "target", "test_leaves": "target"})  # fmt: skip
    assert list(findings) == ["controls-held"] and f"exit code {status}" in findings["controls-held"], findings
    assert (facts["ended_early"]["signal"], facts["ended_early"]["exit_code"]) == (0, status)


def test_green_hears_it_of_its_change_and_of_no_test_that_has_no_result(project):
    tests = FIRST + "def test_behind():\n    assert depth('(())') == 2\n"
    made = project({**BASE, "tests/test_old.py": "def test_old():\n    pass\n"})
    base, red_tree = made.tree(), made.tree({PATH: tests})
    rows = [{"path": PATH, "name": name, "kind": "target"} for name in ("test_short", "test_behind")]
    suite = Suite(tests=rows, symbols=[DEPTH], action="fix")
    red, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red_tree, with_stubs=False)
    assert red["all_tests_fail"] and "ended_early" not in red
    dying = "import os, signal\n\n\ndef depth(text):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
    promise = Promise(red=red, baseline={"passed_ids": ["tests/test_old.py::test_old"]}, scope=("deep.py",))
    tree = made.tree({"deep.py": dying})
    facts, _ = measure_green(made.rig(), promise, base_tree=base, red_tree=red_tree, tree=tree)
    findings = _told("implementation", facts)
    assert list(findings) == ["controls-held"] and "implementation" in findings["controls-held"], findings
    assert (facts["ended_early"]["at"], facts["ended_early"]["running"]) == ("change", f"{PATH}::test_short")
    assert not facts["all_tests_pass"] and not facts["no_regressions"]


def test_a_rule_that_only_follows_from_the_end_is_still_recorded_as_broken(project):
    facts, _ = _red(project, DIES + BEHIND, {"test_very_long": "target", "test_behind": "target"})
    result = check(CONTRACTS.get("test_suite"), {}, facts=facts, inputs={"specification": {"symbols": [DEPTH]}})
    rows = {one.rule: one for one in result.results}
    follow = [rows[rule] for rule in ("all-tests-fail", "all-collected", "guards-pass", "has-target")]
    assert all(one.follows and one.refuses for one in follow) and not rows["controls-held"].follows
    assert not result.passed


RUBY = """require "minitest/autorun"

class DeepTest < Minitest::Test
  i_suck_and_my_tests_are_order_dependent!

  def test_a = assert(true)

  def test_b = Process.kill("KILL", $$)

  def test_c = assert(true)
end
"""
RUST = "#[test]\nfn a() {\n    std::process::abort()\n}\n"
MANIFEST = '[package]\nname = "deep"\nversion = "0.1.0"\nedition = "2021"\n'
CRATE = {"Cargo.toml": MANIFEST, "Cargo.lock": 'version = 3\n\n[[package]]\nname = "deep"\nversion = "0.1.0"\n'}
UNIT = """import os, signal, unittest


class TestDeep(unittest.TestCase):
    def test_a(self):
        pass

    def test_b(self):
        os.kill(os.getpid(), signal.SIGSEGV)

    def test_c(self):
        pass
"""
FOREIGN = [
    pytest.param({"deep.py": "", "tests/__init__.py": "", "tests/test_deep.py": UNIT}, "SIGSEGV", ["test_b", "test_c"]),
    pytest.param({"lib/deep.rb": "", "test/deep_test.rb": RUBY}, "SIGKILL", ["test_b", "test_c"], marks=pytest.mark.needs("ruby")),
    pytest.param({**CRATE, "src/lib.rs": "", "tests/deep.rs": RUST}, "SIGABRT", ["a"], marks=pytest.mark.needs("cargo")),
]  # fmt: skip


@pytest.mark.parametrize(("files", "name", "lost"), FOREIGN)
def test_other_runners_tell_the_signal_and_which_tests_have_no_result(project, files, name, lost):
    run = project(files, env={}).run()
    ids = [one for one in run.collected if one not in run.outcomes]
    ended = early_end([run], [*ids, *run.outcomes], at="base")["ended_early"]
    assert (ended["signal_name"], ended["lost"]) == (name, ids)
    assert [one.rpartition("::")[2] for one in ids] == lost and ended["after"] == ["", *run.outcomes][-1]


def test_a_command_that_a_signal_ends_before_it_reports_is_told_by_the_signal(project):
    files = {"a.py": "", "w.py": "import os, signal\n\nos.kill(os.getpid(), signal.SIGSEGV)\n"}
    run = project(files, command="python3 w.py {junit}").run()
    ended = early_end([run], ["tests/a.py::test_a"], at="base")["ended_early"]
    assert (ended["signal_name"], ended["lost"]) == ("SIGSEGV", ["tests/a.py::test_a"])
