"""SARIF: what is written is valid and reads back the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from agentforge.conformance.engine.finding import Finding, fingerprinted, level_of
from agentforge.conformance.engine.sarif import from_sarif, relative_path, to_sarif

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\x00", exclude_categories=["Cs"]), min_size=1, max_size=12
)
FINDINGS = st.builds(
    Finding,
    check=st.just("ruff"),
    rule_id=st.sampled_from(["F821", "invalid-syntax"]),
    level=st.sampled_from(["error", "warning", "note"]),
    message=st.text(max_size=30),
    path=st.lists(NAMES.filter(lambda name: name not in (".", "..")), min_size=1, max_size=3).map("/".join),
    line=st.integers(1, 10_000),
    column=st.integers(0, 200),
    fingerprint=st.text("0123456789abcdef", min_size=16, max_size=16),
)


@given(st.lists(FINDINGS, max_size=5))
def test_findings_read_back_from_sarif_as_they_were(findings: list[Finding]) -> None:
    log = to_sarif(findings)
    assert log["version"] == "2.1.0"
    assert from_sarif(log, check="ruff", roots=()) == findings


def test_absolute_file_uris_become_paths_of_the_repository() -> None:
    log = {"runs": [{"results": [{"ruleId": "F401", "message": {"text": "m"}, "locations": [
        {"physicalLocation": {"artifactLocation": {"uri": "file:///repo/a%20b/%C3%BC.py"}, "region": {"startLine": 3}}}
    ]}]}]}  # fmt: skip
    found = from_sarif(log, check="ruff", roots=(Path("/other"), Path("/repo")))
    assert [(item.path, item.line, item.level) for item in found] == [("a b/ü.py", 3, "warning")]


def test_what_is_no_sarif_is_refused() -> None:
    with pytest.raises(ValueError, match="no runs"):
        from_sarif({"results": []}, check="ruff", roots=())


def test_a_path_elsewhere_stays_as_it_is() -> None:
    assert relative_path("/usr/lib/x.py", (Path("/repo"),)) == "/usr/lib/x.py"
    assert relative_path("./a/../a.py", ()) == "a/../a.py"


def test_an_unknown_level_is_an_error() -> None:
    assert [level_of(word) for word in ("warn", "info", "hint", "fatal", None)] == [
        "warning",
        "note",
        "note",
        "error",
        "error",
    ]


def test_fingerprints_survive_moved_lines_and_tell_equals_apart() -> None:
    def at(*lines: int) -> list[str]:
        made = [Finding(check="c", rule_id="r", level="error", message="m", path="a.py", line=line) for line in lines]
        return [
            item.fingerprint
            for item in fingerprinted(made, read_line=lambda _path, line: "  x =   1" if line < 50 else "x = 1")
        ]

    assert at(3, 9) == at(40, 60)
    assert len(set(at(3, 9))) == 2
