"""`conformance` and `fix` as people run them: real checks, real git, a scripted model where one is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.world import IMPLEMENTED, SLUGIFY, edit, good_script, reply, submit, write

if TYPE_CHECKING:
    from tests.support.world import World

VIOLATIONS = 4
RUFF = '[tool.ruff.lint]\nselect = ["F"]\n'
CONTRACT = """
kind: code
contract: house
scope: ["*.py"]
rules:
  - id: no-print
    description: Printing belongs to the command line
    message: print() in a library
    pattern: print($$$)
    hint: return the text
"""
SHOUTING = '''

def announce(text: str) -> str:
    """Say it loud."""
    print(text)
    return text.upper()
'''
GUARD = """from textkit import announce


def test_announce_gives_capitals():
    assert announce("hi") == "HI"
"""


@pytest.fixture
def faulty(world: World) -> World:
    """The world with an unused import, and a print in a function that no test runs."""
    files = {
        "pyproject.toml": RUFF,
        ".agentforge/contracts/house.yaml": CONTRACT,
        "textkit.py": "import os\n" + (world.repo / "textkit.py").read_text("utf-8") + SHOUTING,
    }
    for path, text in files.items():
        (world.repo / path).parent.mkdir(parents=True, exist_ok=True)
        (world.repo / path).write_text(text, "utf-8")
    world.commit_all("faulty")
    return world


def ids(world: World) -> dict[str, str]:
    """The open violations: rule -> id."""
    assert world.run("conformance", "check").code == VIOLATIONS
    return {row["rule"]: row["violation_id"] for row in world.run("violations", "list", "--json").json}


def test_a_check_tells_violations_by_place_rule_and_id_and_exits_with_four(faulty: World) -> None:
    done = faulty.run("conformance", "check")
    assert done.code == VIOLATIONS
    assert "textkit.py:1:8 V-" in done.out
    assert "error ruff/F401 `os` imported but unused" in done.out
    assert "return the text" in done.out
    found = ids(faulty)
    assert set(found) == {"ruff/F401", "pattern/no-print"}
    shown = faulty.run("violations", "show", found["ruff/F401"][:6], "--json").json
    assert (shown["file"], shown["line"], shown["snippet"], shown["status"]) == ("textkit.py", 1, "import os", "open")
    assert (faulty.repo / ".agentforge/violations" / f"{found['ruff/F401']}.yaml").is_file()
    assert faulty.git("status", "--porcelain") == ""


def test_json_is_sarif_and_another_tools_sarif_comes_in(faulty: World, tmp_path: Path) -> None:
    log = faulty.run("conformance", "check", "--json")
    assert log.code == VIOLATIONS
    assert log.json["version"] == "2.1.0"
    rules = {result["ruleId"] for run in log.json["runs"] for result in run["results"] if result["level"] == "error"}
    assert rules == {"F401", "no-print"}
    place = {"artifactLocation": {"uri": "textkit.py"}, "region": {"startLine": 6}}
    result = {"ruleId": "Q1", "message": {"text": "odd"}, "locations": [{"physicalLocation": place}]}
    theirs = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Scan It"}}, "results": [result]}]}
    (tmp_path / "theirs.sarif").write_text(json.dumps(theirs), "utf-8")
    told = faulty.run("conformance", "check", "--import", str(tmp_path / "theirs.sarif"), "--sarif", "out.sarif")
    assert "scan-it/Q1 odd" in told.out
    assert "Q1" in (faulty.repo / "out.sarif").read_text("utf-8")
    (faulty.repo / "out.sarif").unlink()
    again = ids(faulty)
    assert "scan-it/Q1" in again, "it stays while its line stands"
    refused = faulty.run("fix", again["scan-it/Q1"])
    assert refused.code == 2
    assert "was imported" in refused.err


def test_the_base_line_lets_old_violations_be_and_new_ones_count(faulty: World) -> None:
    assert faulty.run("conformance", "baseline", "--json").json["violations"] == 2
    clean = faulty.run("conformance", "check")
    assert clean.code == 0, clean.out
    assert "2 in the base line" in clean.out
    (faulty.repo / "textkit.py").rename(faulty.repo / "wordkit.py")
    (faulty.repo / "new.py").write_text("import sys\n", "utf-8")
    done = faulty.run("conformance", "check")
    assert done.code == VIOLATIONS
    assert "1 violation, 2 in the base line" in done.out
    assert faulty.run("conformance", "check", "wordkit.py").code == 0


def test_a_configured_checker_that_is_not_there_fails_closed(faulty: World) -> None:
    (faulty.repo / "setup.cfg").write_text("[flake8]\nmax-line-length = 88\n", "utf-8")
    (faulty.repo / "textkit.py").write_text("x = 1\n", "utf-8")
    done = faulty.run("conformance", "check")
    assert done.code == VIOLATIONS
    assert "could not do its work: flake8: configured, but" in done.out
    assert faulty.run("conformance", "baseline").code == VIOLATIONS


def test_the_projects_own_checks_are_programs_and_run_only_when_they_are_trusted(faulty: World) -> None:
    check = """
from pathlib import Path
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check

def run(site):
    return [Finding(check="own", rule_id="always", level="error", message="here", path=path) for path in site.paths]

Path("loaded").touch()
CHECK = Check(name="own", skip=lambda site: None, run=run)
"""
    (faulty.repo / ".agentforge/checks").mkdir()
    (faulty.repo / ".agentforge/checks/own.py").write_text(check, "utf-8")
    done = faulty.run("conformance", "check", "textkit.py")
    assert "not run: the project's own checks (own.py)" in done.out
    assert not (faulty.repo / "loaded").exists()
    trusted = faulty.run("conformance", "check", "textkit.py", "--trust-project-checks")
    assert "own/always here" in trusted.out
    (faulty.repo / ".agentforge/config.toml").write_text("[checks]\nproject_code = true\n", "utf-8")
    assert faulty.run("conformance", "check").code == 2, "a project cannot trust itself"


def test_a_fixer_repairs_on_a_verified_branch_without_a_model(faulty: World) -> None:
    violation = ids(faulty)["ruff/F401"]
    done = faulty.run("fix", violation, "--json")
    assert done.code == 0, done.out + done.err
    result: dict[str, Any] = done.json
    assert (result["outcome"], result["llm_calls"]) == ("delivered", 0)
    assert [stage["name"] for stage in result["stages"]] == ["analyze", "guard", "change", "verify", "deliver"]
    assert faulty.git("diff", "--stat", "HEAD", result["branch"]).strip().endswith("1 deletion(-)")
    message = faulty.git("show", "-s", "--format=%B", result["branch"])
    assert message.startswith("fix: ruff/F401 in textkit.py\n\n- ruff/F401 textkit.py:1: `os` imported but unused")
    assert "AgentForge-Trail:" in message
    report = (Path(result["folder"]) / "artifacts/phases/deliver/delivery_report.md").read_text("utf-8")
    assert violation in report
    _stands_up_to_proof(faulty, result["task_id"])


def _stands_up_to_proof(world: World, task: str) -> None:
    verified = world.run("verify", task, "--json")
    assert verified.code == 0, verified.out
    replayed = world.run("replay", task)
    assert replayed.code == 0, replayed.out


def test_what_needs_thought_is_guarded_first_and_a_silenced_check_is_refused(faulty: World) -> None:
    violation = ids(faulty)["pattern/no-print"]
    guards = {"test_files": [{"path": "tests/test_announce.py", "tests": [{"name": "test_announce_gives_capitals"}]}]}
    changed = submit({"changes": [{"path": "textkit.py", "summary": "no print"}]})
    script = {
        "guard": [reply(write("tests/test_announce.py", GUARD), submit(guards))],
        "change": [
            reply(edit("    print(text)\n", "    (print)(text)  # noqa\n"), changed),
            reply(edit("    (print)(text)  # noqa\n", ""), changed),
        ],
    }
    done = faulty.run("fix", violation, "--model", faulty.model(script), "--json")
    assert done.code == 0, done.out + done.err
    result = done.json
    assert {stage["name"]: stage["attempts"] for stage in result["stages"]}["change"] == 2
    assert result["llm_calls"] == 3
    names = faulty.git("diff", "--name-only", "HEAD", result["branch"]).split()
    assert names == ["tests/test_announce.py", "textkit.py"]
    assert "print(" not in faulty.git("show", f"{result['branch']}:textkit.py")
    assert result["verification"]["verify: no-regressions"]["passed"]
    _stands_up_to_proof(faulty, result["task_id"])


def _repaired_as(world: World, line: str) -> Any:
    """Repair the print with another last line of the function; a guard asserts what the function gives."""
    guards = {"test_files": [{"path": "tests/test_announce.py", "tests": [{"name": "test_announce_gives_capitals"}]}]}
    script = {
        "guard": [reply(write("tests/test_announce.py", GUARD), submit(guards))],
        "change": [reply(edit("    print(text)\n    return text.upper()\n", line), submit({"changes": []}))],
    }
    return world.run("fix", ids(world)["pattern/no-print"], "--model", world.model(script), "--json")


def test_a_repair_that_holds_only_where_assertions_are_executed_is_refused(faulty: World) -> None:
    done = _repaired_as(faulty, "    return text.upper() if __debug__ else text\n")
    assert done.json["outcome"] != "delivered"
    refused = [row["data"] for row in faulty.events("StageVerified") if not row["data"]["passed"]]
    assert "announce('hi') gives another result under python -O: 'hi'" in json.dumps(refused)


def test_a_repair_with_another_result_of_a_call_that_a_test_makes_tells_it(faulty: World) -> None:
    more = '\n\ndef test_announce_of_nothing():\n    announce("")\n'
    (faulty.repo / "tests/test_old.py").write_text(GUARD.replace("_capitals", "_letters") + more, "utf-8")
    faulty.commit_all("more tests")
    done = _repaired_as(faulty, "    return text.upper() or None\n")
    assert done.json["outcome"] == "delivered", done.out + done.err
    report = (Path(done.json["folder"]) / "artifacts/phases/deliver/delivery_report.md").read_text("utf-8")
    assert "announce('') gives another result than at the base: '' became None" in report


def test_a_violation_that_is_gone_is_told_and_closed(faulty: World) -> None:
    violation = ids(faulty)["ruff/F401"]
    text = (faulty.repo / "textkit.py").read_text("utf-8")
    (faulty.repo / "textkit.py").write_text(text.removeprefix("import os\n"), "utf-8")
    faulty.commit_all("by hand")
    done = faulty.run("fix", violation)
    assert done.code == 0, done.err
    assert f"{violation} is gone" in done.out
    assert not (faulty.repo / ".agentforge/violations" / f"{violation}.yaml").exists()
    assert faulty.run("fix", violation).code == 2, "nobody knows it any more"


def test_a_violation_in_uncommitted_changes_needs_them_as_the_base(faulty: World) -> None:
    (faulty.repo / "fresh.py").write_text("import sys\n\nX = 1\n", "utf-8")
    assert faulty.run("conformance", "check", "fresh.py").code == VIOLATIONS
    rows = faulty.run("violations", "list", "--json").json
    violation = next(row["violation_id"] for row in rows if row["file"] == "fresh.py")
    refused = faulty.run("fix", violation)
    assert refused.code == 2
    assert "--include-dirty" in refused.err
    done = faulty.run("fix", violation, "--include-dirty", "--json")
    assert done.code == 0, done.err
    assert faulty.git("show", f"{done.json['branch']}:fresh.py").strip() == "X = 1"


def test_all_violations_of_a_rule_share_a_branch_and_rules_do_not(faulty: World) -> None:
    (faulty.repo / "more.py").write_text("import sys\nimport json\n\nprint(1)\n", "utf-8")
    faulty.commit_all("more")
    done = faulty.run("fix", "--rule", "F401", "--json")
    assert done.code == 0, done.out + done.err
    tasks = done.json["tasks"]
    assert [(task["outcome"], task["llm_calls"]) for task in tasks] == [("delivered", 0)]
    assert faulty.git("diff", "--name-only", "HEAD", tasks[0]["branch"]).split() == ["more.py", "textkit.py"]
    nothing = faulty.run("fix", "--rule", "E501", "--json")
    assert (nothing.code, nothing.json) == (0, {"tasks": [], "gone": []})
    assert faulty.run("fix").code == 2
    assert faulty.run("fix", "V-123456", "--all").code == 2


def test_without_a_model_the_fix_stops_where_it_needs_one_and_goes_on_with_it(faulty: World) -> None:
    violation = ids(faulty)["pattern/no-print"]
    stopped = faulty.run("fix", violation, "--json")
    assert (stopped.code, stopped.json["error"]["slug"]) == (2, "no-model")
    guards = {"test_files": [{"path": "tests/test_announce.py", "tests": [{"name": "test_announce_gives_capitals"}]}]}
    script = {
        "guard": [reply(write("tests/test_announce.py", GUARD), submit(guards))],
        "change": [reply(edit("    print(text)\n", ""), submit({"changes": []}))],
    }
    done = faulty.run("resume", stopped.json["task_id"], "--model", faulty.model(script), "--json")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err


def test_a_task_is_held_against_the_contracts_of_its_base(world: World) -> None:
    (world.repo / ".agentforge/contracts").mkdir(parents=True)
    (world.repo / ".agentforge/contracts/house.yaml").write_text(CONTRACT, "utf-8")
    world.commit_all("house")
    printing = SLUGIFY.replace("    return", "    print(text)\n    return")
    script = good_script(
        green=[
            reply(edit("    return text.lower()\n", f"    return text.lower()\n{printing}"), IMPLEMENTED),
            reply(edit("    print(text)\n", ""), IMPLEMENTED),
        ]
    )
    done = world.start(script)
    assert done.json["outcome"] == "delivered", done.out
    assert {stage["name"]: stage["attempts"] for stage in done.json["stages"]}["green"] == 2
    (refused,) = [row for row in world.events("StageVerified") if not row["data"]["passed"]]
    assert "print() in a library" in json.dumps(refused)
