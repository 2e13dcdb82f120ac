"""What a run leaves behind is enough to look into it, to drive it again, to branch off from it and to compare it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.world import REQUEST, analysis, edit, good_script, make_world, reply, specification, submit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.world import Script, World

_CRITERIA = ["slugify('Hello World') -> 'hello-world'", "slugify('') -> ''"]
_SYMBOL = {"name": "slugify", "signature": "(text: str) -> str", "change": "new"}


def _script() -> Script:
    """The good script, with a look around, a draft that is refused, and a call that fails."""
    good = good_script()
    return {
        **good,
        "analyze": [reply(("read_file", {"path": "textkit.py"})), reply(submit(analysis()))],
        "spec": [
            reply(submit(specification(_CRITERIA, _SYMBOL, requirements=[]))),
            reply(submit(specification(_CRITERIA, _SYMBOL))),
        ],
        "green": [reply(edit("no such text", "nothing")), *good["green"]],
    }


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory, pycache: Path) -> World:
    """A world in which one task was delivered; tests add to it and change nothing of that task but its end."""
    folder = tmp_path_factory.mktemp("trail")
    world = make_world(folder / "repo", folder / "home", pycache=pycache, results=folder / "results")
    done = world.start(_script())
    assert done.code == 0, done.out + done.err
    return world


@pytest.fixture(scope="module")
def task(old: World) -> str:
    """The id of the delivered task."""
    return sorted(path.name for path in (old.repo / ".agentforge" / "tasks").iterdir())[0]


@pytest.fixture(scope="module")
def forked(old: World, task: str) -> str:
    """A fork of the delivered task that was driven to its end."""
    made = old.run("fork", task, "--from-step", "6", "--json")
    assert made.code == 0, made.err
    child = str(made.json["task_id"])
    assert old.run("resume", child, "--json").json["outcome"] == "delivered"
    return child


@pytest.fixture(scope="module")
def paused(old: World, task: str) -> dict[str, Any]:
    """What a run that stops after two steps tells of itself beside the delivered one."""
    done = old.run(
        "start", REQUEST, "--model", old.model(_script()), "--compare-to", task, "--json", "--max-steps", "2"
    )
    assert done.code == 6
    return dict(done.json)


def _folder(world: World, task: str) -> Path:
    return world.repo / ".agentforge" / "tasks" / task


def _records(world: World, task: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_folder(world, task) / "events.jsonl").read_bytes().splitlines()]


def _delivered_tree(world: World, task: str) -> str:
    return world.git("rev-parse", f"agentforge/{task}^{{tree}}")


# -- inspect


def test_a_step_shows_the_recorded_bytes_the_calls_the_change_and_its_verdict(old: World, task: str) -> None:
    asked = next(row for row in _records(old, task) if row["type"] == "ModelCalled" and row["data"]["step"] == 9)
    raw = old.run("inspect", task, "--step", "9", "--show", "context", "--raw")
    assert hashlib.sha256(raw.out.encode()).hexdigest() == asked["data"]["request"]
    (context,) = old.run("inspect", task, "--step", "9", "--show", "context", "--json").json
    assert context["request"] == json.loads(raw.out)
    kinds = [row["type"] for row in old.run("inspect", task, "--step", "9", "--show", "events", "--json").json]
    assert (kinds[0], kinds[-1]) == ("ModelCalled", "StagePassed")
    assert {"FactsGathered", "StageVerified"} <= set(kinds)
    (change,) = old.run("inspect", task, "--step", "9", "--show", "diff", "--json").json
    assert "+def slugify" in change["patch"]
    (artifact,) = old.run("inspect", task, "--step", "9", "--show", "artifact", "--json").json
    assert (artifact["stage"], artifact["passed"]) == ("green", True)
    missing = old.run("inspect", task, "--step", "99", "--json")
    assert (missing.code, "11 steps" in missing.json["error"]["hint"]) == (2, True)


# -- replay


def test_a_run_is_driven_again_and_nothing_is_touched(old: World, task: str) -> None:
    before = _everything(old, task)
    done = old.run("replay", task, "--json")
    assert (done.code, done.json["ok"], done.json["divergence"]) == (0, True, None), done.out
    assert done.json["replayed"] == done.json["records"] == len(_records(old, task))
    assert _everything(old, task) == before


def _everything(world: World, task: str) -> tuple[object, ...]:
    files = {path: path.read_bytes() for path in _folder(world, task).rglob("*") if path.is_file()}
    return files, world.git("for-each-ref"), world.git("count-objects", "-v"), world.git("worktree", "list")


def test_a_changed_contract_is_named_where_it_first_matters(old: World, task: str) -> None:
    folder = old.repo / ".agentforge" / "contracts"
    folder.mkdir()
    file = folder / "test_suite.yaml"
    file.write_text("contract: test_suite\nextends: test_suite\nschema:\n  owner:\n    type: string\n")
    try:
        done = old.run("replay", task, "--json")
    finally:
        file.unlink()
        folder.rmdir()
    found = done.json["divergence"]
    assert (done.code, found["stage"], found["event"], found["field"]) == (4, "red", "ModelCalled", "request"), done.out
    assert done.json["names"] == ["tool submit_artifact (contract test_suite)"]
    assert done.json["changed"] == ["contracts"]


@pytest.mark.parametrize(
    ("kind", "field", "value", "told"),
    [
        ("ToolFinished", "changed", {"textkit.py": "0" * 64}, "changed"),
        ("StepFinished", "tree", "0" * 40, "tree"),
        ("StageVerified", "artifact_digest", "0" * 64, "artifact_digest"),
        ("EscalationRaised", "", None, "decision"),
    ],
)
def test_what_was_recorded_otherwise_is_the_first_difference(
    kind: str, field: str, value: object, told: str, old: World, task: str
) -> None:
    from dataclasses import replace

    from agentforge.app.history import replay as replaying
    from agentforge.config.settings import load
    from agentforge.events import kinds
    from agentforge.store.log import reader
    from agentforge.workspace.git.repository import Git

    records = list(reader.read(_folder(old, task)))
    places = [number for number, record in enumerate(records) if type(record.event).__name__ == kind]
    if field:
        place = next(number for number in reversed(places) if getattr(records[number].event, field))
        event = replace(records[place].event, **{field: value})
    else:
        place = next(n for n, record in enumerate(records) if isinstance(record.event, kinds.StagePassed))
        event = kinds.EscalationRaised(escalation_id="E1", stage="intake", kind="stuck", reason="", question="")
    records[place] = replace(records[place], event=event)
    folder, settings = _folder(old, task), load(old.repo, old.env)
    found = replaying.replay_records(folder, records, Git(old.repo), settings=settings, environ=old.env).divergence
    assert found is not None
    assert (found.seq, found.field) == (records[place].seq, told)


def test_recorded_changes_give_the_same_tree_on_the_same_base(old: World, task: str) -> None:
    refs = old.git("for-each-ref")
    done = old.run("replay", task, "--actions-only", "--json")
    assert (done.code, done.json["tree"]) == (0, _delivered_tree(old, task)), done.out
    assert done.json["same_tree"] is done.json["same_base"] is True
    assert old.git("for-each-ref") == refs


def test_recorded_changes_meet_another_commit_and_tell_the_conflict_by_file_and_step(old: World, task: str) -> None:
    old.git("checkout", "-q", "-b", "other")
    (old.repo / "more.txt").write_text("more\n")
    clean = old.commit_all("no conflict")
    file = old.repo / "textkit.py"
    text = file.read_text()
    file.write_text(text.replace("    return text.lower()\n", "    return text.lower().strip()\n"))
    clash = old.commit_all("a conflict")
    old.git("checkout", "-q", "main")
    fine = old.run("replay", task, "--actions-only", "--onto", clean, "--branch", "there", "--json")
    assert (fine.code, fine.json["conflicts"]) == (0, []), fine.out
    assert old.git("diff", "--name-only", clean, "there").split() == ["tests/test_slugify.py", "textkit.py"]
    done = old.run("replay", task, "--actions-only", "--onto", clash, "--json")
    assert done.code == 4
    assert done.json["conflicts"] == [{"step": 9, "path": "textkit.py", "reason": "both changed the same lines"}]
    refused = old.run("replay", task, "--actions-only", "--onto", clash, "--branch", "nowhere", "--json")
    assert (refused.code, "step 9" in refused.json["error"]["message"]) == (8, True)
    assert "nowhere" not in old.git("branch", "--list", "nowhere")


# -- fork


def test_a_fork_shares_the_records_byte_for_byte_and_asks_only_what_follows(old: World, task: str, forked: str) -> None:
    parent, child = (_folder(old, name) / "events.jsonl" for name in (task, forked))
    records = _records(old, forked)
    event = next(row for row in records if row["type"] == "RunForked")
    shared = event["data"]["parent_records"]
    assert child.read_bytes().splitlines()[:shared] == parent.read_bytes().splitlines()[:shared]
    assert (event["seq"], event["prev"], event["data"]["parent_head"]) == (
        shared + 1,
        *[records[shared - 1]["hash"]] * 2,
    )
    assert (event["data"]["parent"], event["data"]["step"]) == (task, 6)
    assert [row["data"]["step"] for row in records[shared:] if row["type"] == "ModelCalled"] == [7, 8, 9]
    assert _delivered_tree(old, forked) == _delivered_tree(old, task)
    assert old.run("status", task, "--json").json["forks"] == [{"child": forked, "step": 6}]
    assert old.run("status", forked, "--json").json["parent"] == task
    assert old.run("replay", forked).code == 0


def test_a_fork_copies_neither_blobs_nor_the_repository(old: World, task: str, forked: str) -> None:
    blobs = {path.name: path.stat().st_ino for path in (_folder(old, task) / "blobs").rglob("*") if path.is_file()}
    same = [path for path in (_folder(old, forked) / "blobs").rglob("*") if path.name in blobs]
    shared = next(row for row in _records(old, forked) if row["type"] == "ModelCalled")["data"]["request"][2:]
    assert any(path.name.startswith(shared) and path.stat().st_ino == blobs[path.name] for path in same)


def test_a_step_that_was_never_finished_cannot_be_forked(old: World, task: str) -> None:
    tasks = old.repo / ".agentforge" / "tasks"
    before = sorted(tasks.iterdir())
    done = old.run("fork", task, "--from-step", "99", "--json")
    assert (done.code, done.json["error"]["hint"]) == (2, "the run finished steps 1 to 11")
    assert sorted(tasks.iterdir()) == before


def test_the_snapshots_of_a_run_outlive_the_garbage_collection(old: World, task: str, forked: str) -> None:
    trees = {row["data"]["tree"] for row in _records(old, task) if row["type"] == "StepFinished"} - {None}
    old.git("reflog", "expire", "--expire=now", "--all")
    old.git("gc", "-q", "--prune=now")
    assert trees
    assert [old.git("cat-file", "-t", tree) for tree in trees] == ["tree"] * len(trees)


# -- compare, cost, metrics, marks


def test_two_runs_stand_side_by_side(old: World, task: str, forked: str, tmp_path: Path) -> None:
    text = old.run("compare", task, forked)
    assert text.code == 0, text.err
    assert max(map(len, text.out.splitlines())) <= 80
    assert "the resulting files are the same, byte for byte" in text.out
    value = old.run("compare", task, forked, "--json").json
    assert {row["name"] for row in value["stages"]} >= {"intake", "spec", "green", "deliver"}
    assert [row["stage"] for row in value["artifacts"] if row["differing"]] == []
    assert all(row["a"] == row["b"] == "passed" for row in value["tests"])
    assert len(value["tests"]) == 4
    page = tmp_path / "page.html"
    assert old.run("compare", task, forked, "--html", str(page)).code == 0
    html = page.read_text()
    assert "<script" not in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert task in html


def test_every_entry_of_the_actions_has_a_step_of_its_own(old: World, task: str) -> None:
    value = yaml.safe_load((_folder(old, task) / "actions.yaml").read_text("utf-8"))
    steps = [entry["step"] for entry in value["actions"]]
    assert steps == list(range(1, value["total_steps"] + 1))
    (delivery,) = [entry for entry in value["actions"] if entry["phase"] == "deliver"]
    assert (delivery["by"], delivery["step"]) == ("harness", len(steps))
    shown = old.run("inspect", task, "--step", str(delivery["step"]), "--show", "artifact", "--json").json
    assert [row["stage"] for row in shown] == ["deliver"]
    assert old.run("status", task, "--json").json["steps"] == sum(entry["by"] == "model" for entry in value["actions"])


def test_a_fork_goes_on_after_a_step_without_a_model(world: World) -> None:
    assert world.start().code == 0
    steps = [(entry["step"], entry["phase"]) for entry in world.view("actions.yaml")["actions"]]
    (tidied,) = [step for step, phase in steps if phase == "refactor"]
    child = str(world.run("fork", world.task, "--from-step", str(tidied), "--json").json["task_id"])
    done = world.run("resume", child, "--json").json
    assert (done["outcome"], world.run("verify", child).code) == ("delivered", 0)
    again = yaml.safe_load((_folder(world, child) / "actions.yaml").read_text("utf-8"))["actions"]
    assert [(entry["step"], entry["phase"]) for entry in again] == steps


def test_a_pdf_is_kept_with_the_audits_and_written_where_it_is_wanted(old: World, task: str, tmp_path: Path) -> None:
    pytest.importorskip("typst")
    kept = old.repo / ".agentforge" / "audit" / f"{task}.pdf"
    done = old.run("audit", task, "--format", "pdf", "-o", str(tmp_path / "own.pdf"))
    assert (done.code, (tmp_path / "own.pdf").read_bytes()[:5], kept.exists()) == (0, b"%PDF-", False)
    with (tmp_path / "piped.pdf").open("wb") as pipe:
        command = [sys.executable, "-m", "agentforge", "audit", task, "--format", "pdf"]
        told = subprocess.run(command, cwd=old.repo, env=old.env, stdout=pipe, stderr=subprocess.PIPE, check=True)
    assert str(kept) in told.stderr.decode()
    assert (tmp_path / "piped.pdf").read_bytes() == kept.read_bytes() == (tmp_path / "own.pdf").read_bytes()


def test_a_new_run_is_compared_with_an_old_one(old: World, task: str, paused: dict[str, Any]) -> None:
    shown = {row["name"]: (row["a"] is None, row["b"] is None) for row in paused["comparison"]["stages"]}
    assert (shown["intake"], shown["green"]) == ((False, False), (False, True))
    unknown = old.run("start", REQUEST, "--compare-to", "task-1", "--json")
    assert unknown.code == 2


def test_the_cost_of_a_run_adds_up_and_a_fork_pays_only_its_own(old: World, task: str, forked: str) -> None:
    value = old.run("cost", task, "--json").json
    status = old.run("status", task, "--json").json
    for name in ("by_stage", "by_attempt", "by_model"):
        assert sum(row["prompt_tokens"] for row in value[name]) == value["total"]["prompt_tokens"]
    assert value["total"]["prompt_tokens"] == status["prompt_tokens"]
    assert value["total"]["calls"] == status["llm_calls"] == 8
    assert [(row["stage"], row["attempt"]) for row in value["by_attempt"]].count(("spec", 2)) == 1
    assert value["unpriced_models"] == [old.run("status", task, "--json").json and value["by_model"][0]["model"]]
    child = old.run("cost", forked, "--json").json
    assert (child["total"]["calls"], child["inherited"]["calls"], child["inherited"]["from"]) == (3, 5, task)
    everything = old.run("cost", "--all", "--json").json
    assert everything["total"]["calls"] == sum(row["calls"] for row in everything["tasks"])
    assert "no price is known" in old.run("cost", task).out


def test_marks_are_recorded_and_counted(
    old: World, task: str, forked: str, paused: dict[str, Any], tmp_path: Path
) -> None:
    assert old.run("mark", forked, "rework", "--note", "wrong name").code == 0
    assert old.run("mark", task, "defect", "--json").json["marks"][0]["by"] == "ann"
    assert old.run("mark", paused["task_id"], "defect").code == 8
    assert [old.run("verify", name).code for name in (task, forked)] == [0, 0]
    plot = tmp_path / "weeks.svg"
    value = old.run("metrics", "--json", "--plot", str(plot)).json
    assert (value["trust"]["delivered"], value["trust"]["rework_rate"], value["trust"]["defect_rate"]) == (2, 0.5, 0.5)
    assert value["health"]["steps_per_task"] == 8.0
    assert value["health"]["escalation_rate"] == round(1 / 3, 4)
    assert value["health"]["verdicts"]["judged"] > value["health"]["verdicts"]["passed"] > 0
    assert sum(value["productivity"]["tasks_per_week"].values()) == 2
    assert plot.read_text().startswith("<svg")
    assert old.run("metrics", "--since", "2999-01-01", "--json").json["tasks"]["total"] == 0
    assert "completed per week" in old.run("metrics").out
