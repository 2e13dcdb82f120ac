"""Hooks of the user's settings in a real run: they see it, block it, rewrite it; a project's own are not run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.world import analysis, edit, good_script, intake, own_settings, reply, submit, write

if TYPE_CHECKING:
    from tests.support.world import Done, Script, World


def _user_settings(world: World, text: str) -> None:
    own_settings(world.home, f"hooks_enabled = true\n{text}\n")


def _hook(trigger: str, command: str, **more: Any) -> str:
    rows = "".join(f"{key} = {value!r}\n" for key, value in more.items())
    return f"[[hooks]]\nname = 'h-{trigger}'\ntrigger = '{trigger}'\ncommand = '''{command}'''\n{rows}"


def _analyze() -> Script:
    """A request that ends after ANALYZE, with one look at a file."""
    look = reply(("read_file", {"path": "textkit.py"}))
    done = reply(submit(analysis(findings=["it does"])))
    return good_script(intake=[reply(submit(intake("analyze", examples=[])))], analyze=[look, done])


def _hooks(world: World) -> list[tuple[str, str, str]]:
    rows = [event["data"] for event in world.events("HookFinished")]
    return [(row["trigger"], row["tool"], row["verdict"]) for row in rows]


def test_all_triggers_of_a_run_are_recorded_with_verdict_and_duration(world: World) -> None:
    triggers = ("before_agent", "after_agent", "before_tool", "after_tool")
    _user_settings(world, "".join(_hook(name, "true") for name in triggers))
    done = world.start(_analyze())
    assert done.json["outcome"] == "analyzed", done.out
    seen = _hooks(world)
    tools = [("before_tool", name, "pass") for name in ("submit_artifact", "read_file", "submit_artifact")]
    assert [row for row in seen if row[0] == "before_tool"] == tools
    assert [row[0] for row in seen].count("before_agent") == 2 and seen[0][0] == "before_agent"
    assert [row[0] for row in seen].count("after_agent") == 2 and seen[-1][0] == "after_agent"
    assert all(event["data"]["duration_ms"] >= 0 for event in world.events("HookFinished"))


def test_a_hook_stops_a_write(world: World) -> None:
    guard = 'case "$AGENTFORGE_TOOL_PARAMS" in *textkit.py*) echo "textkit is frozen" >&2; exit 2;; esac'
    _user_settings(world, _hook("before_tool", guard, matcher="edit|write_file|apply_patch"))
    done = world.start(None, "--stage-attempts", "1")
    assert done.json["outcome"] != "delivered", done.out
    refused = [event["data"] for event in world.events("ToolFinished") if event["data"]["error_type"] == "hook"]
    assert refused and refused[0]["status"] == "denied" and "textkit is frozen" in refused[0]["summary"]
    assert "def slugify" not in (world.repo / "textkit.py").read_text()


def test_a_rewritten_call_is_judged_again(world: World) -> None:
    elsewhere = """echo '{"hookSpecificOutput": {"updatedInput": {"path": "../out.py", "content": "x = 1"}}}' """
    _user_settings(world, _hook("before_tool", elsewhere, matcher="write_file"))
    world.start(None, "--stage-attempts", "1")
    first = next(event["data"] for event in world.events("ToolFinished") if event["data"]["name"] == "write_file")
    assert (first["status"], first["error_type"]) == ("denied", "not-approved")
    assert not (world.repo.parent / "out.py").exists()


def test_a_hook_that_asks_waits_for_a_human(world: World) -> None:
    ask = """echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}}' """
    _user_settings(world, _hook("before_tool", ask, matcher="read_file"))
    done = world.start(_analyze())
    assert done.code == 3, done.out
    (asked,) = world.events("EscalationRaised")
    assert asked["data"]["kind"] == "approval" and "sure?" in asked["data"]["reason"]
    assert world.run("resolve", f"{world.task}.E1", "--approve", "--resume", "--json").json["outcome"] == "analyzed"
    read = [event["data"] for event in world.events("ToolFinished") if event["data"]["name"] == "read_file"]
    assert [row["status"] for row in read] == ["success"]


def test_a_stage_that_a_hook_blocks_waits_and_goes_on_when_the_hook_lets_it(world: World) -> None:
    gate = world.home / "gate"
    gate.mkdir()
    _user_settings(world, _hook("before_agent", f"test -e {gate}/open || exit 2", reads=[str(gate)]))
    done = world.start(_analyze())
    assert done.code == 3 and "a before_agent hook blocks" in done.out
    (gate / "open").touch()
    key = "ghp" + "_" + "q7Gd2kLm9XpT4vBn8WsR3yZc6HfJ5aEu1oQi"
    again = world.run("resolve", f"{world.task}.E1", "--answer", f"again, with {key}", "--resume", "--json")
    assert again.json["outcome"] == "analyzed", again.out
    (answer,) = world.events("EscalationResolved")
    assert answer["data"]["text"] == "again, with [redacted: github-token]"


def test_a_hook_sees_the_workspace_and_can_change_nothing_but_what_it_was_given(world: World) -> None:
    log = world.home / "log"
    log.touch()
    spy = f"cat textkit.py >> {log}; touch left-behind; touch {world.home}/other; true"
    _user_settings(world, _hook("after_tool", spy, matcher="read_file", writes=[str(log)]))
    assert world.start(_analyze()).json["outcome"] == "analyzed"
    assert "def shout" in log.read_text()
    assert not (world.repo / "left-behind").exists() and not (world.home / "other").exists()


def test_a_hook_writes_into_the_places_of_the_project_that_its_setting_names(world: World) -> None:
    (world.repo / "notes").mkdir()
    (world.repo / "notes" / "log.txt").write_text("begun\n")
    world.commit_all("notes")
    spy = "echo read >> notes/log.txt; touch textkit.py.bak; touch .git/hooks/post-commit; true"
    _user_settings(world, _hook("after_tool", spy, matcher="read_file", writes=["$AGENTFORGE_CWD/notes"]))
    script = world.home / "talk.yaml"
    script.write_text(yaml.safe_dump([reply(("read_file", {"path": "textkit.py"})), {"text": "seen"}]))
    done = world.run("run", "Look.", "--model", f"scripted/{script}")
    assert done.code == 0, done.out + done.err
    assert (world.repo / "notes" / "log.txt").read_text() == "begun\nread\n"
    assert not (world.repo / "textkit.py.bak").exists() and not (world.repo / ".git" / "hooks" / "post-commit").exists()


def test_a_formatter_after_each_edit_is_part_of_the_step(world: World) -> None:
    tidy = "printf '\\n# tidy\\n' >> textkit.py"
    _user_settings(world, _hook("after_tool", tidy, matcher="edit", writes=["$AGENTFORGE_CWD"]))
    done = world.start()
    assert done.json["outcome"] == "delivered", done.out
    assert world.git("show", f"{done.json['commit']}:textkit.py").rstrip().endswith("# tidy")
    assert world.run("verify", world.task).code == 0


def test_on_error_fires_when_the_model_fails(world: World) -> None:
    log = world.home / "log"
    log.touch()
    _user_settings(world, _hook("on_error", f'echo "$AGENTFORGE_ERROR" >> {log}', writes=[str(log)]))
    done = world.start({"intake": [{"error": {"status": 401, "message": "bad key"}}]})
    assert done.code == 5, done.out
    assert "bad key" in log.read_text()
    assert _hooks(world) == [("on_error", "", "pass")]


def test_on_error_fires_in_a_conversation_too_and_the_failure_is_told_once(world: World, tmp_path: Path) -> None:
    log = world.home / "log"
    log.touch()
    _user_settings(world, _hook("on_error", f'echo "$AGENTFORGE_ERROR" >> {log}', writes=[str(log)]))
    script = tmp_path / "chat.yaml"
    script.write_text("chat: [{error: {status: 401, message: bad key}}]")
    done = world.run("run", "go", "--model", f"scripted/{script}")
    assert done.code == 5 and done.err.count("check the provider's API key") == 1, done.err
    assert "bad key" in log.read_text()


@pytest.mark.parametrize("switched_on", [True, False])
def test_a_hook_of_a_project_waits_for_trust_and_never_replaces_the_users(world: World, switched_on: bool) -> None:
    world.settings(f"hooks_enabled = {str(switched_on).lower()}\n" + _hook("before_tool", "exit 0"))
    _user_settings(world, _hook("after_tool", "true", matcher="read_file"))
    model = world.model(_analyze())
    refused = world.run("start", "look at textkit", "--model", model)
    assert refused.code == 2 and "is not trusted: .agentforge/config.toml: hooks (new)" in refused.err
    done = world.run("start", "look at textkit", "--model", world.model(_analyze()), "--trust")
    assert done.code == 0, done.out + done.err
    ran = _hooks(world)
    assert ("after_tool", "read_file", "pass") in ran  # a project switches the user's hooks neither off nor away
    assert any(row[0] == "before_tool" for row in ran) is switched_on


def test_a_placeholder_never_overwrites_the_secret_it_stands_for(world: World) -> None:
    key = "ghp" + "_" + "q7Gd2kLm9XpT4vBn8WsR3yZc6HfJ5aEu1oQi"
    (world.repo / "textkit.py").write_text((world.repo / "textkit.py").read_text() + f'\nTOKEN = "{key}"\n')
    world.commit_all("a token that does not belong here")
    script = good_script(
        green=[reply(edit('TOKEN = "[redacted: github-token]"', "TOKEN = None")), *good_script()["green"]]
    )
    done: Done = world.start(script)
    assert done.json["outcome"] == "delivered", done.out
    first = next(event["data"] for event in world.events("ToolFinished") if event["data"]["name"] == "edit")
    assert (first["status"], first["error_type"]) == ("error", "redacted")
    assert key in world.git("show", f"{done.json['branch']}:textkit.py")
    kept = (world.folder / "events.jsonl").read_text()
    assert key not in kept


def test_a_secret_in_written_text_is_no_silent_damage(world: World) -> None:
    key = "ghp" + "_" + "q7Gd2kLm9XpT4vBn8WsR3yZc6HfJ5aEu1oQi"
    first = reply(write("tests/test_slugify.py", f"KEY = '{key}'\n"))
    done = world.start(good_script(red=[first, *good_script()["red"]]))
    assert done.json["outcome"] == "delivered", done.out
    event = next(event["data"] for event in world.events("ToolFinished") if event["data"]["name"] == "write_file")
    assert event["error_type"] == "redacted" and "build it from parts" in event["text"]
