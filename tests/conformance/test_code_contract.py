"""Contracts for code: what they say is read strictly, holds where it should, and an exemption ends on its day."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from agentforge.conformance.contracts.code_contract import read_contracts
from agentforge.conformance.engine.check_engine import CheckReport, run_checks
from agentforge.conformance.engine.fix import fix_findings
from agentforge.conformance.engine.site import Site
from agentforge.errors import ContractInvalid
from agentforge.workspace.sandbox.box import choose

HEAD = "kind: code\ncontract: house\n"
NO_PRINT = """
rules:
  - id: no-print
    description: Printing belongs to the command line
    message: print() in a library
    pattern: print($$$ARGS)
    fix: log($$$ARGS)
"""
SOURCE = "def f():\n    print('a', 1)\n\n\ndef g():\n    # print(2)\n    return 'print(3)'\n"


def look(folder: Path, files: dict[str, str], contract: str, *, today: date = date(2026, 6, 1)) -> CheckReport:
    from agentforge.conformance.engine.catalogue import load_check

    for path, text in {**files, ".agentforge/contracts/house.yaml": HEAD + contract}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    names = ("command", "complexity", "pattern", "secrets", "size")
    return run_checks(
        folder,
        mount_at=folder,
        sandbox=choose("none"),
        paths=list(files),
        checks=[load_check(name) for name in names],
        today=today,
    )


def told(report: CheckReport) -> list[tuple[str, str, int, str]]:
    return [(one.rule, one.path, one.line, one.level) for one in report.findings]


def test_a_pattern_matches_code_and_neither_comments_nor_strings(tmp_path: Path) -> None:
    report = look(tmp_path, {"a.py": SOURCE}, NO_PRINT)
    assert told(report) == [("pattern/no-print", "a.py", 2, "error")]
    finding = report.findings[0]
    assert (finding.message, finding.contract, finding.fixable) == ("print() in a library", "house", True)


def test_a_rule_holds_in_its_scope_alone(tmp_path: Path) -> None:
    scoped = "scope: [src/**]\n" + NO_PRINT + "    scope: {exclude: [src/cli/**]}\n"
    files = {"src/a.py": SOURCE, "src/cli/b.py": SOURCE, "c.py": SOURCE}
    assert told(look(tmp_path, files, scoped)) == [("pattern/no-print", "src/a.py", 2, "error")]


@pytest.mark.parametrize(("word", "level"), [("report", "note"), ("block", "warning"), ("off", None)])
def test_enforcement_says_whether_a_violation_counts(tmp_path: Path, word: str, level: str | None) -> None:
    report = look(tmp_path, {"a.py": SOURCE}, f"severity: warning\nenforcement: {word}\n{NO_PRINT}")
    assert [one.level for one in report.findings] == ([level] if level else [])


def test_rule_objects_and_other_languages_are_understood(tmp_path: Path) -> None:
    contract = """
rules:
  - id: no-console
    language: javascript
    pattern: console.log($$$)
  - id: no-bare-except
    rule:
      kind: except_clause
      not: {has: {any: [{kind: identifier}, {kind: as_pattern}, {kind: tuple}]}}
"""
    files = {"a.js": "console.log(1)\n", "b.py": "try:\n    f()\nexcept:\n    g\n"}
    assert [(rule, path) for rule, path, _, _ in told(look(tmp_path, files, contract))] == [
        ("pattern/no-console", "a.js"),
        ("pattern/no-bare-except", "b.py"),
    ]


def test_a_pattern_that_is_no_code_fails_closed_instead_of_matching_nothing(tmp_path: Path) -> None:
    report = look(tmp_path, {"a.py": SOURCE}, "rules:\n  - {id: broken, pattern: 'pr(int('}\n")
    assert [one.check for one in report.crashed] == ["pattern"]
    assert "is no Python" in report.crashed[0].reason


def test_size_and_complexity_are_limited_by_numbers(tmp_path: Path) -> None:
    contract = """
rules:
  - {id: room, size: {file_lines: 6, function_lines: 1}}
  - {id: simple, complexity: 1}
"""
    branching = "def f(x):\n    if x:\n        return 1\n    return 2\n"
    assert told(look(tmp_path, {"a.py": SOURCE, "b.py": branching}, contract)) == [
        ("size/room", "a.py", 0, "error"),
        ("size/room", "a.py", 1, "error"),
        ("size/room", "a.py", 5, "error"),
        ("size/room", "b.py", 1, "error"),
        ("complexity/simple", "b.py", 1, "error"),
    ]


SARIF = (
    '{"version":"2.1.0","runs":[{"results":[{"ruleId":"X1","message":{"text":"bad"},"locations":[{"physicalLocation":'
    '{"artifactLocation":{"uri":"a.py"},"region":{"startLine":2}}}]}]}]}'
)


def test_a_command_that_prints_sarif_is_a_check(tmp_path: Path) -> None:
    report = look(tmp_path, {"a.py": SOURCE}, f"rules:\n  - id: scan\n    command: echo '{SARIF}'\n")
    assert told(report) == [("command/scan.X1", "a.py", 2, "error")]


BROKEN = '{"version":"2.1.0","runs":[{"invocations":[{"executionSuccessful":false}],"results":[]}]}'


@pytest.mark.parametrize("command", ["echo all good", "exit 3", "no-such-program", f"echo '{BROKEN}'"])
def test_a_command_without_a_sound_report_has_not_passed(tmp_path: Path, command: str) -> None:
    report = look(tmp_path, {"a.py": SOURCE}, f"rules:\n  - id: scan\n    command: {json.dumps(command)}\n")
    assert [one.check for one in report.crashed] == ["command"]


EXEMPT = """
exemptions:
  - rule: no-print
    paths: [a.py]
    reason: a demonstration
    expires: 2026-06-30
"""


def test_an_exempt_finding_does_not_count_until_its_last_day_has_passed(tmp_path: Path) -> None:
    on_the_day = look(tmp_path, {"a.py": SOURCE}, NO_PRINT + EXEMPT, today=date(2026, 6, 30))
    assert [(one.exempt, one.counts) for one in on_the_day.findings] == [("a demonstration", False)]
    after = look(tmp_path, {"a.py": SOURCE}, NO_PRINT + EXEMPT, today=date(2026, 7, 1))
    assert {one.rule for one in after.findings if one.counts} == {"exemptions/expired", "pattern/no-print"}


def test_findings_of_other_checks_take_the_severity_of_a_contract(tmp_path: Path) -> None:
    secret = "TOKEN = 'ghp_" + "0123456789abcdefghij0123456789abcdefgh'\n"
    assert told(look(tmp_path, {"a.py": secret}, NO_PRINT)) == [("secrets/github-token", "a.py", 1, "error")]
    contract = "rules:\n  - {id: secrets-are-told, finding: 'secrets/*', enforcement: report}\n"
    assert told(look(tmp_path, {"a.py": secret}, contract)) == [("secrets/github-token", "a.py", 1, "note")]


def test_a_secret_is_named_and_never_shown_and_in_tests_it_is_a_note(tmp_path: Path) -> None:
    secret = "TOKEN = 'ghp_" + "0123456789abcdefghij0123456789abcdefgh'\n"
    report = look(tmp_path, {"a.py": secret, "tests/test_a.py": secret}, NO_PRINT)
    assert [(path, level) for _, path, _, level in told(report)] == [("a.py", "error"), ("tests/test_a.py", "note")]
    assert all("ghp_" not in str(one.value()) for one in report.findings)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("rules:\n  - {id: a}\n", "rules[0] needs exactly one of pattern"),
        ("rules:\n  - {id: a, pattern: x, size: {file_lines: 3}}\n", "rules[0] needs exactly one of"),
        ("rules:\n  - {id: a, patern: x}\n", "rules[0] needs exactly one of"),
        ("rules:\n  - {id: a, pattern: x, severty: error}\n", "rules[0] has the unknown key 'severty'"),
        ("rules:\n  - {id: a, pattern: x, severity: bad}\n", "rules[0].severity is 'bad'"),
        ("rules:\n  - {id: a, pattern: x, language: cobol}\n", "rules[0].language is 'cobol'"),
        ("rules:\n  - {id: a, size: {file_lines: 0}}\n", "rules[0].size.file_lines is 0"),
        ("rules:\n  - {id: a, pattern: x}\n  - {id: a, pattern: y}\n", "rule 'a' stands in house and in house"),
        ("rules: []\n", "rules are missing"),
        ("exemptions:\n  - {rule: a, paths: [x], reason: why}\n", "exemptions[0].expires is None"),
        ("exemptions:\n  - {rule: a, paths: [x], expires: never}\n", "exemptions[0].reason is missing"),
        ("exemptions:\n  - {rule: a, reason: why, expires: never}\n", "exemptions[0].paths are missing"),
    ],
)
def test_a_contract_that_is_wrong_says_where(text: str, place: str) -> None:
    with pytest.raises(ContractInvalid) as caught:
        read_contracts({"house.yaml": HEAD + text})
    assert place in caught.value.message


def test_contracts_between_stages_are_left_to_others() -> None:
    assert read_contracts({"a.yaml": "contract: specification\nextends: specification\n"}).rules == ()


def test_a_rule_with_a_fix_repairs_its_matches_and_nothing_else(tmp_path: Path) -> None:
    from agentforge.conformance.engine.catalogue import load_check

    report = look(tmp_path, {"a.py": SOURCE, "b.py": SOURCE}, NO_PRINT)
    rules = read_contracts({"house.yaml": HEAD + NO_PRINT}).rules
    site = Site(checkout=tmp_path, mount_at=tmp_path, sandbox=choose("none"), paths=("a.py", "b.py"), rules=rules)
    mine = [one for one in report.findings if one.path == "a.py"]
    changed = fix_findings(site, mine, checks=[load_check("pattern")])
    assert changed == {"a.py": SOURCE.replace("print('a', 1)", "log('a', 1)").encode()}
    assert (tmp_path / "b.py").read_text() == SOURCE
