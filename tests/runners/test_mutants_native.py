"""Mutants of Go, Rust and Java: which there are, and that a weak suite scores below a strong one."""

from __future__ import annotations

import pytest

from agentforge.languages.native.mutants import native_mutants
from agentforge.suite.test_environment import run_tree
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.counterexamples.mutants_by_runs import measure_mutants_by_runs
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.strength import measure_strength
from tests.support.toolchains import need

_GO = 'package kit\n\nimport "strings"\n\n// Slug joins by "-".\nfunc Slug(text string, most int) (string, error) {\n\tif len(text) > most && !strings.Contains(text, "\\t") {\n\t\treturn "", nil\n\t}\n\tif most < 0 {\n\t\tpanic("no way")\n\t}\n\treturn strings.ToLower(text), nil\n}\n'
_RUST = 'pub fn slug(text: &str, n: usize) -> Option<String> {\n    if let Some(x) = text.find("a") { println!("{}", x + 1); }\n    let mut v: Vec<u8> = Vec::new();\n    v.push(1);\n    Some(text.to_lowercase())\n}\n'
_JAVA = 'class A {\n  static int f(String s, boolean b) {\n    if (b) { g(s); }\n    if (s.length() < 3) { throw new IllegalArgumentException("short" + 3); }\n    return s.indexOf("a") * 2;\n  }\n  static void g(String s) { System.out.println(s); }\n}\n'
_TEST = 'package kit\n\nimport "testing"\n\nfunc TestSlug(t *testing.T) {{\n{0}}}\n'
_STRONG = '\tif got, _ := Slug("AB", 2); got != "ab" {\n\t\tt.Fatal(got)\n\t}\n\tif got, _ := Slug("ABC", 2); got != "" {\n\t\tt.Fatal(got)\n\t}\n\tif got, _ := Slug("A\\tC", 2); got != "a\\tc" {\n\t\tt.Fatal(got)\n\t}\n'
_WEAK = '\tif got, _ := Slug("AB", 2); got == "" {\n\t\tt.Fatal(got)\n\t}\n'


def _changes(path: str, text: str, lines: int = -1) -> list[tuple[int, str, str]]:
    found = native_mutants(path, text.encode(), lines=lines)
    return [(one.line, one.before, one.after) for one in found if one.kind != "branch"]


def _branches(path: str, text: str) -> list[tuple[str, str]]:
    return [(one.before, one.after) for one in native_mutants(path, text.encode(), lines=-1) if one.kind == "branch"]


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


def test_a_branch_goes_one_way_in_a_mutant_and_a_part_keeps_what_it_held() -> None:
    go = "package a\nfunc F(a *T, n int) {\n\tif a.ok() && n > 2 {\n\t\ta.x = 3\n\t}\n\tn -= 2\n}\n"
    assert _branches("a.go", go) == [
        ("a.ok() && n > 2", "true"), ("a.ok() && n > 2", "(a.ok())"), ("a.ok() && n > 2", "(n > 2)"),
    ]  # fmt: skip
    assert [one for one in _changes("a.go", go) if one[0] in (4, 6)] == [
        (4, "a.x = 3", "{}"), (4, "3", "4"), (6, "-=", "+="), (6, "2", "3"),
    ]  # fmt: skip
    rust = "fn f(a: &mut T, n: i32) -> i32 {\n    a.v[1] += 2;\n    if n > 3 { g(n) } else { n }\n}\n"
    assert _branches("a.rs", rust) == [("n > 3", "true"), ("n > 3", "false")]
    assert (2, "a.v[1] += 2;", "{}") in _changes("a.rs", rust)
    java = "class A {\n  int f(int n) {\n    this.x = 3;\n    return n > 3 ? g(n) : n;\n  }\n}\n"
    assert _branches("A.java", java) == [("n > 3 ? g(n) : n", "(g(n))"), ("n > 3 ? g(n) : n", "(n)")]
    assert (3, "this.x = 3;", "{}") in _changes("A.java", java)


def test_a_body_gives_back_the_zero_value_and_only_changed_lines_count() -> None:
    first = native_mutants("kit.go", _GO.encode(), lines=1 << 6)
    assert [(one.kind, one.owner) for one in first] == [("returned", "Slug")]
    assert b'{ return "", *new(error); \n\tif len(text)' in first[0].data
    assert native_mutants("kit.go", b"package kit\nfunc {", lines=-1) == ()
    assert native_mutants("kit.py", b"x = 1\n", lines=-1) == ()


@pytest.mark.chaos  # a build for each mutant
@pytest.mark.needs("go")
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
            bounds=MutationBounds(seconds=200.0),
        )
        assert found["measured"], found
        scores.append(found["score"])
    assert scores[0] >= 0.8 > scores[1], scores


_SLUGS = {
    "go": (
        {
            "go.mod": "module example.org/kit\n\ngo 1.19\n",
            "kit.go": "package kit\n\nfunc Cut(text string, most int) string {\n\tif len(text) > most {\n\t\treturn text[:most]\n\t}\n\treturn text\n}\n",
        },
        "kit.go",
        "kit_test.go",
        'package kit\n\nimport "testing"\n\nfunc TestCut(t *testing.T) {{\n\tif Cut("abc", 2) != "ab"{0} {{\n\t\tt.Fatal("no")\n\t}}\n}}\n',
        ' || Cut("a", 2) != "a"',
    ),
    "cargo": (
        {
            "Cargo.toml": '[package]\nname = "kit"\nversion = "0.1.0"\nedition = "2021"\n',
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "kit"\nversion = "0.1.0"\n',
            "src/lib.rs": "pub fn cut(text: &str, most: usize) -> &str {\n    if text.len() > most { &text[..most] } else { text }\n}\n",
        },
        "src/lib.rs",
        "tests/cut.rs",
        'use kit::cut;\n#[test]\nfn it() {{ assert!(cut("abc", 2) == "ab"{0}); }}\n',
        ' && cut("a", 2) == "a"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("program", list(_SLUGS))
def test_the_branch_that_no_test_takes_survives_until_a_test_takes_it(program: str, project) -> None:  # type: ignore[no-untyped-def]
    need(program)
    files, path, tests, text, more = _SLUGS[program]
    made = project(files, env={})
    base, found = made.tree({path: None}), {}
    change = Change(lines={}, elsewhere={path: -1}, tests=[{"id": f"{tests}::any", "kind": "target"}], frozen=(tests,))
    for name, added in (("weak", ""), ("strong", more)):
        tree = made.tree({path: files[path], tests: text.format(added)})
        facts, _ = measure_strength(
            made.rig(timeout_s=200.0),
            change,
            base_tree=base,
            red_tree=tree,
            tree=tree,
            bounds=MutationBounds(seconds=120.0, most=20),
        )
        found[name] = facts["mutation"]
        assert found[name]["measured"] and not found[name]["not_run"], found[name]
    always = ("len(text) > most" if program == "go" else "text.len() > most", "true")
    weak, strong = ({(one["before"], one["after"]) for one in found[name]["survivors"]} for name in ("weak", "strong"))
    assert always in weak and always not in strong
    assert found["strong"]["score"] > found["weak"]["score"]
    assert not list(made.scratch.glob("built-*")), "what was compiled for mutants is deleted"


@pytest.mark.needs("cargo")
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
    bounds = MutationBounds(most=1, seed=1, seconds=120.0)
    found = measure_mutants_by_runs(
        made.rig(), tree, changed={"examples/show.rs": -1}, tests=["src/lib.rs"], unchanged=run, bounds=bounds
    )
    assert (found["survivors"], found["note"]) == ([], "the tests do not build examples/show.rs")
