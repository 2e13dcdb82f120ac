"""Reading `[[hooks]]`: what is run, when, and what its failure means."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.errors import ConfigError
from agentforge.hooks.hook import Hook, read_hook

FOLDER, HOME = Path("/project"), Path("/home/ann")


def read(**row: object) -> Hook | None:
    return read_hook({"name": "h", "trigger": "before_tool", **row}, origin="c.toml:3", folder=FOLDER, home=HOME)


@pytest.mark.parametrize(
    ("row", "argv"),
    [
        ({"command": "echo $X | cat"}, ("bash", "-c", "echo $X | cat")),
        ({"script": "checks/a.sh"}, ("/project/checks/a.sh",)),
        ({"script": "~/a.sh"}, ("/home/ann/a.sh",)),
        ({"script": "/opt/a b.sh"}, ("/opt/a b.sh",)),
    ],
)
def test_a_command_is_a_line_for_bash_and_a_script_is_a_file(row: dict[str, object], argv: tuple[str, ...]) -> None:
    hook = read(**row)
    assert hook is not None and hook.argv == argv


@pytest.mark.parametrize(
    ("row", "mode"),
    [
        ({}, "warn"),
        ({"fail_closed": True}, "block"),
        ({"fail_closed": False}, "warn"),
        ({"failure_mode": "ignore"}, "ignore"),
        ({"failure_mode": "ignore", "fail_closed": False}, "ignore"),
    ],
)
def test_a_hook_that_says_nothing_about_its_failure_is_told_and_stops_nothing(
    row: dict[str, object], mode: str
) -> None:
    hook = read(command="true", **row)
    assert hook is not None and hook.failure_mode == mode


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ({}, "either command or script"),
        ({"command": "a", "script": "b"}, "either command or script"),
        ({"script": "a\nb"}, "script is the path of a file"),
        ({"command": "a", "matcher": "("}, "not a regular expression"),
        ({"command": "a", "failure_mode": "warn", "fail_closed": True}, "contradict"),
    ],
)
def test_a_hook_that_cannot_be_meant_is_refused_with_its_place(row: dict[str, object], word: str) -> None:
    with pytest.raises(ConfigError, match=r"c\.toml:3: hook 'h'") as refused:
        read(**row)
    assert word in str(refused.value)


def test_a_hook_that_is_switched_off_is_none() -> None:
    assert read(command="true", enabled=False) is None


def test_triggers_and_tools_go_by_the_names_of_claude_code_too() -> None:
    hook = read(command="true", trigger="PreToolUse", matcher="Bash|Edit")
    assert hook is not None and hook.trigger == "before_tool"
    assert [hook.concerns(tool) for tool in ("shell", "apply_patch", "edit", "read_file", "Bash2")] == [
        *(True, True, True, False, False)
    ]
