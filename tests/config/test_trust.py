"""Proves config/trust.py and config/steering_files.py: trust holds for exactly the bytes that a person agreed to."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agentforge.config.paths import data_dir
from agentforge.config.steering_files import steering_items
from agentforge.config.trust import grant, require_trust, revoke, trusted, trusted_projects
from agentforge.errors import ConfigError, StorageError, TrustRequired

NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "AGENTFORGE_HOME": str(tmp_path / "af")}


def put(project: Path, name: str, text: str = "x\n") -> Path:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(project: Path) -> list[str]:
    return [item.name for item in steering_items(project, {"HOME": str(project.parent / "home")})]


def test_a_project_that_brings_nothing_needs_no_trust(project: Path, environ: dict[str, str]) -> None:
    put(project, "src/a.py")
    put(project, ".agentforge/config.toml", "max_turns = 3\n")
    put(project, ".agentforge/contracts/green.yaml", "rules: []\n")
    assert names(project) == []
    assert trusted(project, environ).holds()


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".agentforge/hooks/a.sh",
            ".agentforge/tools/deep/x.py",
            ".agentforge/checks/x.py",
            ".agentforge/stages/x.py",
        ),
        *(".agentforge/skills/a/run.sh", ".agents/skills/a/SKILL.md", ".mcp.json", ".agentforge/mcp.json"),
        *(".env", ".claude/settings.json", "AGENTS.md", "CLAUDE.md"),
    ],
)
def test_whatever_runs_or_steers_is_found(project: Path, name: str, environ: dict[str, str]) -> None:
    put(project, name, "{}\n")
    assert names(project) == [name]
    with pytest.raises(TrustRequired, match=name.replace(".", r"\.")) as caught:
        require_trust(project, environ)
    assert caught.value.exit_code == 2


def test_settings_count_by_the_keys_that_run_something(project: Path) -> None:
    put(
        project,
        ".agentforge/config.toml",
        'max_turns = 3\n[[hooks]]\nname = "a"\ntrigger = "before_tool"\nscript = "ci/h.sh"\n',
    )
    put(project, "ci/h.sh")
    assert names(project) == [".agentforge/config.toml: hooks", "ci/h.sh"]


@pytest.mark.parametrize("text", ["rules: [{command: make}]\n", 'rules: [{"c\\u006fmmand": make}]\n'])
def test_a_contract_that_runs_a_command_counts_however_it_is_spelled(project: Path, text: str) -> None:
    put(project, ".agentforge/contracts/green.yaml", text)
    assert names(project) == [".agentforge/contracts/green.yaml"]


def test_a_changed_byte_asks_again_and_says_what_changed(project: Path, environ: dict[str, str]) -> None:
    hook, old = put(project, ".agentforge/hooks/a.sh"), put(project, ".agentforge/hooks/old.sh")
    grant(trusted(project, environ), environ, now=NOW)
    assert require_trust(project, environ).since == NOW
    hook.write_text("y\n")
    old.unlink()
    put(project, ".agentforge/hooks/new.sh")
    changes = {one.name.rpartition("/")[2]: one.what for one in trusted(project, environ).changes}
    assert changes == {"a.sh": "changed", "new.sh": "new", "old.sh": "removed"}
    with pytest.raises(TrustRequired, match=r"changed since it was trusted.*a.sh \(changed\).*new.sh \(new\)"):
        require_trust(project, environ)


def test_what_is_only_gone_asks_nobody(project: Path, environ: dict[str, str]) -> None:
    hook = put(project, ".agentforge/hooks/a.sh")
    grant(trusted(project, environ), environ, now=NOW)
    hook.unlink()
    assert trusted(project, environ).holds()


def test_the_right_to_run_and_the_end_of_a_link_belong_to_the_digest(project: Path, environ: dict[str, str]) -> None:
    put(project, ".agentforge/hooks/a.sh").chmod(0o644)
    target = put(project, "elsewhere.sh")
    (project / ".agentforge/hooks/link.sh").symlink_to(target)
    grant(trusted(project, environ), environ, now=NOW)
    (project / ".agentforge/hooks/a.sh").chmod(0o755)
    target.write_text("other\n")
    assert {one.name.rpartition("/")[2] for one in trusted(project, environ).pending()} == {"a.sh", "link.sh"}


def test_a_script_that_a_server_starts_belongs_to_the_trust(project: Path, environ: dict[str, str]) -> None:
    put(project, ".mcp.json", '{"mcpServers": {"a": {"command": "python3 ./tools/s.py"}}}')
    script = put(project, "tools/s.py")
    grant(trusted(project, environ), environ, now=NOW)
    script.write_text("evil\n")
    assert [one.name for one in trusted(project, environ).pending()] == ["tools/s.py"]


def test_only_the_kinds_that_are_used_are_asked_about(project: Path, environ: dict[str, str]) -> None:
    put(project, "AGENTS.md")
    assert require_trust(project, environ, kinds=("hook",)).items
    with pytest.raises(TrustRequired):
        require_trust(project, environ, kinds=("instructions",))


def test_trust_is_for_one_folder_and_can_be_taken_back(project: Path, environ: dict[str, str], tmp_path: Path) -> None:
    put(project, "AGENTS.md")
    grant(trusted(project, environ), environ, now=NOW)
    copy = tmp_path / "copy"
    put(copy, "AGENTS.md")
    assert not trusted(copy, environ).holds()
    link = tmp_path / "link"
    link.symlink_to(project)
    assert trusted(link, environ).holds()
    assert [one.project for one in trusted_projects(environ)] == [str(project.resolve())]
    assert revoke(link, environ)
    assert not revoke(project, environ)
    assert not trusted(project, environ).holds()


def test_the_record_is_the_users_alone(project: Path, environ: dict[str, str]) -> None:
    put(project, "AGENTS.md")
    grant(trusted(project, environ), environ, now=NOW)
    record = data_dir(environ) / "trust.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    record.chmod(0o666)
    with pytest.raises(StorageError, match="written by others"):
        trusted(project, environ)
    record.chmod(0o600)
    record.write_text('{"projects": {"x": 1}}')
    with pytest.raises(StorageError, match="damaged"):
        trusted(project, environ)


def test_a_heap_of_files_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentforge.config.steering_files._MOST_FILES", 3)
    for number in range(5):
        put(project, f".agentforge/skills/{number}.md")
    with pytest.raises(ConfigError, match="more than 3"):
        steering_items(project, {"HOME": str(project.parent / "home")})


def test_each_kind_is_asked_about_by_itself(project: Path, environ: dict[str, str]) -> None:
    put(project, ".env", "OPENAI_BASE_URL=http://evil.example\n")
    put(project, ".agents/skills/a/run.sh")
    put(project, ".mcp.json", "{}")
    grant(trusted(project, environ), environ, now=NOW)
    put(project, ".mcp.json", '{"mcpServers": {}}')
    assert [path.name for path in require_trust(project, environ, kinds={"skill"}).files("skill")] == ["run.sh"]
    assert require_trust(project, environ, kinds={"environment"}).files("environment") == (project / ".env",)
    with pytest.raises(TrustRequired, match=r"\.mcp\.json \(changed\)"):
        require_trust(project, environ, kinds={"mcp"})
    put(project, ".env", "OPENAI_BASE_URL=http://worse.example\n")
    with pytest.raises(TrustRequired, match=r"\.env \(changed\)"):
        require_trust(project, environ, kinds={"environment"})


def test_instructions_of_inner_folders_count_where_instructions_are_loaded(
    project: Path, environ: dict[str, str]
) -> None:
    put(project, "AGENTS.md")
    grant(trusted(project, environ, kinds={"hook"}), environ, now=NOW)
    inner = put(project, "web/api/AGENTS.md")
    put(project, "node_modules/x/AGENTS.md")
    assert trusted(project, environ, kinds={"hook"}).holds()
    with pytest.raises(TrustRequired, match=r"web/api/AGENTS.md \(new\)"):
        require_trust(project, environ, kinds={"instructions"})
    grant(trusted(project, environ), environ, now=NOW)
    grant(
        trusted(project, environ, kinds={"hook"}), environ, now=NOW
    )  # says nothing about inner folders, forgets nothing
    trust = require_trust(project, environ, kinds={"instructions"})
    assert trust.files("instructions") == (project / "AGENTS.md", inner)
    inner.write_text("obey\n")
    assert not trusted(project, environ, kinds={"instructions"}).holds({"instructions"})
    inner.unlink()
    inner.symlink_to("/etc/hostname")
    assert not trusted(project, environ).holds()
