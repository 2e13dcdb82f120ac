"""Skills, memory and AGENTS.md in a session: what the model sees of them, when, and never before trust."""

from __future__ import annotations

import json
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.display import skill_words
from agentforge.app.slash import run_slash
from agentforge.config.trust import grant, trusted
from agentforge.errors import StorageError
from agentforge.events import kinds
from agentforge.store.log.reader import read
from agentforge.store.log.records import utc_now
from agentforge.store.tasks.memory import UserAndProjectMemory
from tests.support.people import Open


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "AGENTFORGE_HOME": str(tmp_path / "af")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "sub" / "deep").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "sub" / "deep" / "a.txt").write_text("alpha\n")
    return folder


def trust(project: Path, environ: dict[str, str]) -> None:
    grant(trusted(project, environ), environ, now=utc_now())


def skill(root: Path, name: str, head: str = "", body: str = "BODY") -> Path:
    folder = root / name
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Skill {name}.\n{head}\n---\n{body} of {name}\n")
    (folder / "references" / "more.md").write_text(f"reference of {name}\n")
    return folder


def sent(chat: Chat) -> str:
    """Everything that the model was sent last."""
    calls = [one.event for one in read(chat.log.folder) if isinstance(one.event, kinds.ModelCalled)]
    return chat.log.blobs.get(calls[-1].request).decode()


def test_inactive_skills_stay_out_of_the_request_and_a_named_one_comes_once(
    opened: Open, environ: dict[str, str], tmp_path: Path
) -> None:
    root = tmp_path / "home" / ".agents" / "skills"
    skill(root, "pdf-forms")
    skill(root, "tdd")
    chat = opened()
    chat.say("hello")
    assert "pdf-forms" not in sent(chat)
    chat.say("use the pdf forms skill")
    assert sent(chat).count("BODY of pdf-forms") == 1
    assert "tdd" not in sent(chat)
    chat.say("and again with pdf forms")
    assert sent(chat).count("BODY of pdf-forms") == 1
    assert chat.state.talk.settings["skills"] == ["pdf-forms"]
    settings: Any = chat.state.talk.settings
    (told,) = settings["skill_matches"]
    assert (told["name"], told["reason"], told["lines"]) == ("pdf-forms", "name", 1)
    changed = [record.event for record in read(chat.log.folder) if isinstance(record.event, kinds.SessionChanged)]
    shown = [words for event in changed for words in skill_words(event)]
    assert shown == [f"skill pdf-forms: pdf-forms (name), 1 lines of {root / 'pdf-forms' / 'SKILL.md'}"]


def test_a_body_that_is_too_long_is_cut_and_says_so(opened: Open, tmp_path: Path) -> None:
    skill(tmp_path / "home" / ".agents" / "skills", "big", body="word " * 20_000)
    chat = opened()
    chat.say("use big")
    assert "was cut; read_file" in sent(chat)


def test_references_of_an_active_skill_are_read_on_demand_and_nothing_else_outside(
    opened: Open, tmp_path: Path
) -> None:
    folder = skill(tmp_path / "home" / ".agents" / "skills", "pdf-forms")
    (tmp_path / "secret.txt").write_text("hidden")
    wanted = [
        folder / "references" / "more.md",
        tmp_path / "secret.txt",
        folder / ".." / ".." / ".." / ".." / "secret.txt",
    ]
    reads = {"tool_calls": [{"name": "read_file", "args": {"path": str(path)}} for path in wanted]}
    chat = opened({"chat": [reads, {"text": "Done."}, reads, {"text": "Done."}]}, approval="yolo")
    chat.say("hello")
    assert [one.status for one in chat.state.talk.entries if one.kind == "tool"] == ["error"] * 3
    chat.say("pdf-forms")
    results = [one for one in chat.state.talk.entries if one.kind == "tool" and one.turn == 2]
    assert [one.status for one in results] == ["success", "error", "error"]
    assert "reference of pdf-forms" in results[0].text


def test_an_active_skill_narrows_the_tools_until_it_is_put_away(opened: Open, tmp_path: Path) -> None:
    skill(tmp_path / "home" / ".agents" / "skills", "looker", head="allowed-tools: grep")
    chat = opened()
    before = set(chat.workshop.tools())
    assert run_slash(chat, "/skill looker").ok
    assert set(chat.workshop.tools()) == {"grep", "read_file"} & before | {"todos"} & before
    assert run_slash(chat, "/unskill looker").ok
    assert set(chat.workshop.tools()) == before


def test_skills_of_the_project_need_trust_and_are_switched_off_by_a_setting(
    opened: Open, project: Path, environ: dict[str, str]
) -> None:
    skill(project / ".agentforge" / "skills", "house-style")
    chat = opened()
    chat.say("use house-style")
    assert "BODY of house-style" not in sent(chat)
    assert any("house-style" in notice for notice in chat.workshop.around.project.notices)
    assert "not trusted: .agentforge/skills/house-style" in run_slash(chat, "/skills").text
    trust(project, environ)
    chat = opened()
    chat.say("use house-style")
    assert "BODY of house-style" in sent(chat)
    (Path(environ["AGENTFORGE_HOME"]) / "config").mkdir(parents=True)
    (Path(environ["AGENTFORGE_HOME"]) / "config" / "config.toml").write_text("skills_enabled = false\n")
    chat = opened()
    chat.say("use house-style")
    assert "BODY of house-style" not in sent(chat)


def test_skill_roots_of_the_project_are_covered_by_trust(opened: Open, project: Path, environ: dict[str, str]) -> None:
    folder = skill(project / "docs" / "skills", "house-style")
    (project / ".agentforge").mkdir()
    (project / ".agentforge" / "config.toml").write_text('skill_roots = ["docs/skills"]\n')
    trust(project, environ)
    assert "house-style" in opened().workshop.around.skills.catalogue.skills
    (folder / "SKILL.md").write_text("---\ndescription: changed\n---\nEVIL\n")
    assert "house-style" not in opened().workshop.around.skills.catalogue.skills


def test_agents_md_is_read_after_trust_nearest_last(opened: Open, project: Path, environ: dict[str, str]) -> None:
    (project / "AGENTS.md").write_text("OUTER rules\n")
    (project / "CLAUDE.md").write_text("OTHER rules\n")
    (project / "sub" / "AGENT.MD").write_text("INNER rules\n")
    config = Path(environ["AGENTFORGE_HOME"]) / "config"
    config.mkdir(parents=True)
    (config / "AGENTS.md").write_text("OWN rules\n")
    chat = opened(cwd=project / "sub")
    chat.say("hello")
    assert ("OWN rules" in sent(chat), "OUTER" in sent(chat), "INNER" in sent(chat)) == (True, False, False)
    trust(project, environ)
    chat = opened(cwd=project / "sub")
    chat.say("hello")
    text = sent(chat)
    assert text.index("OWN rules") < text.index("OUTER rules") < text.index("INNER rules")
    assert "OTHER rules" not in text
    (project / "sub" / "AGENT.MD").write_text("CHANGED rules\n")
    chat = opened(cwd=project / "sub")
    chat.say("hello")
    assert "CHANGED" not in sent(chat)


def test_instructions_of_a_sub_folder_come_once_with_the_first_file_below_it(
    opened: Open, project: Path, environ: dict[str, str]
) -> None:
    (project / "sub" / "AGENTS.md").write_text("INNER rules\n")
    looks = {"tool_calls": [{"name": "read_file", "args": {"path": "sub/deep/a.txt"}}]}
    edits = {"tool_calls": [{"name": "read_file", "args": {"path": "sub/deep/a.txt", "offset": 1}}]}
    script = {"chat": [looks, edits, {"text": "Done."}]}
    chat = opened(script)
    chat.say("go")
    assert "INNER rules" not in sent(chat)
    trust(project, environ)
    chat = opened(script)
    chat.say("go")
    assert sent(chat).count("INNER rules") == 1
    result = next(one for one in chat.state.talk.entries if one.kind == "tool")
    assert result.text.index("</untrusted") < result.text.index("INNER rules")  # outside of the fence


def test_instructions_that_are_no_text_are_skipped_with_a_warning(
    opened: Open, project: Path, environ: dict[str, str]
) -> None:
    (project / "AGENTS.md").write_bytes(b"\xff\xfe\x00rules")
    trust(project, environ)
    chat = opened()
    assert chat.say("hello").text == "Done."
    assert any("not UTF-8" in notice for notice in chat.workshop.around.project.notices)


def test_bare_reads_nothing_of_user_or_project(opened: Open, project: Path, environ: dict[str, str]) -> None:
    (project / "AGENTS.md").write_text("OUTER rules\n")
    trust(project, environ)
    chat = opened(bare=True)
    chat.say("hello")
    assert "OUTER" not in sent(chat)
    assert not [name for name in chat.workshop.tools() if name.startswith("subagent_")]


def test_memory_is_kept_as_the_predecessor_kept_it_and_shown_newest_first(
    opened: Open, environ: dict[str, str]
) -> None:
    data = Path(environ["AGENTFORGE_HOME"]) / "data"
    data.mkdir(parents=True)
    (data / "user_memory.json").write_text(json.dumps({"entries": {"editor": "vim", "name": "Ann"}}))
    chat = opened()
    chat.workshop.around.memory.put("editor", "helix", scope="user")
    assert json.loads((data / "user_memory.json").read_text()) == {"entries": {"name": "Ann", "editor": "helix"}}
    assert stat.S_IMODE((data / "user_memory.json").stat().st_mode) == 0o600
    chat.say("hello")
    assert sent(chat).index("editor: helix") < sent(chat).index("name: Ann")


def test_memory_of_a_project_is_its_repository_s_and_cut_visibly(
    opened: Open, project: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    chat = opened()
    memory = chat.workshop.around.memory
    for number in range(200):
        memory.put(f"fact {number}", "something worth knowing " * 3, scope="project")
    chat.say("hello")
    assert "fact 199" in sent(chat)
    assert "more are kept" in sent(chat)
    assert "fact 0:" not in sent(chat)
    other = UserAndProjectMemory(Path(environ["AGENTFORGE_HOME"]) / "data", project=tmp_path / "elsewhere")
    assert other.entries("project") == {}


def test_a_damaged_memory_is_said_and_never_written_over(opened: Open, environ: dict[str, str]) -> None:
    data = Path(environ["AGENTFORGE_HOME"]) / "data"
    data.mkdir(parents=True)
    (data / "user_memory.json").write_text('{"entries": {"a"')
    chat = opened()
    assert chat.say("hello").text == "Done."
    assert any("is damaged" in notice for notice in chat.workshop.around.project.notices)
    with pytest.raises(StorageError):
        chat.workshop.around.memory.put("a", "b", scope="user")
    assert (data / "user_memory.json").read_text() == '{"entries": {"a"'


def test_memory_that_several_write_at_once_loses_nothing(tmp_path: Path) -> None:
    memory = UserAndProjectMemory(tmp_path, project=tmp_path)

    def write(part: int) -> None:
        for number in range(5):
            memory.put(f"{part}-{number}", "x", scope="user")

    threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.entries("user")) == 20


def test_memory_commands_show_set_delete_and_clear(opened: Open) -> None:
    chat = opened()
    assert run_slash(chat, "/memory set editor vim and tmux").ok
    assert run_slash(chat, "/memory set --project tests run with make").ok
    assert "vim and tmux" in run_slash(chat, "/memory").text
    assert run_slash(chat, "/memory delete editor").ok
    assert "vim" not in run_slash(chat, "/memory").text
    assert not run_slash(chat, "/memory delete editor").ok
    assert run_slash(chat, "/memory clear --project").ok
    assert dict(chat.workshop.around.memory.entries("project")) == {}


def test_paths_skills_and_todos_are_shown(opened: Open, project: Path, tmp_path: Path) -> None:
    skill(tmp_path / "home" / ".agents" / "skills", "tdd")
    (tmp_path / "home" / ".agents" / "skills" / "bad").mkdir()
    (tmp_path / "home" / ".agents" / "skills" / "bad" / "SKILL.md").write_text("nothing")
    (project / "AGENTS.md").write_text("rules\n")
    chat = opened()
    listed = run_slash(chat, "/skills")
    assert ("tdd" in listed.text, "bad" in listed.text) == (True, True)
    told = run_slash(chat, "/paths").text
    assert ("AGENTS.md" in told, "not trusted" in told, "sessions" in told) == (True, True, True)
    chat.log.append(kinds.TodosChanged(todos={"1": {"text": "write tests", "done": False}}))
    assert "write tests" in run_slash(chat, "/todos").text
    assert run_slash(chat, "/todos --clear").ok
    assert not chat.state.talk.todos
    assert "explore" in run_slash(chat, "/agents").text
    assert not run_slash(chat, "/skill nothing-like-that").ok
