"""Checkpoints: conversation and files come back together, shell changes included; what is the user's stays the user's."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
import yaml

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody, Question, Reply
from agentforge.app.slash import run_slash
from agentforge.config.settings import load

Open = Callable[..., Chat]

_SCRIPT = {
    "chat": [
        {"tool_calls": [{"name": "write_file", "args": {"path": "one.txt", "content": "agent 1\n"}}]},
        {"text": "Turn one."},
        {
            "tool_calls": [
                {
                    "name": "shell",
                    "args": {"command": "echo shell > two.txt; rm kept.txt; mkdir -p deep; echo d > deep/d"},
                },
                {"name": "write_file", "args": {"path": "one.txt", "content": "agent 2\n"}},
            ]
        },
        {"text": "Turn two."},
        {"text": "Turn three."},
    ]
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the user's with a file of theirs, and one that is ignored."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kept.txt").write_text("mine\n")
    (folder / ".gitignore").write_text("secret.env\n")
    (folder / "secret.env").write_text("a=1\n")
    return folder


@pytest.fixture(params=["repository", "plain folder"])
def chat(request: pytest.FixtureRequest, folder: Path, tmp_path: Path, home: Path) -> Iterator[Chat]:
    """A session that may do everything, in a repository and in a plain folder."""
    if request.param == "repository":
        _git(folder, "init", "-q", "-b", "main")
        _git(folder, "add", "-A")
        _git(folder, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
    script = tmp_path / "script.yaml"
    script.write_text(yaml.safe_dump(_SCRIPT))
    environ = {"HOME": str(home), "AGENTFORGE_HOME": str(home / "af")}
    options = ChatOptions(cwd=folder, model=f"scripted/{script}", approval="yolo")
    with Chat.open(options, Nobody(), settings=load(folder, environ), environ=environ) as opened:
        yield opened


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def _files(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


def _said(chat: Chat) -> list[str]:
    return [entry.text for entry in chat.state.talk.entries if entry.kind == "user"]


def test_undo_says_which_turns_go_and_names_files_as_they_are_called(opened: Callable[..., Chat]) -> None:
    write = {"name": "write_file", "args": {"path": "kit/__init__.py", "content": "x = 1\n"}}
    chat = opened({"chat": [{"tool_calls": [write]}, {"text": "Done."}, {"text": "Looked."}]}, approval="yolo")
    chat.say("write the package")
    chat.say("and look at it")
    (choice,) = run_slash(chat, "/restore").choices
    assert choice.label == "1  write the package" and choice.about.startswith("before a change, turn 1")
    assert run_slash(chat, "/undo").text == "Undid turns 1 to 2: removed `kit/__init__.py`. /redo brings it back."
    assert run_slash(chat, "/redo").text == "Brought back: restored `kit/__init__.py`. /undo takes it away again."


def test_undo_and_redo_move_conversation_and_files_together(chat: Chat, folder: Path) -> None:
    before = _files(folder)
    chat.say("first")
    first = _files(folder)
    chat.say("second")
    second = _files(folder)
    assert (second["two.txt"], "kept.txt" in second) == ("shell\n", False)

    assert run_slash(chat, "/undo").ok
    assert (_files(folder), _said(chat)) == (first, ["first"])
    assert run_slash(chat, "/undo").ok
    assert (_files(folder), _said(chat)) == (before, [])
    assert not run_slash(chat, "/undo").ok

    assert run_slash(chat, "/redo").ok
    assert run_slash(chat, "/redo").ok
    assert (_files(folder), _said(chat)) == (second, ["first", "second"])
    assert not run_slash(chat, "/redo").ok


def test_a_message_after_an_undo_ends_what_could_be_brought_forward(chat: Chat) -> None:
    chat.say("first")
    chat.say("second")
    run_slash(chat, "/undo")
    assert chat.say("third").text == "Turn three."
    assert "nothing to redo" in run_slash(chat, "/redo").text
    assert _said(chat) == ["first", "third"]


def test_what_the_user_made_meanwhile_and_what_is_ignored_stay(chat: Chat, folder: Path) -> None:
    chat.say("first")
    (folder / "notes.txt").write_text("the user's\n")
    (folder / "secret.env").write_text("a=2\n")
    chat.say("second")
    reply = run_slash(chat, "/undo")
    assert "notes.txt" in _files(folder)
    run_slash(chat, "/undo")
    files = _files(folder)
    assert (files["notes.txt"], files["secret.env"]) == ("the user's\n", "a=2\n")
    assert "one.txt" not in files
    assert reply.ok


def test_a_checkpoint_can_be_restored_in_parts(chat: Chat, folder: Path) -> None:
    chat.say("first")
    assert run_slash(chat, "/checkpoint before the risky part").ok
    chat.say("second")
    reply = run_slash(chat, "/restore before workspace")
    assert "there is no checkpoint" in reply.text
    name = str(chat.state.talk.checkpoints[1]["checkpoint_id"])
    assert run_slash(chat, f"/restore {name} workspace").ok
    assert (_files(folder)["one.txt"], _said(chat)) == ("agent 1\n", ["first", "second"])
    assert run_slash(chat, f"/restore {name} conversation").ok
    assert _said(chat) == ["first"]
    listed = run_slash(chat, "/checkpoints --limit 2")
    assert "before-restore" in listed.text
    assert "Page 1 of" in listed.text


def test_the_users_commits_index_and_branches_do_not_move(chat: Chat, folder: Path) -> None:
    if not (folder / ".git").exists():
        pytest.skip("there is no repository")
    (folder / "staged.txt").write_text("staged\n")
    _git(folder, "add", "staged.txt")
    before = [
        _git(folder, "rev-parse", "HEAD"),
        _git(folder, "branch", "-a"),
        _git(folder, "diff", "--cached", "--name-only"),
    ]
    chat.say("first")
    run_slash(chat, "/undo")
    after = [
        _git(folder, "rev-parse", "HEAD"),
        _git(folder, "branch", "-a"),
        _git(folder, "diff", "--cached", "--name-only"),
    ]
    assert after == before
    assert (folder / "staged.txt").exists()


def test_a_plain_folder_stays_without_a_git_folder(chat: Chat, folder: Path) -> None:
    was = (folder / ".git").exists()
    chat.say("first")
    assert (folder / ".git").exists() == was


def test_a_command_that_was_under_way_when_the_program_died_is_not_run_again(chat: Chat, folder: Path) -> None:
    from agentforge.events import kinds

    chat.say("first")
    call = {"call_id": "c", "name": "shell", "arguments": '{"command": "echo x >> twice.txt"}'}
    (folder / "twice.txt").write_text("x\n")
    step = chat.state.progress.turn.step + 1
    for event in (
        kinds.UserSaid(turn=2, text="append"),
        kinds.ModelCalled(step=step, stage="chat", attempt=1, model="m", request="r", context_tokens=1, sections={}),
        kinds.ModelReplied(step=step, text="", tool_calls=(call,), finish="tool_calls", usage={}, model="m", cost_usd=0.0),
        kinds.ToolStarted(
            step=step, index=0, call_id="c", name="shell", arguments={"command": "echo x >> twice.txt"}, effect="execute",
            tree=str(chat.state.work.trees.get("work", "")),
        ),
    ):  # fmt: skip
        chat.log.append(event)
    chat.go_on()
    assert (folder / "twice.txt").read_text() == "x\n"
    assert (folder / "secret.env").exists()
    results = [entry for entry in chat.state.talk.entries if entry.kind == "tool" and entry.call_id == "c"]
    assert [entry.status for entry in results] == ["error"]
    assert "whether it ended is unknown" in results[0].text + results[0].summary


def test_undo_passes_over_a_turn_that_left_the_files_as_they_were(folder: Path, tmp_path: Path, home: Path) -> None:
    script = tmp_path / "script.yaml"
    looks = {"tool_calls": [{"name": "shell", "args": {"command": "cat one.txt > /dev/null; true"}}]}
    script.write_text(yaml.safe_dump({"chat": [*_SCRIPT["chat"][:2], looks, {"text": "Looked."}]}))
    environ = {"HOME": str(home), "AGENTFORGE_HOME": str(home / "af")}
    options = ChatOptions(cwd=folder, model=f"scripted/{script}", approval="yolo")
    with Chat.open(options, Nobody(), settings=load(folder, environ), environ=environ) as chat:
        chat.say("write")
        chat.say("look")
        assert run_slash(chat, "/undo").ok
        assert not (folder / "one.txt").exists()
        assert run_slash(chat, "/redo").ok
        assert (folder / "one.txt").read_text() == "agent 1\n"


def test_a_person_sees_the_diff_before_files_come_back_and_may_say_no(chat: Chat, folder: Path) -> None:
    run_slash(chat, "/checkpoint before")
    chat.say("one")
    asked: list[Question] = []

    class Person(Nobody):
        decision: Literal["once", "reject"] = "reject"

        def approve(self, question: Question) -> Reply:
            asked.append(question)
            return Reply(decision=self.decision)

    chat.desk.person = person = Person()
    reply = run_slash(chat, "/restore before workspace")
    assert (reply.ok, reply.text, (folder / "one.txt").exists()) == (False, "Nothing was restored.", True)
    assert "-agent 1" in asked[0].diff and "one.txt" in asked[0].diff
    run_slash(chat, "/restore before conversation")
    assert len(asked) == 1
    person.decision = "once"
    assert run_slash(chat, "/restore before workspace").ok
    assert (len(asked), (folder / "one.txt").exists()) == (2, False)
    assert run_slash(chat, "/restore 1 --yes").ok and len(asked) == 2
