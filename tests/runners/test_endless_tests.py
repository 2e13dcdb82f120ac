"""Tests that loop for ever against wrong code: what waits for them, for how long, and what is still found out behind them.

The limits that the runners pass to their programs are asserted, never how long something took.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from agentforge.languages.stub_values import Variant
from agentforge.testing.outcome import SuiteRun
from agentforge.verification.counterexamples.patience import Patience
from agentforge.verification.counterexamples.stub_runs import run_stubs, stub_note
from agentforge.verification.stages.plain_process_checks import Outside, measure_outside
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Sandbox

_LIMIT_S = 900.0
_LEAST_S = 10.0


@dataclass
class Recording:
    """A sandbox that writes down what it was asked to run and for how long."""

    sandbox: Sandbox
    asked: list[tuple[list[str], float]] = field(default_factory=list)

    @property
    def kind(self) -> Any:
        return self.sandbox.kind

    @property
    def network(self) -> Any:
        return self.sandbox.network

    def run(self, argv: Any, *, box: Any, **bounds: Any) -> Completed:
        self.asked.append(([str(one) for one in argv], float(bounds["timeout_s"])))
        return self.sandbox.run(argv, box=box, **bounds)


@pytest.fixture
def recorded(project: Callable[..., Any]) -> Callable[..., tuple[Any, Recording]]:
    def make(files: dict[str, str], **settings: Any) -> tuple[Any, Recording]:
        made = project(files, **settings)
        recording = Recording(made.sandbox)
        return replace(made, sandbox=recording), recording

    return make


_CUT = 'package cut\n\nfunc First(text string) (string, string) {\n\treturn text, ""\n}\n'
_CUT_TEST = """package cut

import "testing"

func TestAll(t *testing.T) {
	parts, rest, part := 0, "abc", ""
	for len(rest) > 0 {
		part, rest = First(rest)
		parts += len(part)
	}
	if _, second := First("abc"); second != "bc" {
		t.Fatal(parts)
	}
}

func TestWeak(t *testing.T) {
	if first, _ := First("abc"); first == "abc" {
		t.Fatal(first)
	}
}
"""


def _go_limits(recording: Recording) -> list[float]:
    """The limits in seconds that Go's test programs were given, one for each time that one ran."""
    found = [re.search(r"^-test\.timeout=(\d+)ms$", word) for argv, _ in recording.asked for word in argv]
    return [int(one[1]) / 1000 for one in found if one is not None]


@pytest.mark.needs("go")
def test_a_stub_that_lets_go_tests_loop_for_ever_costs_seconds_and_hides_no_weak_test_behind_them(recorded):
    made, recording = recorded({"go.mod": "module cut\n\ngo 1.19\n", "cut.go": _CUT}, env={})
    base, red_tree = made.tree(), made.tree({"cut_test.go": _CUT_TEST})
    names = ("TestAll", "TestWeak")
    suite = Suite(
        tests=[{"path": "cut_test.go", "name": name, "kind": "target"} for name in names],
        symbols=[{"name": "First", "file": "cut.go", "kind": "function", "change": "changed",
                  "signature": "func First(text string) (string, string)"}],
        action="fix",
    )  # fmt: skip
    red, _ = measure_red(made.rig(timeout_s=_LIMIT_S), suite, base_tree=base, red_tree=red_tree)
    limits = _go_limits(recording)
    assert limits[0] == _LIMIT_S  # the new tests at the base
    assert len(limits) < 20 and max(limits[1:]) < _LEAST_S, limits
    weak = {(one["stub"], one["id"]) for one in red["stub_survivors"]}
    assert weak == {("wrong", "cut_test.go::TestWeak"), ("any value", "cut_test.go::TestWeak")}, red
    assert (red["controls"]["stubs"], red["stub_note"]) == (True, "")


@pytest.mark.needs("go")
def test_the_rounds_of_a_package_share_one_limit_and_the_test_that_does_not_end_is_named(recorded):
    loops = "\n".join(f"func Test{name}(t *testing.T) {{\n\tfor {{\n\t}}\n}}" for name in ("A", "B", "C", "D"))
    files = {
        "go.mod": "module loops\n\ngo 1.19\n",
        "a.go": "package loops\n",
        "a_test.go": f'package loops\n\nimport "testing"\n\nfunc TestFine(t *testing.T) {{}}\n\n{loops}\n',
    }
    made, recording = recorded(files, env={})
    run = made.run(timeout_s=_LIMIT_S, tests_s=2.0)
    assert run.timed_out and len(_go_limits(recording)) <= 2
    assert run.outcomes["a_test.go::TestFine"].passed
    assert run.outcomes["a_test.go::TestA"].outcome == "failed"
    boxes = [limit for argv, limit in recording.asked if "-test.paniconexit0" in argv]
    assert min(boxes) > max(_go_limits(recording))  # else nobody is told which test it was


_CARGO = {
    "Cargo.toml": '[package]\nname = "cut"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "cut"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub fn rest(text: &str) -> String {\n    let _ = text;\n    String::new()\n}\n",
}
_CARGO_TEST = """use cut::rest;

#[test]
fn all() {
    let mut left = String::from("abc");
    while !left.is_empty() {
        left = rest(&left);
    }
    assert_eq!(rest("abc"), "bc");
}
"""


@pytest.mark.needs("cargo")
def test_a_stub_that_lets_a_test_of_cargo_loop_for_ever_costs_seconds(recorded):
    made, recording = recorded(_CARGO, env={})
    base, red_tree = made.tree(), made.tree({"tests/rest.rs": _CARGO_TEST})
    suite = Suite(
        tests=[{"path": "tests/rest.rs", "name": "all", "kind": "target"}],
        symbols=[{"name": "rest", "file": "src/lib.rs", "kind": "function", "change": "changed",
                  "signature": "pub fn rest(text: &str) -> String"}],
        action="fix",
    )  # fmt: skip
    red, _ = measure_red(made.rig(timeout_s=_LIMIT_S), suite, base_tree=base, red_tree=red_tree)
    limits = [limit for argv, limit in recording.asked if argv[0] == "sh"]
    programs = limits.count(_LIMIT_S)  # the library and the new tests at the base
    assert programs == 2 and max(limits[programs:]) <= _LEAST_S, limits
    assert (red["stub_survivors"], red["controls"]["stubs"]) == ([], True), red


_SHOP = {"shop.py": "def total(prices):\n    return 0\n", "tests/test_old.py": "def test_old():\n    pass\n"}
_TOTAL = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
_VARIANTS = [
    Variant(name=name, hard=name == "wrong", files={"shop.py": f"def total(prices):\n    return {value}\n"})
    for name, value in (("raises", "1 / 0"), ("wrong", "7"), ("empty", "None"), ("other", "8"))
]


def test_when_the_time_for_all_stubs_is_over_the_others_are_left_out_and_it_is_said(recorded):
    made, _ = recorded(_SHOP)
    tree = made.tree({"tests/test_total.py": _TOTAL})
    rig = made.rig(timeout_s=_LIMIT_S)
    done = run_stubs(Patience(rig=rig, ends=0.0), tree, ["tests/test_total.py"], _VARIANTS)
    assert (list(done.runs), [one.name for one in done.made], done.late) == (["raises", "wrong"],) * 2 + (2,)
    assert stub_note(done, rig, with_stubs=True).startswith("2 ")
    enough = run_stubs(Patience.after(rig, SuiteRun(duration_s=_LIMIT_S)), tree, ["tests/test_total.py"], _VARIANTS)
    assert (len(enough.runs), enough.late, stub_note(enough, rig, with_stubs=True)) == (4, 0, "")


def test_targets_on_wrong_bodies_wait_for_the_suite_of_the_base_several_times_over_and_no_longer(recorded):
    made, recording = recorded(_SHOP)
    base = made.tree({"tests/test_total.py": _TOTAL})
    tree = made.tree({"shop.py": "def total(prices):\n    return sum(prices)\n"})
    given = Outside(targets=["tests/test_total.py::test_total"])
    for usual_s, most_s in ((0.5, 60.0), (30.0, 160.0)):
        recording.asked.clear()
        measure_outside(made.rig(timeout_s=_LIMIT_S, usual_s=usual_s), given, base_tree=base, tree=tree)
        suites = [limit for argv, limit in recording.asked if argv[-1].endswith("bootstrap.py")]
        assert suites == [most_s], recording.asked
