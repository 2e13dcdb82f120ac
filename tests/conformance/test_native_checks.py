"""The checkers of Go, Rust and Java: what they find, what they repair, and that a broken one has not passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.conformance.engine.catalogue import load_check
from agentforge.conformance.engine.check_engine import Absence, CheckReport, run_checks
from agentforge.conformance.engine.fix import fix_findings
from agentforge.conformance.engine.site import Site
from agentforge.workspace.sandbox.box import choose

_GO = 'package kit\n\nimport "fmt"\n\nfunc Told() {\n\tfmt.Printf("%d\\n", "x")\n}\n'
_CARGO = '[package]\nname = "kit"\nversion = "0.1.0"\nedition = "2021"\n{0}'
_RUST = "pub fn told(x: i32) -> bool {\n    return x == x;\n}\n"
_STYLE = """<?xml version="1.0"?><!DOCTYPE module PUBLIC "-//Checkstyle//DTD Checkstyle Configuration 1.3//EN"
"https://checkstyle.org/dtds/configuration_1_3.dtd"><module name="Checker"><module name="TreeWalker">
<module name="EmptyBlock"/></module></module>"""


def _needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.needs(program)


def _look(folder: Path, name: str, files: dict[str, str]) -> CheckReport:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return run_checks(folder, mount_at=folder, sandbox=choose("auto"), paths=tuple(files), checks=[load_check(name)])


def _said(absences: tuple[Absence, ...]) -> dict[str, str]:
    return {one.check: one.reason for one in absences}


def _rules(report: CheckReport) -> list[tuple[str, str, int]]:
    assert not report.crashed, report.crashed
    return [(one.rule_id, one.level, one.line) for one in report.findings]


@_needs("gofmt")
def test_gofmt_finds_a_file_of_another_form_and_repairs_it(tmp_path: Path) -> None:
    report = _look(
        tmp_path, "gofmt", {"a.go": "package a\nfunc  f( ) {\n}\n", "b.go": _GO, "c.go": "package c\nfunc {\n"}
    )
    found = [(one.path, one.rule_id) for one in report.findings]
    assert (
        found[0] == ("a.go", "unformatted")
        and ("c.go", "syntax") in found
        and not any(path == "b.go" for path, _ in found)
    )
    site = Site(checkout=tmp_path, mount_at=tmp_path, sandbox=choose("auto"), paths=("a.go",))
    (untidy,) = [one for one in report.findings if one.path == "a.go"]
    assert "(+) instead of (-):\n-func  f( ) {\n+\n+func f() {" in untidy.message
    changed = fix_findings(site, [one for one in report.findings if one.path == "a.go"], checks=[load_check("gofmt")])
    assert changed == {"a.go": b"package a\n\nfunc f() {\n}\n"}


@_needs("go")
def test_go_vet_tells_the_analyser_and_code_that_does_not_compile_is_no_pass(tmp_path: Path) -> None:
    module = {"go.mod": "module example.org/kit\n\ngo 1.19\n", "in/kit.go": _GO}
    assert _rules(_look(tmp_path, "govet", module)) == [("printf", "error", 6)]
    broken = _look(tmp_path, "govet", {**module, "in/kit.go": "package kit\n\nvar X = missing\n"})
    assert "missing" in _said(broken.crashed)["govet"]


@_needs("cargo-clippy")
def test_clippy_counts_defects_and_where_it_is_configured_everything(tmp_path: Path) -> None:
    files = {"Cargo.toml": _CARGO.format(""), "src/lib.rs": _RUST, "benches/fast.rs": "#![feature(test)]\n"}
    assert sorted(_rules(_look(tmp_path, "clippy", files))) == [
        ("clippy::eq_op", "error", 2), ("clippy::needless_return", "note", 2),
    ]  # fmt: skip
    configured = {**files, "Cargo.toml": _CARGO.format('[lints.clippy]\neq_op = "allow"\n')}
    assert _rules(_look(tmp_path, "clippy", configured)) == [("clippy::needless_return", "warning", 2)]
    broken = _look(tmp_path, "clippy", {**files, "src/lib.rs": "pub fn told() -> i32 { missing }\n"})
    assert "does not compile" in _said(broken.crashed)["clippy"]


@_needs("rustfmt")
def test_rustfmt_counts_where_it_is_configured(tmp_path: Path) -> None:
    files = {"Cargo.toml": _CARGO.format(""), "src/lib.rs": "pub fn  f( ) { }\n", "src/fine.rs": "pub fn f() {}\n"}
    assert _rules(_look(tmp_path, "rustfmt", files)) == [("unformatted", "note", 0)]
    report = _look(tmp_path, "rustfmt", {**files, "rustfmt.toml": "max_width = 90\n"})
    assert _rules(report) == [("unformatted", "error", 0)]
    site = Site(checkout=tmp_path, mount_at=tmp_path, sandbox=choose("auto"), paths=("src/lib.rs",))
    assert fix_findings(site, report.findings, checks=[load_check("rustfmt")]) == {"src/lib.rs": b"pub fn f() {}\n"}


@_needs("checkstyle")
def test_checkstyle_reads_the_projects_own_configuration(tmp_path: Path) -> None:
    source = {"src/A.java": "class A {\n  void f() { if (true) { } }\n}\n"}
    assert (
        _said(_look(tmp_path, "checkstyle", source).skipped)["checkstyle"]
        == "the project does not configure checkstyle"
    )
    assert _rules(_look(tmp_path, "checkstyle", {**source, "checkstyle.xml": _STYLE})) == [("EmptyBlock", "error", 2)]
    broken = _look(tmp_path, "checkstyle", {**source, "checkstyle.xml": "<module name='Nothing'/>"})
    assert "checkstyle" in _said(broken.crashed)


def test_a_configured_checker_that_is_missing_has_not_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    files = {
        "checkstyle.xml": "x",
        "A.java": "class A {}\n",
        "rustfmt.toml": "",
        "clippy.toml": "",
        "Cargo.toml": _CARGO,
        "a.rs": "",
    }
    for name in ("checkstyle", "rustfmt", "clippy"):
        assert "install it" in _said(_look(tmp_path, name, files).crashed)[name]
    assert "gofmt" in _said(_look(tmp_path, "gofmt", {"a.go": "package a\n"}).skipped)
