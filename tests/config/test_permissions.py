"""Proves config/permissions.py: rules of all layers, and what is wrong with them by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.config.permissions import mode_of, permission_rules
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
