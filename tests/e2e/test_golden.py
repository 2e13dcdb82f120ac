"""One request delivered from end to end: what it left behind, what it sent, and what it did not touch."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from agentforge.tokens import count_tokens
from tests.support.world import REQUEST, TEST_SLUGIFY, make_world

if TYPE_CHECKING:
    from tests.support.world import Done, World

_HOOKS = ("pre-commit", "post-commit", "post-checkout", "commit-msg", "prepare-commit-msg", "post-merge")
_RESULT_KEYS = {
    *(
        "task_id",
        "request",
        "repo",
        "outcome",
        "stage",
        "stages",
        "branch",
        "commit",
        "base_commit",
        "steps",
        "llm_calls",
    ),
    *("prompt_tokens", "cached_tokens", "completion_tokens", "max_step_prompt_tokens", "cost_usd", "duration_s"),
    *("escalations", "verification", "trail", "error"),
}


@dataclass(frozen=True)
class Golden:
    """A delivered task, and what the user's repository was before."""

    world: World
    done: Done
    before: dict[str, Any]

    @property
    def result(self) -> dict[str, Any]:
        value = self.done.json
        assert isinstance(value, dict)
        return value


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory, pycache: Path) -> Golden:
    """Deliver once, at a path with spaces and beyond ASCII, in a repository with hooks, a stash, a staged and an unknown file."""
    base = tmp_path_factory.mktemp("golden")
    world = make_world(base / "mein Projekt é漢", base / "ho me ü", pycache=pycache, plugins=True)
    (world.repo / "notes.txt").write_text("stashed\n")
    world.git("add", "notes.txt")
    world.git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "stash", "-q")
    (world.repo / "staged.txt").write_text("staged\n")
    world.git("add", "staged.txt")
    (world.repo / "unknown.txt").write_text("untracked\n")
    for name in _HOOKS:
        hook = world.repo / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {base}/hook-ran\n")
        hook.chmod(0o755)
    before = _untouchable(world)
    done = world.start()
    assert done.code == 0, done.out + done.err
    return Golden(world=world, done=done, before=before)


def _untouchable(world: World) -> dict[str, Any]:
    """Bytes and names of everything that is the user's alone."""
    git = world.repo / ".git"
    files = [path for path in world.repo.rglob("*") if path.is_file() and not {".git", ".agentforge"} & set(path.parts)]
    return {
        "index": (git / "index").read_bytes(),
        "head": (git / "HEAD").read_bytes(),
        "config": (git / "config").read_bytes(),
        "files": {str(path): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) for path in files},
        "hooks": {path.name: path.read_bytes() for path in (git / "hooks").iterdir()},
        "stash": world.git("stash", "list", "--format=%H %s"),
        "branches": [ref for ref in world.git("for-each-ref").splitlines() if "agentforge" not in ref],
        "reflog": (git / "logs" / "HEAD").read_bytes(),
    }


def test_the_result_has_the_documented_shape(golden: Golden) -> None:
    result = golden.result
    assert set(result) >= _RESULT_KEYS
    assert (result["outcome"], result["error"], result["escalations"]) == ("delivered", None, [])
    assert result["request"] == REQUEST
    assert [row["name"] for row in result["stages"]] == [
        *("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver")
    ]
    for row in result["stages"]:
        assert set(row) == {"name", "status", "attempts", "steps", "tokens", "verified"}
        assert (row["status"], row["verified"], row["attempts"]) == ("verified", True, 1)
    assert (result["steps"], result["llm_calls"]) == (5, 5)
    assert all(rule["passed"] for rule in result["verification"].values())
    assert all(set(rule) == {"passed", "measured"} for rule in result["verification"].values())
    records = golden.world.events()
    assert result["trail"] == {"head": records[-1]["hash"], "records": len(records)}
    assert result["prompt_tokens"] + result["completion_tokens"] == sum(row["tokens"] for row in result["stages"])


def test_the_users_checkout_index_branches_stash_and_hooks_are_untouched(golden: Golden) -> None:
    after = _untouchable(golden.world)
    for name, value in golden.before.items():
        assert after[name] == value, name
    assert not (golden.world.repo.parent / "hook-ran").exists()
    assert golden.world.git("status", "--porcelain") == "A  staged.txt\n?? unknown.txt"


def test_the_branch_holds_one_commit_with_the_verified_tree(golden: Golden) -> None:
    world, result = golden.world, golden.result
    assert result["branch"] == f"agentforge/{result['task_id']}"
    assert world.git("rev-parse", result["branch"]) == result["commit"]
    assert world.git("rev-list", f"{result['base_commit']}..{result['branch']}") == result["commit"]
    assert result["base_commit"] == world.git("rev-parse", "main")
    facts = {record["data"]["name"]: record["data"] for record in world.events("FactsGathered")}
    tree = world.git("rev-parse", f"{result['commit']}^{{tree}}")
    assert tree == facts["green"]["tree"] == facts["refactor"]["tree"] == facts["deliver"]["tree"]
    assert world.git("diff", "--name-status", result["base_commit"], result["commit"]).split() == [
        *("A", "tests/test_slugify.py", "M", "textkit.py")
    ]
    assert world.git("show", f"{result['branch']}:tests/test_slugify.py") == TEST_SLUGIFY.strip()


def test_the_commit_carries_its_task_and_the_head_of_its_trail(golden: Golden) -> None:
    world, result = golden.world, golden.result
    message = world.git("log", "-1", "--format=%B", result["commit"])
    assert message.splitlines()[0] == "feat: add slugify"
    trailers = dict(
        line.split(": ", 1) for line in world.git("log", "-1", "--format=%(trailers)", result["commit"]).splitlines()
    )
    assert trailers["AgentForge-Task"] == result["task_id"]
    head, length = trailers["AgentForge-Trail"].split()
    assert world.events()[int(length) - 1]["hash"] == head


def test_every_recorded_request_has_two_messages_and_at_most_8000_tokens(golden: Golden) -> None:
    world, result = golden.world, golden.result
    assert len(world.events("ModelCalled")) == result["llm_calls"]
    for step in (record["data"]["step"] for record in world.events("ModelCalled")):
        (shown,) = world.run("inspect", result["task_id"], "--step", str(step), "--show", "context", "--json").json
        sent = shown["request"]
        assert [message["role"] for message in sent["messages"]] == ["system", "user"]
        counted = count_tokens(json.dumps(sent, ensure_ascii=False))
        assert 0 < shown["tokens"] <= 8000
        assert counted <= 8000
        assert sum(shown["sections"].values()) <= shown["tokens"] + 50


def test_a_context_has_the_five_sections_of_the_schema(golden: Golden) -> None:
    (shown,) = golden.world.run("inspect", golden.result["task_id"], "--step", "5", "--show", "context", "--json").json
    assert set(shown["sections"]) >= {
        *("task_frame", "current_state", "recent_actions", "verification_status", "available_actions")
    }
    text = json.dumps(shown["request"]["messages"][1], ensure_ascii=False)
    for name in ("task_frame", "current_state", "recent_actions", "verification_status"):
        assert name in text, name


def test_the_run_folder_has_the_shape_of_the_state_store(golden: Golden) -> None:
    world = golden.world
    for name in (
        *("task.yaml", "state.yaml", "actions.yaml", "working_memory.yaml", "events.jsonl"),
        "artifacts/inputs/original_request.yaml",
        "artifacts/phases/intake/intake_record.yaml",
        "artifacts/phases/clarify/clarification.yaml",
        "artifacts/phases/analyze/analysis.yaml",
        "artifacts/phases/spec/specification.yaml",
        "artifacts/phases/red/test_suite.yaml",
        "artifacts/phases/green/implementation.yaml",
        "artifacts/phases/refactor/deliverable.yaml",
        "artifacts/phases/deliver/delivery_report.yaml",
        "artifacts/phases/deliver/delivery_report.md",
        "artifacts/snapshots/step_005.patch",
        "artifacts/snapshots/step_006.patch",
    ):
        assert (world.folder / name).is_file(), name
    assert "+def slugify" in (world.folder / "artifacts/snapshots/step_006.patch").read_text()
    task = world.view("task.yaml")
    assert task["request"] == REQUEST
    assert task["success_criteria"] == ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
    state = world.view("state.yaml")
    assert (state["status"], state["trail"]["head"]) == ("delivered", golden.result["trail"]["head"])


def test_actions_yaml_has_the_shape_of_the_audit_trail(golden: Golden) -> None:
    actions = golden.world.view("actions.yaml")
    head = [
        "task_id",
        "request",
        "started_at",
        "completed_at",
        "outcome",
        "total_steps",
        "total_tokens",
        "total_cost_usd",
    ]
    assert list(actions) == [*head, "actions"]
    assert (actions["outcome"], actions["total_steps"]) == ("success", 8)
    assert actions["total_tokens"] == golden.result["prompt_tokens"] + golden.result["completion_tokens"]
    first = actions["actions"][0]
    assert (first["step"], first["phase"]) == (1, "intake")
    assert set(first) >= {
        "step",
        "timestamp",
        "phase",
        "context_tokens",
        "action",
        "result",
        "verification",
        "llm_call",
    }
    assert set(first["action"]) >= {"type", "input_hash"}
    assert first["result"]["status"] == "success"
    assert first["result"]["output_artifact"] == "artifacts/phases/intake/intake_record.yaml"
    assert first["result"]["output_hash"]
    assert (first["verification"]["passed"], first["verification"]["contract"]) == (True, "intake_record")
    assert set(first["llm_call"]) >= {"model", "prompt_tokens", "completion_tokens"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(first["timestamp"]))


def test_the_delivery_report_traces_requirements_to_tests_and_changed_lines(golden: Golden) -> None:
    report = golden.world.view("artifacts/phases/deliver/delivery_report.yaml")
    (row,) = report["requirements"]
    assert row["tests"] == [
        "tests/test_slugify.py::test_slugify_lowers_and_hyphenates",
        "tests/test_slugify.py::test_slugify_of_nothing_is_nothing",
    ]
    assert [change["path"] for change in row["changes"]] == ["textkit.py"]
    assert report["commits"][0]["id"] == golden.result["commit"]
    text = (golden.world.folder / "artifacts/phases/deliver/delivery_report.md").read_text()
    assert text.index("ssumption") < text.index("REQ-001") < text.index("tests/test_slugify.py")


def test_the_test_suite_was_measured_red_and_green(golden: Golden) -> None:
    red = golden.world.view("artifacts/phases/red/test_suite.yaml")
    assert red["verification"] == {"all_tests_fail": True, "no_implementation_exists": True}
    green = golden.world.view("artifacts/phases/green/implementation.yaml")
    assert green["verification"] == {"all_tests_pass": True, "conformance_passing": True, "no_regressions": True}


def test_status_and_inspect_show_a_finished_task(golden: Golden) -> None:
    world, task = golden.world, golden.result["task_id"]
    shown = world.run("status", task, "--json")
    same = {key: value for key, value in shown.json.items() if key != "duration_s"}
    assert same == {key: value for key, value in golden.result.items() if key != "duration_s"}
    (row,) = world.run("status", "--json").json
    assert (row["task_id"], row["outcome"]) == (task, "delivered")
    assert task in world.run("status").out
    assert golden.result["branch"] in world.run("status", task).out
    diff = world.run("inspect", task, "--step", "6", "--show", "diff")
    assert "+def slugify" in diff.out
    artifacts = world.run("inspect", task, "--show", "artifact", "--json").json
    assert [item["stage"] for item in artifacts] == [row["name"] for row in golden.result["stages"]]
    actions = world.run("inspect", task, "--step", "4", "--show", "action", "--json").json
    assert {item["type"] for item in actions} >= {"ModelCalled", "ModelReplied", "ToolStarted", "ToolFinished"}
    assert len(world.run("inspect", task, "--show", "events", "--json").json) == golden.result["trail"]["records"]
    assert world.run("inspect", task, "--step", "99").code == 2


def test_a_finished_task_takes_no_more_commands(golden: Golden) -> None:
    for command in (("resume",), ("abort",)):
        done = golden.world.run(*command, golden.result["task_id"], "--json")
        assert (done.code, done.json["error"]["slug"]) == (8, "conflict")


def test_stages_contracts_config_and_doctor_answer(golden: Golden) -> None:
    world = golden.world
    assert [row["name"] for row in world.run("stages", "--json").json][:2] == ["intake", "clarify"]
    assert len(world.run("contracts", "list", "--json").json) >= 8
    assert "intake_record" in world.run("contracts", "show", "intake_record").out
    spec = world.folder / "artifacts/phases/spec/specification.yaml"
    checked = world.run("contracts", "check", str(spec))
    assert checked.code == 0, checked.out + checked.err
    broken = world.home / "broken.yaml"
    broken.write_text(yaml.safe_dump({**yaml.safe_load(spec.read_text()), "requirements": []}))
    assert world.run("contracts", "check", str(broken), "--contract", "specification").code == 4
    assert "limits.max_steps" in world.run("config", "show").out
    assert str(world.home) in world.run("config", "path").out
    doctor = world.run("doctor", "--json")
    assert doctor.code in (0, 2, 7), doctor.out + doctor.err
    assert doctor.json
