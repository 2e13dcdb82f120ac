"""Proves config/permissions.py: rules of all layers, and what is wrong with them by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.config.permissions import mode_of, permission_rules, remember_rule
from agentforge.config.settings import Settings, load
from agentforge.errors import ConfigError


@pytest.fixture
def read(tmp_path: Path):  # type: ignore[no-untyped-def]
    home, project = tmp_path / "home", tmp_path / "p"
    (project / ".git").mkdir(parents=True)

    def settings(*, user: str = "", own: str = "") -> Settings:
        for path, text in ((home / ".config/agentforge/config.toml", user), (project / ".agentforge/config.toml", own)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return load(project, {"HOME": str(home)})

    return settings


def test_rules_of_all_files_hold_together(read) -> None:  # type: ignore[no-untyped-def]
    found = permission_rules(
        read(user='[permissions]\nallow = ["shell(make *)"]\n', own='[permissions]\ndeny = ["shell(make evil)"]\n')
    )
    assert [(one.verdict.value, one.written) for one in found] == [
        ("allow", "shell(make *)"),
        ("deny", "shell(make evil)"),
    ]
    assert found[0].origin.endswith("config.toml:2")


def test_a_rule_that_cannot_be_read_is_refused_with_its_line(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match=r"config.toml:3: 'shell\(git push' is not a rule"):
        permission_rules(read(user='\n[permissions]\nask = ["shell(git push"]\n'))


def test_a_project_may_not_allow(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match=r"config.toml:2: a project may not allow"):
        permission_rules(read(own='[permissions]\nallow = ["shell(ls)"]\n'))


@pytest.mark.parametrize(
    "text",
    [
        *('approval = "yolo"', 'approval = "auto"', 'approval = "on-failure"', '[pipeline]\napproval = "never"'),
        *("redaction_enabled = false", "[shell_environment]\nignore_default_excludes = true"),
    ],
)
def test_a_project_may_not_loosen(read, text: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match="a project may not set"):
        read(own=f"{text}\n")


def test_a_project_may_be_stricter(read) -> None:  # type: ignore[no-untyped-def]
    assert mode_of(read(own='approval = "never"\n')).value == "never"


def test_a_mode_that_does_not_exist_is_refused(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match="there is no mode 'sometimes'"):
        mode_of(read(), "sometimes")
    with pytest.raises(ConfigError, match="approval"):
        read(user='approval = "sometimes"\n')


NOW = "2026-11-22T10:00:00Z"


def _remembered(home: Path, text: str | None, rule: str = "shell(npm run *)", **more: int | None) -> str:
    path = home / ".config/agentforge/config.toml"
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    remember_rule(rule, environ={"HOME": str(home)}, now=NOW, **more)
    return path.read_text()


def test_a_remembered_rule_holds_for_thirty_days_and_no_longer(tmp_path: Path) -> None:
    assert _remembered(tmp_path, None) == '[permissions]\nallow = ["shell(npm run *) until 2026-12-22"]\n'
    assert (tmp_path / ".config/agentforge/config.toml").stat().st_mode & 0o777 == 0o600
    (rule,) = permission_rules(load(tmp_path, {"HOME": str(tmp_path)}))
    assert rule.holds_at("2026-12-22T23:59:59Z")
    assert not rule.holds_at("2026-12-23T00:00:00Z")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("max_turns = 3 # mine\n", 'max_turns = 3 # mine\n\n[permissions]\nallow = ["R"]\n'),
        ("max_turns = 3", 'max_turns = 3\n[permissions]\nallow = ["R"]\n'),
        ('[permissions] # p\ndeny = ["a"]\n', '[permissions] # p\ndeny = ["a"]\nallow = ["R"]\n'),
        ("[permissions]\nallow = []\n", '[permissions]\nallow = ["R"]\n'),
        ('[permissions]\nallow = ["a"] # x\n', '[permissions]\nallow = ["a", "R"] # x\n'),
        ('[permissions]\nallow = ["x(a])", # ] x\n]\n', '[permissions]\nallow = ["x(a])", # ] x\n    "R",\n]\n'),
        ("[permissions]\nallow = [\n  'a', # one\n]\n", "[permissions]\nallow = [\n  'a', # one\n  \"R\",\n]\n"),
        ("[permissions]\nallow = [\n  'a' # one\n]\n", "[permissions]\nallow = [\n  'a', # one\n  \"R\"\n]\n"),
        ('permissions = {deny = []}\n', 'permissions = {deny = [],allow = ["R"]}\n'),
        ('permissions.allow = ["a"]\n', 'permissions.allow = ["a", "R"]\n'),
        ('[permissions]\nask = ["b"]\n\n[limits]\nmax_steps = 3\n', '[permissions]\nask = ["b"]\nallow = ["R"]\n\n[limits]\nmax_steps = 3\n'),
    ],
)  # fmt: skip
def test_a_rule_is_added_and_everything_else_stays(tmp_path: Path, before: str, after: str) -> None:
    assert _remembered(tmp_path, before, days=None).replace("shell(npm run *)", "R") == after


def test_a_rule_that_stands_there_already_is_not_written_again(tmp_path: Path) -> None:
    once = _remembered(tmp_path, None)
    assert _remembered(tmp_path, None) == once
    assert _remembered(tmp_path, '[permissions]\nallow = ["shell(npm run *)"]\n').count("npm") == 1


def test_an_odd_rule_is_written_so_that_it_is_read_back(tmp_path: Path) -> None:
    odd = 'shell(echo "\\x" \t* )'
    _remembered(tmp_path, None, odd)
    (rule,) = permission_rules(load(tmp_path, {"HOME": str(tmp_path)}))
    assert rule.written == odd


@pytest.mark.parametrize("text", ["permissions = 3\n", "[permissions\n", "[permissions]\nallow = 3\n"])
def test_a_file_that_cannot_be_extended_stays_as_it_is(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml"):
        _remembered(tmp_path, text)
    assert (tmp_path / ".config/agentforge/config.toml").read_text() == text


def test_what_is_no_rule_is_not_remembered(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a rule"):
        _remembered(tmp_path, None, "shell(git push")
    assert not (tmp_path / ".config").exists()


def test_a_linked_settings_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / ".config/agentforge").mkdir(parents=True)
    own = tmp_path / "dotfiles.toml"
    own.write_text("max_turns = 3\n")
    (tmp_path / ".config/agentforge/config.toml").symlink_to(own)
    assert "npm run" in _remembered(tmp_path, None)
    assert "npm run" in own.read_text()
    assert (tmp_path / ".config/agentforge/config.toml").is_symlink()
