"""node:test, vitest, jest, mocha, go and cargo on real projects: outcomes by id, planted tests, and what a cheat reaches."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import ToolchainError
from agentforge.suite.detection import detect
from agentforge.testing.outcome import is_hook
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite
from tests.support.toolchains import need

_MODULES = Path(
    os.environ.get("AGENTFORGE_TEST_NODE_MODULES")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-tests"
)
_BODY = """
test("adds", () => { check(add(1, 1), 2); });
describe("group", () => {
  test("fails [x]::y", () => { check(add(1, 1), 3); });
  test("about", () => { add.slugify(1); });
});
test.skip("later", () => {});
test("undefined", () => { nothing(); });
"""
_SOURCE = "export function add(a, b) { return a + b; }\n"
_CJS = "module.exports = { add: (a, b) => a + b };\n"
_TWO = 'test("good", () => {});\ntest("bad", () => { throw new Error("no"); });\n'
_PROJECTS = {
    "node": ({"package.json": '{"type": "module", "scripts": {"test": "node --test"}}', "calc.js": _SOURCE},
             "test/a.test.js", 'import {test, describe} from "node:test"; import assert from "node:assert";'
             'import {add} from "../calc.js"; const check = assert.equal;\n'),
    "vitest": ({"package.json": '{"type": "module", "scripts": {"test": "vitest --bail=1"}}', "calc.js": _SOURCE},
               "test/a.test.ts", 'import {test, describe, expect} from "vitest";'
               'import {add} from "../calc.js"; const check = (a: number, b: number) => expect(a).toBe(b);\n'),
    "jest": ({"package.json": '{"scripts": {"test": "jest --bail"}}', "calc.js": _CJS}, "__tests__/a.js",
             'const {add} = require("../calc.js"); const check = (a, b) => expect(a).toBe(b);\n'),
    "mocha": ({"package.json": '{"scripts": {"test": "mocha --bail"}}', "calc.js": _CJS}, "test/a.js",
              'const {add} = require("../calc.js"); const check = require("assert").equal; const test = it;\n'),
}  # fmt: skip


@pytest.fixture(params=list(_PROJECTS))
def javascript(request, project):
    """Make a project for one of the JavaScript runners: `javascript({path: text})` -> (Project, its test file)."""
    tool = request.param
    _need_modules(tool)

    def make(body, **more):
        files, path, head = _PROJECTS[tool]
        made = project({**files, ".gitignore": "node_modules\n", path: head + body, **more}, env={})
        if tool == "node":
            return made, path
        return _with_modules(made, tool), path

    return make


def _need_modules(tool):
    need("node")
    if tool != "node" and not (_MODULES / tool / "node_modules").is_dir():
        pytest.skip(f"{tool} is not in {_MODULES}: run scripts/javascript_runners.sh")


def _with_modules(made, tool):
    copy = ["cp", "-al", str(_MODULES / tool / "node_modules"), str(made.path / "node_modules")]
    if subprocess.run(copy, capture_output=True).returncode:
        subprocess.run(["cp", "-a", *copy[2:]], check=True)
    return replace(made, plan=detect(made.path, settings={}))


def test_javascript_outcomes_are_told_by_file_and_title(javascript):
    made, path = javascript(_BODY)
    run = made.run()
    assert (run.complete, run.canary, run.problems) == (True, "held", ())
    short = {name.removeprefix(f"{path}::"): one.outcome for name, one in run.outcomes.items()}
    assert short == {
        "adds": "passed", "group > fails [x]::y": "failed", "group > about": "failed", "later": "skipped", "undefined": "failed",
    }  # fmt: skip
    why = {name.rpartition(" > ")[2].rpartition("::")[2]: one.failure for name, one in run.outcomes.items()}
    assert (why["y"].exc_type, why["y"].in_test, why["y"].file) == ("AssertionError", True, path)
    assert why["about"].names == ("slugify",) and why["about"].in_test
    assert (why["undefined"].exc_type, why["undefined"].names) == ("NameError", ("nothing",))


def test_a_javascript_suite_that_leaves_early_or_hides_its_tests_does_not_pass(javascript):
    made, path = javascript('test("first", () => { process.exit(0); });\ntest("second", () => { check(1, 2); });\n')
    run = made.run()
    assert f"{path}::second" not in run.passed_ids and not (run.complete and f"{path}::first" in run.passed_ids)
    if made.plan.runner not in ("vitest", "mocha"):
        return  # node heeds `only` when it is told to, jest calls the others pending
    made, path = javascript('test.only("one", () => {});\ntest("two", () => { check(1, 2); });\n')
    assert f"{path}::two" not in made.run().passed_ids


@pytest.mark.parametrize(
    ("words", "path", "settings"),
    [
        (".", "test/test.js", {}),
        ("--testPathIgnorePatterns old other", "test/a.spec.js", {}),
        ("", "lib/cases/test.js", {"testMatch": ["**/cases/*.js"]}),
    ],
)
def test_the_paths_of_a_script_of_jest_say_where_its_tests_are_and_hide_no_planted_one(project, words, path, settings):
    _need_modules("jest")
    package = json.dumps({"scripts": {"test": f"jest {words}".strip()}, "jest": settings})
    others = {"a.test.js": _TWO} if settings else {}  # the first by its path, which the setting keeps out
    made = project({"package.json": package, ".gitignore": "node_modules\n", path: _TWO, **others}, env={})
    made = _with_modules(made, "jest")
    for run in (made.run(), made.run(tests=(path,))):
        assert (run.canary, run.complete, run.problems) == ("held", True, ())
        assert {name: one.outcome for name, one in run.outcomes.items()} == {
            f"{path}::good": "passed",
            f"{path}::bad": "failed",
        }


def test_files_that_mocha_cannot_load_leave_the_others(project):
    """Mocha itself gives up at the first of them, before anything has run."""
    _need_modules("mocha")
    missing = 'const { slug } = require("../slug.js");\nit("NAME", () => { slug("a"); });\n'
    files = {"package.json": '{"scripts": {"test": "mocha"}}', ".gitignore": "node_modules\n"}
    broken = {f"test/{name}.js": missing.replace("NAME", name) for name in ("a", "c")}
    made = project({**files, "test/b.js": _TWO.replace("test(", "it("), **broken}, env={})
    made = _with_modules(made, "mocha")
    for tests in ((), ("test/a.js", "test/b.js", "test/c.js")):
        run = made.run(tests=tests)
        assert (run.canary, run.complete, run.problems) == ("held", True, ())
        assert [one.id for one in run.collection_errors] == ["test/a.js", "test/c.js"]
        assert {name: one.outcome for name, one in run.outcomes.items()} == {
            "test/b.js::good": "passed", "test/b.js::bad": "failed",
        }  # fmt: skip
    alone = made.run(tests=("test/a.js", "test/c.js"))
    assert (alone.canary, alone.complete, alone.outcomes) == ("held", True, {})
    assert [one.id for one in alone.collection_errors] == ["test/a.js", "test/c.js"]


def test_what_tests_of_jest_leave_open_ends_with_the_run(project):
    _need_modules("jest")
    body = "test('serves', () => { require('net').createServer().listen(0); });\n"
    files = {"package.json": '{"scripts": {"test": "jest"}}', ".gitignore": "node_modules\n"}
    made = _with_modules(project({**files, "__tests__/a.js": body}, env={}), "jest")
    run = made.run(timeout_s=100.0)
    assert {name: one.outcome for name, one in run.outcomes.items()} == {"__tests__/a.js::serves": "passed"}
    assert (run.complete, run.timed_out, run.canary, run.problems) == (True, False, "held", ())


def test_a_test_of_jest_sees_no_word_that_we_gave_the_runner(project):
    """A program under test may read the words of its command line."""
    _need_modules("jest")
    files = {"package.json": '{"scripts": {"test": "jest"}}', ".gitignore": "node_modules\n"}
    path, body = "test/a.test.js", 'test("words", () => { expect(process.argv.slice(2)).toEqual([]); });\n'
    made = _with_modules(project({**files, path: body}, env={}), "jest")
    for run in (made.run(), made.run(tests=(path,)), made.run(seed=1)):
        assert (run.complete, run.passed_ids) == (True, (f"{path}::words",))


_STARTS = {
    "calc.js": "const add = (a, b) => a + b;\nif (add(1, 1) !== 2) throw new Error('cannot start');\nmodule.exports = { add };\n",
    "test/old.js": 'const calc = require("../calc.js");\nit("two", () => { require("assert").equal(calc.add(1, 1), 2); });\n',
    "test/new.js": 'const calc = require("../calc.js");\nit("three", () => { require("assert").equal(calc.add("1", 2), 3); });\n',
}


def _of_mocha(project, files):
    _need_modules("mocha")
    package = json.dumps({"scripts": {"test": "mocha --timeout 5000 -- 'test/**/*.js'"}})
    return _with_modules(project({"package.json": package, ".gitignore": "node_modules\n", **files}, env={}), "mocha")


def test_a_named_file_of_mocha_is_run_without_those_of_the_script(project):
    made = _of_mocha(project, {**_STARTS, "test/old.js": 'throw new Error("cannot be loaded");\n'})
    assert [one.id for one in made.run().collection_errors] == ["test/old.js"]
    run = made.run(tests=("test/new.js",))
    assert (run.canary, run.complete, {name: one.outcome for name, one in run.outcomes.items()}) == (
        "held", True, {"test/new.js::three": "failed"},
    )  # fmt: skip


def test_a_stub_that_keeps_a_javascript_project_from_starting_refuses_no_test(project):
    symbol = {"name": "add", "file": "calc.js", "kind": "function", "signature": "add(a, b)", "change": "changed"}
    made = _of_mocha(project, {path: text for path, text in _STARTS.items() if path != "test/new.js"})
    suite = Suite(
        tests=[{"path": "test/new.js", "name": "three", "kind": "target"}], symbols=[symbol], modified=["calc.js"],
        action="fix",
    )  # fmt: skip
    base = made.tree()
    red = made.tree({"test/new.js": _STARTS["test/new.js"]})
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red)
    assert (facts["controls"]["held"], facts["controls"]["stubs"], facts["stub_survivors"]) == (True, True, [])


def test_a_configuration_of_vitest_that_takes_files_by_another_name_hides_no_planted_one(project):
    _need_modules("vitest")
    test = 'import {test} from "vitest";\ntest("good", () => {});\n'
    files = {"package.json": '{"type": "module", "scripts": {"test": "vitest run ."}}', "src/a.check.ts": test, "test/a.test.ts": test,
             "vitest.config.mjs": 'export default {test: {include: ["src/*.check.ts"]}};\n', ".gitignore": "node_modules\n"}  # fmt: skip
    run = _with_modules(project(files, env={}), "vitest").run()
    assert (run.canary, run.complete, run.problems) == ("held", True, ())
    assert run.passed_ids == ("src/a.check.ts::good",)


@pytest.fixture
def go(project):
    """Make a Go module, built with the cache of this machine."""
    need("go")
    return lambda files: project({"go.mod": "module example.org/calc\n\ngo 1.19\n", **files}, env={})


_GO = """package calc

import ("fmt"; "testing")

func TestGood(t *testing.T) { fmt.Println("\\n--- PASS: TestForged (0.00s)\\n--- PASS: TestBad (0.00s)") }
func TestBad(t *testing.T)  { if Add(1, 1) != 3 { t.Errorf("got %d", Add(1, 1)) } }
func TestSkip(t *testing.T) { t.Skip("later") }
func TestCases(t *testing.T) {
	for _, name := range []string{"a b", "x/y", "[q]::z"} {
		t.Run(name, func(t *testing.T) { if name == "x/y" { t.Error("no") } })
	}
}
func TestPanic(t *testing.T) { panic("boom") }
func TestAfter(t *testing.T) {}
"""


def test_go_outcomes_are_told_by_file_and_a_panic_hides_nothing(go):
    broken = 'package bad\n\nimport "testing"\n\nfunc TestB(t *testing.T) { Slug(1) }\n'
    made = go({"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n", "calc_test.go": _GO,
               "bad/b.go": "package bad\n", "bad/b_test.go": broken})  # fmt: skip
    run = made.run()
    assert (run.complete, run.canary, run.problems) == (True, "held", ())
    assert {name.removeprefix("calc_test.go::"): one.outcome for name, one in run.outcomes.items()} == {
        "TestGood": "passed", "TestBad": "failed", "TestSkip": "skipped", "TestCases": "failed", "TestCases[a_b]": "passed",
        "TestCases[x/y]": "failed", "TestCases[[q]::z]": "passed", "TestPanic": "failed", "TestAfter": "passed",
    }  # fmt: skip
    assert [(one.id, one.failure.exc_type, one.failure.names) for one in run.collection_errors] == [
        ("bad/b_test.go", "ImportError", ("Slug",))
    ]


@pytest.mark.parametrize("main", ["os.Exit(0)", "m.Run(); os.Exit(0)"])
def test_a_go_main_that_leaves_with_success_voids_the_run(go, main):
    code = f'package calc\n\nimport ("os"; "testing")\n\nfunc TestMain(m *testing.M) {{ {main} }}\nfunc TestBad(t *testing.T) {{ t.Fail() }}\n'
    run = go({"calc.go": "package calc\n", "calc_test.go": code}).run()
    assert not run.complete and "calc_test.go::TestBad" not in run.passed_ids


_RUST = """#![deny(warnings)]
/// Add.
pub fn add(a: i32, b: i32) -> i32 { a + b }
mod inner;
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { assert_eq!(add(1, 1), 2); }
    #[test]
    fn wrong() { assert_eq!(add(1, 1), 3, "why"); }
    #[test]
    #[ignore]
    fn later() {}
}
"""


@pytest.mark.needs("cargo")
def test_cargo_outcomes_are_told_by_file_and_one_broken_target_leaves_the_others(project):
    files = {
        "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": _RUST,
        "src/inner.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn open() { todo!() }\n}\n",
        "tests/a.rs": "#[test]\nfn sums() { assert!(calc::add(1, 2) == 3); }\n",
        "tests/b.rs": "use calc::slugify;\n#[test]\nfn slug() { slugify(); }\n",
        "tests/c.rs": "#[test]\nfn leaves() { std::process::exit(0); }\n",
    }  # fmt: skip
    run = project(files, env={}).run(timeout_s=120.0)
    assert {name: one.outcome for name, one in run.outcomes.items()} == {
        "src/lib.rs::tests::adds": "passed", "src/lib.rs::tests::wrong": "failed", "src/lib.rs::tests::later": "skipped",
        "src/inner.rs::tests::open": "failed", "tests/a.rs::sums": "passed",
    }  # fmt: skip
    assert run.outcomes["src/inner.rs::tests::open"].failure.exc_type == "NotImplementedError"
    assert run.outcomes["src/lib.rs::tests::wrong"].failure.in_test
    assert [(one.id, one.failure.names) for one in run.collection_errors] == [("tests/b.rs", ("slugify",))]
    assert not run.complete and "tests/c.rs::leaves" in run.problems[0]  # it left, and took its result with it


@pytest.mark.needs("cargo")
def test_a_test_file_that_the_configuration_leaves_out_has_no_tests_and_takes_no_result_with_it(project):
    files = {
        "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n\n[features]\nextra = []\n',
        "src/lib.rs": "pub fn one() -> u8 { 1 }\n",
        "tests/a.rs": "#[test]\nfn is_one() { assert_eq!(calc::one(), 1); }\n",
        "tests/extra.rs": '#![cfg(feature = "extra")]\n#[test]\nfn more() { assert_eq!(calc::one(), 2); }\n',
    }
    run = project(files, env={}).run(timeout_s=120.0)
    assert {name: one.outcome for name, one in run.outcomes.items()} == {"tests/a.rs::is_one": "passed"}
    assert (run.complete, run.canary, run.problems) == (True, "held", ())


_NOISY = """
pub fn one() -> u32 { 1 }
#[cfg(test)]
mod tests {
    use std::io::Write;
    #[test]
    fn writes_notes() { for i in 0..20000 { std::io::stderr().write_all(format!("note {i} ").as_bytes()).unwrap(); } }
    #[test]
    fn long() { println!("{}", "x".repeat(5000)); panic!("{}", "y".repeat(3000)); }
    #[test]
    fn longer() { println!("{}", "x".repeat(9000)); panic!("{}", "y".repeat(3000)); }
}
"""


@pytest.mark.needs("cargo")
def test_rules_that_a_macro_of_the_crate_lacks_yet_are_no_mistake_of_the_tests(project):
    made = project(
        {"Cargo.toml": '[package]\nname = "mac"\nversion = "0.1.0"\nedition = "2018"\n',
         "src/lib.rs": "#[macro_export]\nmacro_rules! fields {\n    ($name:ident) => { pub fn $name() -> u8 { 1 } };\n}\n"}, env={},
    )  # fmt: skip
    base = made.tree()

    def red(text):
        tests = [{"path": "tests/a.rs", "name": "one_is_one", "kind": "target"}]
        symbols = [{"name": "fields", "file": "src/lib.rs", "kind": "macro", "change": "changed"}]
        suite = Suite(tests=tests, symbols=symbols, action="fix")
        return measure_red(made.rig(timeout_s=120.0), suite, base_tree=base, red_tree=made.tree({"tests/a.rs": text}))[
            0
        ]

    honest = 'mac::fields!(#[doc = "x"] one);\n#[test]\nfn one_is_one() { assert_eq!(one(), 1); }\n'
    facts = red(honest)
    assert facts["right_reason"], (facts["tests"], facts["collection_errors"])
    assert not red("#[test]\nfn one_is_one() { let v: Vec<u8> = vec![;]; }\n")["right_reason"]


@pytest.mark.needs("cargo")
def test_what_tests_of_a_crate_write_to_standard_error_takes_no_result_with_it(project):
    files = {"Cargo.toml": '[package]\nname = "noisy"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": _NOISY}
    run = project(files, env={}).run(timeout_s=120.0)
    assert {name.rpartition("::")[2]: one.outcome for name, one in run.outcomes.items()} == {
        "writes_notes": "passed", "long": "failed", "longer": "failed",
    }  # fmt: skip
    assert run.complete and run.canary == "held" and "note 19999 " in run.output_tail


@pytest.mark.needs("go")
def test_a_folder_with_a_module_of_its_own_is_told_and_no_crash(project):
    files = {
        "go.mod": "module example.org/a\n\ngo 1.19\n", "a.go": "package a\n",
        "b/go.mod": "module example.org/b\n\ngo 1.19\n", "b/b.go": "package b\n",
        "b/b_test.go": 'package b\n\nimport "testing"\n\nfunc TestB(t *testing.T) {}\n',
    }  # fmt: skip
    made = project(files, env={})
    with pytest.raises(ToolchainError, match=r"go list failed: .*b"):
        made.run(tests=("b/b_test.go",), timeout_s=100.0)


_NOISY_GO = """package noisy

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func init() { fmt.Print("half a line"); fmt.Fprint(os.Stderr, "half a note") }

func TestNoisy(t *testing.T) {
	for i := 0; i < 20000; i++ {
		fmt.Fprintf(os.Stderr, "note %d ", i)
	}
	fmt.Print("no line break")
}

func TestLong(t *testing.T) { t.Parallel(); fmt.Print("open "); t.Error(strings.Repeat("y", 3000)) }
func TestSays(t *testing.T) { fmt.Print("a line of another run --- FAIL: TestNoisy (0.00s)") }
"""


@pytest.mark.needs("go")
def test_what_tests_of_a_package_print_takes_no_result_with_it(project):
    files = {"go.mod": "module noisy\n\ngo 1.19\n", "a.go": "package noisy\n", "a_test.go": _NOISY_GO}
    run = project(files, env={}).run(timeout_s=120.0)
    assert {name: one.outcome for name, one in run.outcomes.items()} == {
        "a_test.go::TestNoisy": "passed", "a_test.go::TestLong": "failed", "a_test.go::TestSays": "passed",
    }  # fmt: skip
    assert run.complete and run.canary == "held"


_OLD_CARGO = """#!/bin/sh
case "$*" in
  *--keep-going*) echo 'error: the `--keep-going` flag is unstable, pass `-Z unstable-options` to enable it' >&2; exit 101 ;;
esac
exec cargo "$@"
"""


@pytest.mark.needs("cargo")
def test_a_cargo_that_cannot_keep_going_builds_target_by_target(project):
    """As the one of Debian 12."""
    from dataclasses import replace

    files = {
        "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n', "old-cargo": _OLD_CARGO,
        "src/lib.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn holds() {}\n}\n",
        "tests/b.rs": "use calc::slugify;\n#[test]\nfn slug() { slugify(); }\n",
    }  # fmt: skip
    made = project(files, env={})
    (made.path / "old-cargo").chmod(0o755)
    run = replace(made, plan=replace(made.plan, command=("./old-cargo", *made.plan.command[1:]))).run(timeout_s=120.0)
    assert {name: one.outcome for name, one in run.outcomes.items()} == {"src/lib.rs::tests::holds": "passed"}
    assert [(one.id, one.failure.names) for one in run.collection_errors] == [("tests/b.rs", ("slugify",))]


def test_linked_packages_are_lent_and_a_build_runs_before_the_tests(project, tmp_path):
    need("node")
    shared = tmp_path / "elsewhere" / "node_modules"
    (shared / "adder").mkdir(parents=True)
    (shared / "adder" / "index.js").write_text("module.exports = (a, b) => a + b;\n")
    build = "mkdir -p dist/test && cp test/a.test.js dist/test/ && cp calc.js dist/"
    test = 'const test = require("node:test"); const assert = require("node:assert");\ntest("adds", () => assert.equal(require("../calc.js")(1, 1), 2));\n'
    made = project(
        {"package.json": '{"scripts": {"pretest": "sh build.sh", "test": "node --test dist/test/*.js && size-limit"}}', "build.sh": build,
         "calc.js": 'module.exports = require("adder");\n', "test/a.test.js": test, ".gitignore": "node_modules\ndist\n"}, env={},
    )  # fmt: skip
    (made.path / "node_modules").symlink_to(shared)
    from dataclasses import replace

    from agentforge.suite.detection import detect
    from agentforge.verification.stages.baseline import measure_baseline

    made = replace(made, plan=detect(made.path, settings={}))
    assert (made.plan.prepare, made.plan.left_out) == (("sh build.sh",), ("size-limit (a check, no tests)",))
    facts, evidence = measure_baseline(made.rig(), tree=made.tree())
    assert (evidence["outcomes"], facts["measured"]) == ({"test/a.test.js::adds": "passed"}, True), facts


def test_a_hook_that_fails_is_told_and_is_no_test(project):
    _need_modules("mocha")
    body = 'describe("kit", () => { before(() => { require("../kit.js"); }); it("slugs", () => {}); });\n'
    files = {"package.json": '{"scripts": {"test": "mocha"}}', ".gitignore": "node_modules\n", "test/a.js": body}
    run = _with_modules(project(files, env={}), "mocha").run()
    (hook,) = run.outcomes
    assert is_hook(hook) and not is_hook("test/a.js::kit > slugs") and not is_hook("test/a.js::says before hook")
