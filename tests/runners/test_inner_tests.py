"""Tests that stand inside of product files of Rust: RED writes them there, they are frozen there, and the rest is the product."""

from __future__ import annotations

import pytest

from agentforge.verification.counterexamples.mutant_score import mutants_of_change
from agentforge.verification.stages.baseline import measure_baseline
from agentforge.verification.stages.green import Promise, measure_green
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

pytestmark = pytest.mark.needs("cargo")

_CRATE = {
    "Cargo.toml": '[package]\nname = "textkit"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "textkit"\nversion = "0.1.0"\n',
}
_SHOUT = '//! Words.\n\nmod words;\n\npub fn shout(text: &str) -> String {\n    format!("{}!", text)\n}\n'
_SLUG = "\nfn slug(text: &str) -> String {\n    text.to_lowercase()\n}\n"
_WORDS = "pub fn count(text: &str) -> usize {\n    text.split(' ').count()\n}\n"
_MODULE = '\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    fn shouts() {{\n        assert_eq!(shout("a"), "a!");\n    }}\n{0}}}\n'
_OLD = _MODULE.format("")
_NEW_TEST = '\n    #[test]\n    fn lowers() {\n        assert_eq!(slug("A B"), "a b");\n    }\n'
_NEW = _MODULE.format(_NEW_TEST)
_SYMBOL = {
    "name": "slug", "file": "src/lib.rs", "kind": "function", "change": "new", "signature": "fn slug(text: &str) -> String",
}  # fmt: skip
_LOWERS = {"path": "src/lib.rs", "name": "tests::lowers", "kind": "target"}


@pytest.fixture
def crate(project):
    """A crate whose only test stands in src/lib.rs, with its base line."""
    made = project({**_CRATE, "src/lib.rs": _SHOUT + _OLD, "src/words.rs": _WORDS}, env={})
    base = made.tree()
    _, baseline = measure_baseline(made.rig(), tree=base)
    return made, base, baseline


def _red(made, base, files, *, tests=(_LOWERS,), **more):
    suite = Suite(tests=tests, symbols=[_SYMBOL], modified=("src/lib.rs",), **more)
    tree = made.tree(files)
    return tree, measure_red(made.rig(), suite, base_tree=base, red_tree=tree)[0]


def test_red_writes_into_the_module_of_a_product_file_and_green_edits_the_rest(crate):
    made, base, baseline = crate
    red_tree, red = _red(made, base, {"src/lib.rs": _SHOUT + _NEW})
    assert (red["product_changed"], red["already_there"], red["no_implementation_exists"]) == ([], [], True)
    assert (red["all_tests_fail"], red["right_reason"], red["declared_missing"]) == (True, True, []), red
    assert [(one["id"], one["kind"]) for one in red["tests"]] == [("src/lib.rs::tests::lowers", "target")]
    assert list(red["frozen_files"]) == ["src/lib.rs#tests"] and "src/lib.rs::tests::lowers" in red["frozen"]
    assert red["stubs_run"] and red["stub_survivors"] == []

    promise = Promise(red=red, baseline=baseline, scope=("src/lib.rs",), repeats=1)

    def green(files):
        return measure_green(made.rig(), promise, base_tree=base, red_tree=red_tree, tree=made.tree(files))[0]

    done = green({"src/lib.rs": _SHOUT + _SLUG + _NEW})
    assert (done["all_tests_pass"], done["no_regressions"], done["frozen_changed"], done["out_of_scope"]) == (
        True,
        True,
        [],
        [],
    ), done
    weaker = _NEW.replace('"a b"', '"A B"')
    cheat = green({"src/lib.rs": _SHOUT + _SLUG.replace("to_lowercase", "to_string") + weaker})
    assert (cheat["all_tests_pass"], cheat["frozen_changed"]) == (False, ["src/lib.rs::tests::lowers"])
    more = green({"src/lib.rs": _SHOUT + _SLUG + _NEW + "\n#[cfg(test)]\nmod others {\n    const A: u8 = 1;\n}\n"})
    assert more["frozen_changed"] == ["src/lib.rs#tests"]


def test_what_red_changes_outside_of_the_module_is_product(crate):
    made, base, _ = crate
    _, red = _red(made, base, {"src/lib.rs": _SHOUT + _SLUG + _NEW})
    assert (red["product_changed"], red["no_implementation_exists"]) == (["src/lib.rs"], False)


def test_red_adds_a_module_to_a_product_file_that_has_none(crate):
    made, base, baseline = crate
    module = '\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn counts() {\n        assert_eq!(super::count(""), 0);\n    }\n}\n'
    red_tree, red = _red(
        made, base, {"src/words.rs": _WORDS + module},
        tests=[{"path": "src/words.rs", "name": "tests::counts", "kind": "target"}],
    )  # fmt: skip
    assert (red["product_changed"], red["all_tests_fail"], red["right_reason"]) == ([], True, True), red
    promise = Promise(red=red, baseline=baseline, scope=("src/words.rs",), repeats=1)
    words = _WORDS.replace("split(' ')", "split_whitespace()") + module
    green, _ = measure_green(
        made.rig(), promise, base_tree=base, red_tree=red_tree, tree=made.tree({"src/words.rs": words})
    )
    assert (green["all_tests_pass"], green["no_regressions"], green["frozen_changed"]) == (True, True, []), green


def test_a_test_of_the_base_that_green_weakens_inside_of_the_product_is_a_regression(crate):
    made, base, baseline = crate
    red_tree, red = _red(made, base, {"src/lib.rs": _SHOUT + _NEW})
    promise = Promise(red=red, baseline=baseline, scope=("src/lib.rs", "src/words.rs"), repeats=1)
    quiet = _SHOUT.replace('"{}!"', '"{}"') + _SLUG + _NEW.replace('"a!"', '"a"')
    green, _ = measure_green(
        made.rig(), promise, base_tree=base, red_tree=red_tree, tree=made.tree({"src/lib.rs": quiet})
    )
    assert (green["regressions"], green["frozen_changed"]) == (["src/lib.rs::tests::shouts"], [
        "src/lib.rs::tests::shouts"
    ])  # fmt: skip


def test_a_test_inside_of_the_product_that_the_specification_changes_is_refitted(crate):
    made, base, baseline = crate
    superseded = ("src/lib.rs::tests::shouts",)
    tests = [{"path": "src/lib.rs", "name": "tests::shouts", "kind": "target"}]
    suite = Suite(
        tests=tests, symbols=[{**_SYMBOL, "name": "shout", "change": "changed"}], modified=("src/lib.rs",), action="modify",
        superseded=superseded,
    )  # fmt: skip
    red_tree = made.tree({"src/lib.rs": _SHOUT + _OLD.replace('"a!"', '"A!"')})
    red, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red_tree)
    assert (red["product_changed"], red["all_tests_fail"], red["right_reason"]) == ([], True, True), red
    promise = Promise(red=red, baseline=baseline, scope=("src/lib.rs",), superseded=superseded, repeats=1)
    louder = _SHOUT.replace('"{}!", text', '"{}!", text.to_uppercase()') + _OLD.replace('"a!"', '"A!"')
    tree = made.tree({"src/lib.rs": louder})
    green, _ = measure_green(made.rig(), promise, base_tree=base, red_tree=red_tree, tree=tree)
    assert (green["all_tests_pass"], green["no_regressions"], green["superseded"]) == (True, True, list(superseded))
    undeclared = Promise(red=red, baseline=baseline, scope=("src/lib.rs",), repeats=1)
    green, _ = measure_green(made.rig(), undeclared, base_tree=base, red_tree=red_tree, tree=tree)
    assert green["all_tests_pass"]


def test_a_product_that_cannot_be_built_without_its_own_tests_passes_none(crate):
    made, base, baseline = crate
    helper = "    pub fn right(text: &str) -> String {\n        text.to_lowercase()\n    }\n}\n"
    module = f"{_NEW.removesuffix(chr(10))[:-1]}{helper}"
    red_tree, red = _red(made, base, {"src/lib.rs": _SHOUT + module})
    assert (red["product_changed"], red["all_tests_fail"]) == ([], True), red
    promise = Promise(red=red, baseline=baseline, scope=("src/lib.rs",), repeats=1)
    slug = _SLUG.replace("text.to_lowercase()", "tests::right(text)")
    tree = made.tree({"src/lib.rs": _SHOUT + slug + module})
    green, _ = measure_green(made.rig(), promise, base_tree=base, red_tree=red_tree, tree=tree)
    assert (green["all_tests_pass"], green["no_regressions"]) == (False, False)
    assert "tests" in green["failing_text"], green["failing_text"]


def test_no_mutant_is_drawn_in_tests_inside_of_the_product(crate):
    made, _, _ = crate
    tree = made.tree({"src/lib.rs": _SHOUT + _SLUG + _NEW})
    found = mutants_of_change(made.rig(), tree, {"src/lib.rs": -1}) or []
    assert found and max(one.last for one in found) <= (_SHOUT + _SLUG).count("\n")
