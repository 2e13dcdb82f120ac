"""Mutants of Go, Rust and Java: which there are, and that a weak suite scores below a strong one."""

from __future__ import annotations

import shutil

import pytest

from agentforge.runners.mutant_score import Bounds
from agentforge.runners.mutants_by_runs import measure_mutants_by_runs
from agentforge.runners.mutation.native import native_mutants
from agentforge.runners.rig import run_tree

_GO = 'package kit\n\nimport "strings"\n\n// Slug joins by "-".\nfunc Slug(text string, most int) (string, error) {\n\tif len(text) > most && !strings.Contains(text, "\\t") {\n\t\treturn "", nil\n\t}\n\tif most < 0 {\n\t\tpanic("no way")\n\t}\n\treturn strings.ToLower(text), nil\n}\n'
_RUST = 'pub fn slug(text: &str, n: usize) -> Option<String> {\n    if let Some(x) = text.find("a") { println!("{}", x + 1); }\n    let mut v: Vec<u8> = Vec::new();\n    v.push(1);\n    Some(text.to_lowercase())\n}\n'
_JAVA = 'class A {\n  static int f(String s, boolean b) {\n    if (b) { g(s); }\n    if (s.length() < 3) { throw new IllegalArgumentException("short" + 3); }\n    return s.indexOf("a") * 2;\n  }\n  static void g(String s) { System.out.println(s); }\n}\n'
_TEST = 'package kit\n\nimport "testing"\n\nfunc TestSlug(t *testing.T) {{\n{0}}}\n'
_STRONG = '\tif got, _ := Slug("AB", 2); got != "ab" {\n\t\tt.Fatal(got)\n\t}\n\tif got, _ := Slug("ABC", 2); got != "" {\n\t\tt.Fatal(got)\n\t}\n\tif got, _ := Slug("A\\tC", 2); got != "a\\tc" {\n\t\tt.Fatal(got)\n\t}\n'
_WEAK = '\tif got, _ := Slug("AB", 2); got == "" {\n\t\tt.Fatal(got)\n\t}\n'


def _changes(path: str, text: str, lines: int = -1) -> list[tuple[int, str, str]]:
    return [(one.line, one.before, one.after) for one in native_mutants(path, text.encode(), lines=lines)]


def test_small_wrong_changes_leave_types_comments_and_words_for_people_alone() -> None:
    go = _changes("kit.go", _GO)[1:]
    assert go == [
        (7, "&&", "||"), (7, ">", ">="), (7, '"\\t"', '""'), (8, '""', '"mutated"'), (10, "<", "<="), (10, "0", "1"),
        (11, 'panic("no way")', "{}"), (13, "ToLower", "ToUpper"),
    ]  # fmt: skip
    rust = _changes("kit.rs", _RUST)[1:]
    assert rust == [(2, '"a"', '""'), (4, "v.push(1);", "{}"), (4, "1", "2"), (5, "to_lowercase", "to_uppercase")]
    java = [one for one in _changes("A.java", _JAVA) if "{ if (true)" not in one[2]]
    assert java == [
        (3, "(b)", "(!(b))"), (3, "g(s);", "{}"), (4, "<", "<="), (4, "3", "4"), (5, "*", "/"), (5, "indexOf", "lastIndexOf"),
        (5, '"a"', '""'), (5, "2", "3"),
    ]  # fmt: skip


def test_a_body_gives_back_the_zero_value_and_only_changed_lines_count() -> None:
    first = native_mutants("kit.go", _GO.encode(), lines=1 << 6)
    assert [(one.kind, one.owner) for one in first] == [("returned", "Slug")]
    assert b'{ return "", *new(error); \n\tif len(text)' in first[0].data
    assert native_mutants("kit.go", b"package kit\nfunc {", lines=-1) == ()
    assert native_mutants("kit.py", b"x = 1\n", lines=-1) == ()


@pytest.mark.chaos  # a build for each mutant
@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_a_weak_suite_scores_below_a_strong_one(project) -> None:  # type: ignore[no-untyped-def]
    made = project(
        {"go.mod": "module example.org/kit\n\ngo 1.19\n", "kit.go": _GO, "kit_test.go": _TEST.format(_STRONG)}, env={}
    )
    scores = []
    for text in (_STRONG, _WEAK):
        tree = made.tree({"kit_test.go": _TEST.format(text)})
        run = run_tree(made.rig(), tree, tests=["kit_test.go"])
        lines = sum(1 << number for number in (6, 7, 8, 13))
        found = measure_mutants_by_runs(
            made.rig(),
            tree,
            changed={"kit.go": lines},
            tests=["kit_test.go"],
            unchanged=run,
            bounds=Bounds(seconds=200.0),
        )
        assert found["measured"], found
        scores.append(found["score"])
    assert scores[0] >= 0.8 > scores[1], scores


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_a_file_that_no_test_is_built_from_has_no_survivors(project) -> None:  # type: ignore[no-untyped-def]
    made = project(
        {
            "Cargo.toml": '[package]\nname = "kit"\nversion = "0.1.0"\nedition = "2021"\n',
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "kit"\nversion = "0.1.0"\n',
            "src/lib.rs": "pub fn two() -> u8 { 2 }\n#[test]\nfn it() { assert_eq!(two(), 2); }\n",
            "examples/show.rs": 'fn main() { let mut n = 0; n += 1; println!("{}", n + 1); }\n',
        },
        env={},
    )
    tree = made.tree()
    run = run_tree(made.rig(), tree, tests=["src/lib.rs"])
    bounds = Bounds(most=1, seed=1, seconds=120.0)
    found = measure_mutants_by_runs(
        made.rig(), tree, changed={"examples/show.rs": -1}, tests=["src/lib.rs"], unchanged=run, bounds=bounds
    )
    assert (found["survivors"], found["note"]) == ([], "the tests do not build examples/show.rs")
