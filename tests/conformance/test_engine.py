"""Checks over real files with the real ruff and ty: what is new counts, what was there does not, a crash is no pass."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agentforge.conformance.checks.eslint import CHECK as ESLINT
from agentforge.conformance.checks.flake8 import CHECK as FLAKE8
from agentforge.conformance.checks.mypy import CHECK as MYPY
from agentforge.conformance.checks.pyright import CHECK as PYRIGHT
from agentforge.conformance.checks.ruff import CHECK as RUFF
from agentforge.conformance.checks.syntax import CHECK as SYNTAX
from agentforge.conformance.checks.ty import CHECK as TY
from agentforge.conformance.engine.catalogue import check_names, load_check
from agentforge.conformance.engine.check_engine import Absence, CheckReport, compare, run_checks
from agentforge.conformance.engine.finding import finding_from
from agentforge.conformance.engine.report import report_for_agent
from agentforge.conformance.engine.site import Check, CheckCrashedError, Site
from agentforge.tokens import count_tokens
from agentforge.workspace.sandbox.box import Sandbox, choose

OLD = "import os\n\n\ndef old(items=[]):\n    return items\n"
NEW_DEFECT = "\n\ndef fresh():\n    return undefined_name\n"


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return choose("none")


def tree(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def look(folder: Path, sandbox: Sandbox, *paths: str, checks: list[Check] | None = None, **more: object) -> CheckReport:
    return run_checks(folder, mount_at=folder, sandbox=sandbox, paths=paths, checks=checks, **more)  # type: ignore[arg-type]


def rules(report: CheckReport) -> set[tuple[str, str, str]]:
    return {(finding.check, finding.rule_id, finding.level) for finding in report.findings}


def test_every_check_file_exposes_a_check_of_its_own_name() -> None:
    assert set(check_names()) > {"command", "eslint", "imports", "mypy", "pattern", "ruff", "secrets", "syntax", "ty"}
    assert [load_check(name).name for name in check_names()] == list(check_names())


def test_defects_count_and_matters_of_taste_are_notes_where_the_project_configures_nothing(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    tree(tmp_path, {"a.py": OLD + NEW_DEFECT})
    report = look(tmp_path, sandbox, "a.py")
    assert ("ruff", "F821", "error") in rules(report)
    assert ("ruff", "B006", "error") in rules(report)
    assert ("ruff", "F401", "note") in rules(report)
    assert ("ty", "unresolved-reference", "error") in rules(report)
    assert set(report.ran) == {"ruff", "secrets", "syntax", "ty"}
    assert {absence.check for absence in report.skipped} >= {"eslint", "flake8", "mypy", "pyright"}


def test_only_findings_that_the_base_does_not_have_are_new_however_lines_moved(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    base = look(tree(tmp_path / "base", {"a.py": OLD}), sandbox, "a.py", checks=[RUFF, TY])
    moved = "'''Doc.'''\n\n\n" + OLD.replace("items=[]", "items  =  []")
    now = look(tree(tmp_path / "now", {"a.py": moved + NEW_DEFECT}), sandbox, "a.py", checks=[RUFF, TY])
    compared = compare(base, now)
    assert {(finding.check, finding.rule_id) for finding in compared.new if finding.rule_id != "B006"} == {
        ("ruff", "F821")
    }, "ty says the same of that line: it is told once"
    assert not compared.passed
    same = look(tree(tmp_path / "same", {"a.py": "'''Doc.'''\n\n\n" + OLD}), sandbox, "a.py", checks=[RUFF, TY])
    assert compare(base, same).new == ()
    assert compare(base, same).passed
    assert compare(base, same).before == compare(base, same).after == 1


def test_a_second_copy_of_a_known_defect_is_new(tmp_path: Path, sandbox: Sandbox) -> None:
    line = "print(missing)\n"
    base = look(tree(tmp_path / "base", {"a.py": line}), sandbox, "a.py", checks=[RUFF])
    now = look(tree(tmp_path / "now", {"a.py": line * 2}), sandbox, "a.py", checks=[RUFF])
    assert [finding.line for finding in compare(base, now).new] == [2]
    assert len(compare(now, base).gone) == 1


def test_a_finding_without_a_base_is_new(tmp_path: Path, sandbox: Sandbox) -> None:
    report = look(tree(tmp_path, {"a.py": "print(missing)\n"}), sandbox, "a.py", checks=[RUFF])
    assert len(compare(None, report).new) == 1


@pytest.mark.parametrize(
    "source",
    [b"def f(:\n", b"x = 1\n\x00\n", b"# coding: nonsense\n", b"\xff = 1\n"],
    ids=["grammar", "nul", "cookie", "bytes"],
)
def test_a_python_file_that_does_not_parse_is_a_finding(tmp_path: Path, sandbox: Sandbox, source: bytes) -> None:
    (tmp_path / "a.py").write_bytes(source)
    report = look(tmp_path, sandbox, "a.py", checks=[SYNTAX], interpreter=sys.executable)
    assert rules(report) == {("syntax", "invalid-syntax", "error")}
    assert report.findings[0].path == "a.py"


def test_the_projects_own_ruff_configuration_decides_and_all_of_it_counts(tmp_path: Path, sandbox: Sandbox) -> None:
    config = '[tool.ruff.lint]\nselect = ["D100"]\n'
    tree(tmp_path, {"pyproject.toml": config, "a.py": OLD})
    assert rules(look(tmp_path, sandbox, "a.py", checks=[RUFF])) == {("ruff", "D100", "error")}


def test_a_configuration_that_selects_no_rules_is_not_held_to_the_newest_defaults(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    source = "import typing\n\n\ndef f(x: typing.Union[int, float]) -> None:  # noqa\n    print(missing)\n"
    tree(tmp_path, {"pyproject.toml": "[tool.ruff]\nline-length = 88\n", "a.py": source})
    found = look(tmp_path, sandbox, "a.py", checks=[RUFF]).findings
    assert {finding.rule_id for finding in found if finding.level == "error"} == {"F821"}


def test_what_a_project_adds_to_the_defaults_counts_and_the_newest_defaults_do_not(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    source = "import typing\n\n\ndef f(x: typing.Union[None, int]) -> None:\n    print(missing)\n"
    tree(tmp_path, {"ruff.toml": 'lint.extend-select = ["D103"]\n', "a.py": source})
    found = look(tmp_path, sandbox, "a.py", checks=[RUFF]).findings
    assert {finding.rule_id for finding in found if finding.level == "error"} == {"F821", "D103"}
    assert not any(finding.ours for finding in found)


def test_what_no_configuration_asks_for_is_marked_as_ours(tmp_path: Path, sandbox: Sandbox) -> None:
    tree(tmp_path, {"a.py": "def f(x=[]):\n    print(missing)\n"})
    found = look(tmp_path, sandbox, "a.py", checks=[RUFF]).findings
    assert {finding.rule_id for finding in found if finding.ours and finding.counts} == {"F821", "B006"}
    assert finding_from(found[0].value()) == found[0]


def test_the_nearest_configuration_holds_for_each_file(tmp_path: Path, sandbox: Sandbox) -> None:
    tree(tmp_path, {"sub/ruff.toml": 'lint.select = ["D100"]\n', "sub/a.py": "import os\n", "b.py": "print(missing)\n"})
    found = look(tmp_path, sandbox, "sub/a.py", "b.py", checks=[RUFF]).findings
    assert {(finding.path, finding.rule_id) for finding in found} == {("sub/a.py", "D100"), ("b.py", "F821")}


def test_a_configuration_that_this_ruff_cannot_read_is_told_and_our_rules_hold(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    tree(tmp_path, {"ruff.toml": "no-such-key = 1\n", "a.py": "print(missing)\n"})
    report = look(tmp_path, sandbox, "a.py", checks=[RUFF])
    assert rules(report) == {("ruff", "configuration", "note"), ("ruff", "F821", "error")}
    assert not report.crashed


def test_an_agent_cannot_switch_a_check_off_by_its_configuration(tmp_path: Path, sandbox: Sandbox) -> None:
    strict, weak = '[tool.ruff.lint]\nselect = ["F"]\n', '[tool.ruff]\nexclude = ["a.py"]\n'
    base = tree(tmp_path / "base", {"pyproject.toml": strict, "pkg/a.py": "x = 1\n"})
    files = {"pyproject.toml": weak, "pkg/a.py": "print(missing)\n", "pkg/ruff.toml": "lint.select = []\n"}
    now = tree(tmp_path / "now", files)
    assert look(now, sandbox, "pkg/a.py", checks=[RUFF]).findings == ()
    steered = look(now, sandbox, "pkg/a.py", checks=[RUFF], base=base)
    assert rules(steered) == {("ruff", "F821", "error")}
    assert steered.steering == ("pyproject.toml", "pkg/ruff.toml")
    assert {path: (now / path).read_text() for path in files} == files
    assert sorted(path.name for path in now.rglob("*") if path.is_file()) == ["a.py", "pyproject.toml", "ruff.toml"]


def test_steering_files_come_back_even_when_a_check_is_interrupted(tmp_path: Path, sandbox: Sandbox) -> None:
    base = tree(tmp_path / "base", {"ruff.toml": "", "a.py": ""})
    now = tree(tmp_path / "now", {"setup.cfg": "[flake8]\n", "a.py": ""})
    (now / "ruff.toml").symlink_to("setup.cfg")

    def interrupt(_site: Site) -> list:
        raise KeyboardInterrupt

    stopped = Check(name="stopped", skip=lambda _site: None, run=interrupt)
    with pytest.raises(KeyboardInterrupt):
        look(now, sandbox, "a.py", checks=[stopped], base=base)
    assert (now / "ruff.toml").is_symlink()
    assert (now / "setup.cfg").read_text() == "[flake8]\n"


def test_a_check_that_crashes_has_not_passed(tmp_path: Path, sandbox: Sandbox) -> None:
    def crash(_site: Site) -> list:
        raise CheckCrashedError("ended with 2: boom")

    broken = Check(name="broken", skip=lambda _site: None, run=crash)
    sound = Check(name="broken", skip=lambda _site: None, run=lambda _site: [])
    tree(tmp_path, {"a.py": ""})
    now, before = look(tmp_path, sandbox, "a.py", checks=[broken]), look(tmp_path, sandbox, "a.py", checks=[sound])
    compared = compare(before, now)
    assert not compared.passed
    assert compared.facts()["crashed"] == [{"check": "broken", "reason": "ended with 2: boom"}]
    assert "FAILED" in report_for_agent(compared)
    at_both = compare(now, now)
    assert at_both.passed
    assert at_both.facts()["unavailable"] == [{"check": "broken", "reason": "ended with 2: boom"}]
    assert "crashed at the base too: broken" in report_for_agent(at_both)


def test_output_that_cannot_be_read_is_a_crash(tmp_path: Path, sandbox: Sandbox) -> None:
    garbled = Check(name="garbled", skip=lambda _site: None, run=lambda _site: json.loads("{"))
    report = look(tree(tmp_path, {"a.py": ""}), sandbox, "a.py", checks=[garbled])
    assert report.ran == ()
    assert report.crashed[0].check == "garbled"


def test_files_that_are_not_there_or_lead_out_of_the_checkout_are_not_looked_at(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    (tmp_path / "secret.py").write_text("def f(:\n")
    inside = tree(tmp_path / "in", {"a.py": "x = 1\n"})
    (inside / "link.py").symlink_to("../secret.py")
    assert look(inside, sandbox, "a.py", "gone.py", "link.py", checks=[SYNTAX, RUFF]).findings == ()


def test_names_with_spaces_and_other_letters_keep_their_paths(tmp_path: Path, sandbox: Sandbox) -> None:
    tree(tmp_path, {"src dir/größe ü.py": "print(missing)\n"})
    report = look(tmp_path, sandbox, "src dir/größe ü.py", checks=[RUFF, TY])
    assert {finding.path for finding in report.findings} == {"src dir/größe ü.py"}
    assert {finding.check for finding in report.findings} == {"ruff", "ty"}


def test_ty_counts_all_of_its_findings_where_the_project_configures_it(tmp_path: Path, sandbox: Sandbox) -> None:
    wrong = "def f(x: int) -> str:\n    return x\n\n\nf('a')\nimport no_such_thing\n"
    tree(tmp_path, {"a.py": wrong})
    free = look(tmp_path, sandbox, "a.py", checks=[TY])
    assert free.findings
    assert not any(finding.counts for finding in free.findings)
    assert not any(finding.line == 6 for finding in free.findings), "without an environment no import is judged"
    tree(tmp_path, {"ty.toml": ""})
    assert {finding.line for finding in look(tmp_path, sandbox, "a.py", checks=[TY]).findings if finding.counts} == {
        2,
        5,
    }
    with_environment = look(tmp_path, sandbox, "a.py", checks=[TY], interpreter=sys.executable)
    assert {finding.line for finding in with_environment.findings if finding.counts} == {2, 5, 6}


def test_the_projects_own_mypy_runs_in_the_sandbox_where_it_is_configured(tmp_path: Path) -> None:
    files = {
        "mypy.ini": "[mypy]\nstrict = True\n",
        "a.py": "import b\n\n\ndef f() -> str:\n    return b.n\n",
        "b.py": "n: int = ''\n",
    }
    tree(tmp_path, files)
    report = look(tmp_path, choose("auto"), "a.py", checks=[MYPY], interpreter=sys.executable)
    assert not report.crashed
    assert [(f.path, f.line, f.rule_id) for f in report.findings] == [("a.py", 5, "return-value")]
    (tmp_path / "a.py").write_text("def f(:\n")
    broken = look(tmp_path, choose("auto"), "a.py", checks=[MYPY], interpreter=sys.executable)
    assert not broken.crashed
    assert {f.rule_id for f in broken.findings} == {"syntax"}
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = no_such_plugin\n")
    assert look(tmp_path, choose("auto"), "a.py", checks=[MYPY], interpreter=sys.executable).crashed[0].check == "mypy"


def test_tools_that_are_configured_but_not_installed_have_not_passed(tmp_path: Path, sandbox: Sandbox) -> None:
    files = {"setup.cfg": "[flake8]\n", "pyrightconfig.json": "{}", "eslint.config.js": "", "a.py": "", "a.ts": ""}
    tree(tmp_path, files)
    report = look(tmp_path, sandbox, "a.py", "a.ts", checks=[FLAKE8, PYRIGHT, ESLINT], interpreter=sys.executable)
    assert not report.ran
    assert not report.skipped
    assert all(absence.reason.startswith("configured, but") for absence in report.crashed)
    assert len(report.crashed) == 3
    before = CheckReport(
        findings=(), ran=(), crashed=(), skipped=(Absence(check="flake8", reason="no file"),), steering=()
    )
    compared = compare(before, report)
    assert compared.passed and len(compared.unavailable) == 3  # the environment lacks them, and no change can mend that
    assert "not judged, not installed: " in report_for_agent(compared)
    assert not compare(None, report).passed
    assert not compare(None, report).passed


@pytest.fixture
def project_with_tools(tmp_path: Path) -> tuple[Path, str]:
    """A project whose environment has a flake8 and a pyright of ours, which print what the real ones print."""
    flake8 = (
        "import sys\nprint('a.py\\t3\\t1\\tE302\\texpected 2 blank lines')\nsys.exit('--exit-zero' not in sys.argv)\n"
    )
    pyright = (
        "import json\nprint(json.dumps({'generalDiagnostics': [{'file': '%s', 'severity': 'warning', 'rule': 'reportX',"
        % (tmp_path / "a.py")
    )
    pyright += " 'message': 'odd\\n  indeed', 'range': {'start': {'line': 1, 'character': 4}}}]}))\n"
    (tmp_path / "venv").mkdir()
    import subprocess

    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True, capture_output=True
    )
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    tree(
        site,
        {
            "flake8/__init__.py": "",
            "flake8/__main__.py": flake8,
            "pyright/__init__.py": "",
            "pyright/__main__.py": pyright,
        },
    )
    tree(
        tmp_path,
        {"tox.ini": "[flake8]\nmax-line-length = 88\n", "pyproject.toml": "[tool.pyright]\n", "a.py": "x = 1\n" * 4},
    )
    return tmp_path, str(tmp_path / "venv/bin/python")


def test_findings_of_flake8_and_pyright_are_read(project_with_tools: tuple[Path, str], sandbox: Sandbox) -> None:
    folder, interpreter = project_with_tools
    report = look(folder, sandbox, "a.py", checks=[FLAKE8, PYRIGHT], interpreter=interpreter)
    assert report.crashed == ()
    assert [(f.check, f.rule_id, f.level, f.line, f.column, f.message) for f in report.findings] == [
        ("pyright", "reportX", "warning", 2, 5, "odd indeed"),
        ("flake8", "E302", "error", 3, 1, "expected 2 blank lines"),
    ]


def test_tools_of_the_projects_environment_find_a_fresh_checkout_at_the_users_path(
    project_with_tools: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, interpreter = project_with_tools
    fresh = tree(tmp_path_factory.mktemp("fresh"), {"tox.ini": "[flake8]\n", "a.py": "x = 1\n" * 4})
    report = run_checks(
        fresh, mount_at=folder, sandbox=choose("auto"), paths=["a.py"], checks=[SYNTAX, FLAKE8], interpreter=interpreter
    )
    assert report.crashed == ()
    assert report.ran == ("syntax", "flake8")
    assert [(finding.path, finding.rule_id) for finding in report.findings] == [("a.py", "E302")]


def test_the_agent_reads_new_findings_first_and_never_more_than_its_budget(tmp_path: Path, sandbox: Sandbox) -> None:
    tree(tmp_path, {"a.py": "".join(f"print(missing_{number})\n" for number in range(300))})
    text = report_for_agent(look(tmp_path, sandbox, "a.py", checks=[RUFF]))
    assert count_tokens(text) <= 600
    assert text.splitlines()[0] == "checks FAILED (ruff): 300 new finding(s)"
    assert text.splitlines()[1] == "a.py:1:7 ruff/F821 Undefined name `missing_0`"
    assert text.endswith("more lines omitted ...")
    clean = look(tree(tmp_path / "clean", {"b.py": "x = 1\n"}), sandbox, "b.py", checks=[RUFF])
    assert report_for_agent(clean) == "checks passed (ruff); findings 0 at the base, 0 now"
