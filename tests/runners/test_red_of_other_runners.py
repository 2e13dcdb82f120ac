"""RED in other languages: a missing symbol that was declared is the right reason, a typo is not, guards are heard."""

from __future__ import annotations

import pytest

from agentforge.verification.stages.baseline import measure_baseline
from agentforge.verification.stages.green import Promise, measure_green
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite
from tests.support.toolchains import need

_GO = 'package textkit\n\nimport "testing"\n\nfunc Test{0}(t *testing.T) {{\n\tif {1}("A B") != "{2}" {{\n\t\tt.Fatal("no")\n\t}}\n}}\n'
_NODE = 'import assert from "node:assert";\nimport {{ test }} from "node:test";\nimport {{ {1} }} from "../textkit.js";\ntest("{0}", () => assert.equal({1}("A B"), "{2}"));\n'
_RUST = 'use textkit::{1};\n#[test]\nfn {0}() {{\n    assert_eq!({1}("A B"), "{2}");\n}}\n'
_RUST_LIB = 'pub fn shout(text: &str) -> String {{ format!("{{}}!", text) }}\n{0}'
_LANGUAGES = {
    "node": {
        "files": {"package.json": '{"type": "module"}', "textkit.js": "export const shout = (text) => `${text}!`;\n"},
        "product": "textkit.js", "test": "test/slug.test.js", "guard": "test/guard.test.js", "code": _NODE,
        "names": ("lowers", "slug", "shouts", "shout"), "typo": "slgu",
        "done": "export const shout = (text) => `${text}!`;\nexport const slug = (text) => text.toLowerCase();\n",
        "wrong": "export const shout = (text) => `${text}!`;\nexport const slug = (text) => text;\n",
    },
    "go": {
        "files": {"go.mod": "module example.org/textkit\n\ngo 1.19\n",
                  "textkit.go": 'package textkit\n\nfunc Shout(text string) string { return text + "!" }\n'},
        "product": "textkit.go", "test": "slug_test.go", "guard": "guard_test.go", "code": _GO,
        "names": ("Lowers", "Slug", "Shouts", "Shout"), "typo": "Slgu",
        "done": 'package textkit\n\nimport "strings"\n\nfunc Shout(text string) string { return text + "!" }\n'
        "func Slug(text string) string { return strings.ToLower(text) }\n",
        "wrong": 'package textkit\n\nfunc Shout(text string) string { return text + "!" }\nfunc Slug(text string) string { return text }\n',
    },
    "cargo": {
        "files": {"Cargo.toml": '[package]\nname = "textkit"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": _RUST_LIB.format(""),
                  "Cargo.lock": 'version = 3\n\n[[package]]\nname = "textkit"\nversion = "0.1.0"\n'},
        "product": "src/lib.rs", "test": "tests/slug.rs", "guard": "tests/guard.rs", "code": _RUST,
        "names": ("lowers", "slug", "shouts", "shout"), "typo": "slgu",
        "done": _RUST_LIB.format("pub fn slug(text: &str) -> String { text.to_lowercase() }\n"),
        "wrong": _RUST_LIB.format("pub fn slug(text: &str) -> String { text.to_string() }\n"),
    },
}  # fmt: skip


@pytest.fixture(params=list(_LANGUAGES))
def language(request, project):
    """A project of each language, and its table."""
    need(request.param)
    row = _LANGUAGES[request.param]
    return project(row["files"], env={}), row, "Test" if request.param == "go" else ""


def test_red_and_green_hold_in_other_languages(language):
    made, row, prefix = language
    name, symbol, guard, known = row["names"]
    base = made.tree()
    _, baseline = measure_baseline(made.rig(), tree=base)
    files = {
        row["test"]: row["code"].format(name, symbol, "a b"),
        row["guard"]: row["code"].format(guard, known, "A B!"),
    }
    red_tree = made.tree(files)
    tests = [
        {"path": row["test"], "name": prefix + name, "kind": "target"},
        {"path": row["guard"], "name": prefix + guard, "kind": "guard"},
    ]
    suite = Suite(tests=tests, symbols=[{"name": symbol, "file": row["product"], "kind": "function", "change": "new"}])
    red, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red_tree)
    assert (red["all_tests_fail"], red["right_reason"], red["guards_pass"], red["declared_missing"]) == (
        True,
        True,
        True,
        [],
    ), red
    assert [(one["id"], one["kind"]) for one in red["tests"]] == sorted(
        [(f"{row['test']}::{prefix}{name}", "target"), (f"{row['guard']}::{prefix}{guard}", "guard")]
    )
    promise = Promise(red=red, baseline=baseline, scope=(row["product"],), repeats=1)
    done = made.tree({row["product"]: row["done"]})
    green, _ = measure_green(made.rig(), promise, base_tree=base, red_tree=red_tree, tree=done)
    assert (green["all_tests_pass"], green["no_regressions"], green["controls"]["canary"]) == (True, True, "held"), (
        green
    )
    emptied = made.tree({row["product"]: row["wrong"], row["test"]: row["code"].format(name, symbol, "A B")})
    cheat, _ = measure_green(made.rig(), promise, base_tree=base, red_tree=red_tree, tree=emptied)
    assert not cheat["all_tests_pass"] and cheat["frozen_changed"]


def test_a_typo_is_no_right_reason_in_other_languages(language):
    made, row, prefix = language
    name, symbol, _, _ = row["names"]
    base = made.tree()
    red_tree = made.tree({row["test"]: row["code"].format(name, row["typo"], "a b")})
    suite = Suite(
        tests=[{"path": row["test"], "name": prefix + name, "kind": "target"}],
        symbols=[{"name": symbol, "file": row["product"], "kind": "function", "change": "new"}],
    )
    red, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red_tree)
    assert not red["right_reason"] and row["typo"] in red["tests"][0]["reason"]


def test_a_changed_signature_of_rust_leaves_the_other_tests_of_its_file_alone(project):
    need("cargo")
    lib = 'pub fn shout(text: &str{0}) -> String {{ format!("{{}}{1}", text{2}) }}\npub fn two() -> u8 {{ 2 }}\n#[cfg(test)]\nmod tests;\n'
    tests = "use super::*;\n#[test]\nfn shouts() {{ assert_eq!(shout({0}), {1}); }}\n#[test]\nfn counts() {{ assert_eq!(two(), 2); }}\n"
    row = _LANGUAGES["cargo"]["files"]
    made = project({**row, "src/lib.rs": lib.format("", "!", ""), "src/tests.rs": tests.format('"a"', '"a!"')}, env={})
    base = made.tree()
    _, baseline = measure_baseline(made.rig(), tree=base)
    red_tree = made.tree({"src/tests.rs": tests.format('"a", "?"', '"a?"')})
    suite = Suite(
        tests=[{"path": "src/tests.rs", "name": "shouts", "kind": "target"}],
        symbols=[{"name": "shout", "file": "src/lib.rs", "kind": "function", "change": "changed"}],
        superseded=("src/tests.rs::shouts",), action="modify",
    )  # fmt: skip
    red, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red_tree)
    assert (red["declared_missing"], red["right_reason"], red["all_tests_fail"]) == ([], True, True), red
    assert "shout" in red["tests"][0]["reason"]
    promise = Promise(
        red=red, baseline=baseline, scope=("src/lib.rs",), repeats=1, superseded=("src/tests.rs::shouts",)
    )
    done = made.tree({"src/lib.rs": lib.format(", mark: &str", "{}", ", mark")})
    green, _ = measure_green(made.rig(), promise, base_tree=base, red_tree=red_tree, tree=done)
    assert (green["all_tests_pass"], green["regressions"], green["no_regressions"]) == (True, [], True), green


def test_a_package_that_does_not_compile_yet_takes_nothing_from_the_controls_of_another_one(project):
    need("go")
    row = _LANGUAGES["go"]
    command = (
        'package main\n\nimport "testing"\n\nfunc TestSame(t *testing.T) {\n\tif 1 != 1 {\n\t\tt.Fatal("no")\n\t}\n}\n'
    )
    made = project({**row["files"], "cmd/kit/main.go": "package main\n\nfunc main() {}\n"}, env={})
    base = made.tree()
    red_tree = made.tree(
        {
            "a_test.go": row["code"].format("One", "Slug", "a b"),
            "b_test.go": 'package textkit\n\nimport "testing"\n\nfunc two() string { return Slug("A B") }\n\n'
            'func TestTwo(t *testing.T) {\n\tif two() != "a b" {\n\t\tt.Fatal("no")\n\t}\n}\n',
            "c_test.go": row["code"].format("Three", "two() + Shout", "a bA B!"),
            "cmd/kit/main_test.go": command,
        }
    )
    kinds = {"a_test.go": "TestOne", "b_test.go": "TestTwo", "c_test.go": "TestThree"}
    tests = [{"path": path, "name": name, "kind": "target"} for path, name in kinds.items()]
    guard = {"path": "cmd/kit/main_test.go", "name": "TestSame", "kind": "guard"}
    symbols = [{"name": "Slug", "file": "textkit.go", "kind": "function", "change": "new"}]
    suite = Suite(tests=[*tests, guard], symbols=symbols)
    red, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red_tree)
    assert red["controls"]["held"], red
    assert (red["all_tests_fail"], red["guards_pass"]) == (True, True), red
