"""Stub controls in Go, Rust and Java: wrong implementations that compile, and the tests that they find out."""

from __future__ import annotations

import pytest

from agentforge.languages.native.source import functions, native_tree
from agentforge.languages.native.values import statement
from agentforge.languages.stub_values import drawn
from agentforge.languages.symbols import symbols_of
from agentforge.suite.test_environment import NO_EDITS
from agentforge.verification.counterexamples.stub_runs import hollow_targets, variants
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite
from tests.support.toolchains import need

_GO = 'package textkit\n\nimport "strings"\n\ntype Stack struct{ items []int }\n\nfunc (s *Stack) Len() int { return len(s.items) }\n\nfunc Shout(text string) (out string, err error) { return strings.ToUpper(text), nil }\n'
_GO_TEST = 'package textkit\n\nimport "testing"\n\nfunc TestStrong(t *testing.T) {\n\tif got := Slug("A B"); got != "a-b" {\n\t\tt.Fatal(got)\n\t}\n}\n\nfunc TestWeak(t *testing.T) {\n\tif Slug("A B") == "A B" {\n\t\tt.Fatal("the same")\n\t}\n}\n\nfunc TestRefuses(t *testing.T) {\n\tdefer func() {\n\t\tif recover() == nil {\n\t\t\tt.Fatal("no panic")\n\t\t}\n\t}()\n\tSlug("")\n}\n'
_RUST = "pub fn shout(text: &str) -> Result<String, String> {\n    Ok(text.to_uppercase())\n}\npub struct Stack<T> { items: Vec<T> }\nimpl<T> Stack<T> { pub fn new() -> Self { Stack { items: Vec::new() } } }\n"
_RUST_TEST = 'use textkit::slug;\n#[test]\nfn strong() {\n    assert_eq!(slug("A B"), "a-b");\n}\n#[test]\nfn weak() {\n    assert_ne!(slug("A B"), "A B");\n}\n#[test]\n#[should_panic]\nfn refuses() {\n    slug("");\n}\n'
_JAVA = "package org.example;\npublic final class Textkit {\n    private Textkit() {}\n    public static String shout(String text) { return text.toUpperCase(); }\n}\n"
_FILES = {
    "textkit.go": _GO,
    "go.mod": "module example.org/textkit\n",
    "src/lib.rs": _RUST,
    "src/main/java/org/example/Textkit.java": _JAVA,
}
WORD, NUMBER = drawn("wrong", seed="1"), int(drawn("987654321", seed="1"))
_PROJECTS = {
    "go": (
        {"go.mod": "module example.org/textkit\n\ngo 1.19\n", "textkit.go": _GO}, "slug_test.go", _GO_TEST,
        {"name": "Slug", "file": "textkit.go", "signature": "func Slug(text string) string"}, ("TestStrong", "TestWeak", "TestRefuses"),
    ),
    "cargo": (
        {"Cargo.toml": '[package]\nname = "textkit"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": _RUST,
         "Cargo.lock": 'version = 3\n\n[[package]]\nname = "textkit"\nversion = "0.1.0"\n'}, "tests/slug.rs", _RUST_TEST,
        {"name": "slug", "file": "src/lib.rs", "signature": "fn slug(text: &str) -> String"}, ("strong", "weak", "refuses"),
    ),
}  # fmt: skip


def _made(*symbols):
    return {one.name: one for one in variants(symbols_of(symbols), source=_FILES.get, seed="1")}


@pytest.mark.needs("go")
def test_the_stub_of_a_new_go_package_is_called_as_its_tests_call_it(project):
    made = project(_PROJECTS["go"][0], env={})
    base = made.tree()
    text = 'package kitdb\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif got := One(); got != 1 {\n\t\tt.Fatal(got)\n\t}\n}\n'
    symbol = {"name": "One", "kind": "function", "file": "b/id.go", "signature": "func One() int", "change": "new"}
    suite = Suite(tests=[{"path": "b/id_test.go", "name": "TestOne", "kind": "target"}], symbols=[symbol])
    red, _ = measure_red(made.rig(timeout_s=200.0), suite, base_tree=base, red_tree=made.tree({"b/id_test.go": text}))
    assert (red["right_reason"], red["controls"]["stubs"], red["stub_note"]) == (True, True, ""), red


def test_the_stub_of_a_go_type_imports_what_it_is_made_of():
    files = {"go.mod": "module example.org/go-kit\n", "/": "go.mod\nkit.go", "kit.go": "package kit\n"}
    rows = [
        {"name": "ID", "kind": "class", "file": "b/id.go", "signature": "type ID struct { kit.ID }", "change": "new"},
        {
            "name": "ID.Value",
            "kind": "method",
            "file": "b/id.go",
            "signature": "func (id ID) Value() (driver.Value, error)",
            "change": "new",
        },
    ]
    (made, *_) = variants(symbols_of(rows), source=files.get, seed="1")
    assert made.files["b/id.go"].startswith('package b; import "database/sql/driver"; import "example.org/go-kit"'), (
        made.files
    )


@pytest.mark.parametrize("program", list(_PROJECTS))
def test_a_target_that_any_value_satisfies_is_found_out_and_an_expected_panic_is_not(program, project):
    need(program)
    files, path, text, symbol, names = _PROJECTS[program]
    made = project(files, env={})
    base, red_tree = made.tree(), made.tree({path: text})
    suite = Suite(
        tests=[{"path": path, "name": name, "kind": "target"} for name in names],
        symbols=[{**symbol, "kind": "function"}],
    )
    red, _ = measure_red(made.rig(timeout_s=200.0), suite, base_tree=base, red_tree=red_tree)
    assert (red["right_reason"], red["controls"]["stubs"], red["stub_note"]) == (True, True, ""), red
    survived = {(one["stub"], one["id"].partition("::")[2]) for one in red["stub_survivors"]}
    assert survived == {("wrong", names[1]), ("any value", names[1])}


def test_changed_functions_begin_with_a_wrong_statement_and_keep_what_they_import():
    made = _made({"name": "Shout", "file": "textkit.go", "change": "changed"})
    assert [(name, one.hard) for name, one in made.items()] == [
        ("raises", False), ("wrong", True), ("empty", False), ("other", False),
    ]  # fmt: skip
    text = made["wrong"].files["textkit.go"]
    assert f'{{ return "\\x00{WORD}", *new(error);  return strings.ToUpper(text), nil }}' in text
    java = _made({"name": "Textkit.shout", "file": "src/main/java/org/example/Textkit.java", "change": "changed"})
    assert f'if (true) return "\\0{WORD}";  return text.toUpperCase();' in "".join(java["wrong"].files.values())


def test_new_methods_types_and_files_are_made_by_their_signature():
    go = _made(
        {"name": "Queue", "kind": "struct", "file": "queue/queue.go", "signature": "type Queue struct"},
        {"name": "Queue.Push", "file": "queue/queue.go", "signature": "Push(x ...string) (time.Duration, error)"},
    )
    text = go["empty"].files["queue/queue.go"]
    assert text.startswith('package queue; import "time"') and "type Queue struct{}" in text
    assert (
        "func (recv *Queue) Push(x ...string) (time.Duration, error) { return *new(time.Duration), *new(error) }"
        in text
    )
    rust = _made(
        {"name": "slug", "file": "src/slug.rs", "signature": "slug(text: &str) -> Option<Vec<String>>"},
        {"name": "Stack::len", "file": "src/lib.rs", "signature": "pub fn len(&self) -> usize"},
    )
    assert f'Some(vec![String::from("\\0{WORD}")])' in rust["wrong"].files["src/slug.rs"]
    stack = rust["wrong"].files["src/lib.rs"]
    assert (
        "impl<T> Stack<T> { /// Stands in.\n" in stack
        and f"pub fn len(&self) -> usize {{ return {NUMBER}; }} }}" in stack
    )
    assert "pub mod slug;" in rust["wrong"].files["src/lib.rs"]
    java = _made(
        {"name": "BadText", "kind": "class", "file": "src/main/java/org/example/BadText.java", "signature": "class BadText extends RuntimeException"},
        {"name": "Textkit.words", "file": "src/main/java/org/example/Textkit.java", "signature": "public static List<String> words(String text)"},
    )  # fmt: skip
    assert "super(message)" in java["empty"].files["src/main/java/org/example/BadText.java"]
    textkit = java["wrong"].files["src/main/java/org/example/Textkit.java"]
    assert "import java.util.*;" in textkit and "return java.util.Collections.singletonList(null); }" in textkit


def test_a_new_function_without_a_signature_has_no_stub():
    assert _made({"name": "Slug", "file": "textkit.go"}) == {}
    assert _made({"name": "Slug", "file": "textkit.go", "signature": "makes slugs"}) == {}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("go", "func f() ([]byte, *T) {}", ("return []byte{253}, *new(*T)", "return *new([]byte), *new(*T)")),
        ("go", "func f() (a, b int8) {}", ("return -99, -99", "return 0, 0")),
        ("go", "func f() T {}", ("", "return *new(T)")),
        ("go", "func f() {}", ("", "return")),
        ("rust", "fn f() -> Result<(), E> {}", ("", "if true { return Ok(()); }")),
        ("rust", "fn f() -> (bool, &'static str) {}", ('if true { return (false, "\\0wrong",); }', 'if true { return (false, "",); }')),
        ("rust", "fn f() -> Self {}", ("", "")),
        ("rust", "fn f() -> std::collections::HashMap<u8, u8> {}", ("", "if true { return std::collections::HashMap::new(); }")),
        ("java", "class A { int[] f() {} }", ("if (true) return new int[] {-987654321};", "if (true) return new int[0];")),
        ("java", "class A { boolean f() {} }", ("", "if (true) return false;")),
        ("java", "class A { Map<String, A> f() {} }", ("if (true) return java.util.Collections.singletonMap(null, null);", "if (true) return java.util.Collections.emptyMap();")),
    ],
)  # fmt: skip
def test_values_are_chosen_by_the_declared_type(language, text, expected):
    (function,) = functions(native_tree(language, text), language)
    assert (statement(function, "wrong"), statement(function, "empty")) == expected


@pytest.mark.needs("go")
def test_a_target_that_passes_though_the_change_is_wrong_is_hollow(project):
    tests = 'package textkit\n\nimport "testing"\n\nfunc TestValue(t *testing.T) {\n\tif Slug("A") != "a" {\n\t\tt.Fatal("no")\n\t}\n}\n\nfunc TestExists(t *testing.T) {\n\tdefer func() { _ = recover() }()\n\t_ = Slug("A")\n}\n'
    made = project(
        {"go.mod": "module example.org/textkit\n\ngo 1.19\n", "textkit.go": _GO, "slug_test.go": tests}, env={}
    )
    base = made.tree()
    done = _GO + "\nfunc Slug(text string) string { return strings.ToLower(text) }\n"
    given = {"base_tree": base, "targets": ["slug_test.go::TestValue", "slug_test.go::TestExists"], "edits": NO_EDITS}
    assert hollow_targets(made.rig(), tree=made.tree({"textkit.go": done}), changed=["textkit.go"], **given) == (
        "slug_test.go::TestExists",
    )
    data = made.tree({"textkit.go": done + "\nconst Most = 3\n"})
    assert hollow_targets(made.rig(), tree=data, changed=["textkit.go"], **given) == ()
