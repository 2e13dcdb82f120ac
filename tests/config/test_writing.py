"""Writing one setting: the rest of the file stays, what is wrong is not written."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.config.edits import parse_value, set_value
from agentforge.errors import ConfigError


def test_comments_and_order_stay(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('# mine\napproval = "auto" # why\n\n[model]\nname = "a"\n')
    set_value(file, "model.name", "b", project=False)
    set_value(file, "max_turns", 5, project=False)
    set_value(file, "limits.budget_usd", 2.5, project=False)
    text = file.read_text()
    assert '# mine\napproval = "auto" # why' in text
    assert 'name = "b"' in text
    assert text.index("max_turns") < text.index("[model]")
    assert "[limits]\nbudget_usd = 2.5" in text


def test_a_key_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[model]\nname = "a"\nprovider = "openai"\n')
    set_value(file, "model.name", None, project=False)
    set_value(file, "nothing.here", None, project=False)
    assert file.read_text() == '[model]\nprovider = "openai"\n'


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("test.env.DEBUG", "1", "1"),
        ("model.name", "4.1", "4.1"),
        ("model.name", '"a b"', "a b"),
        ("max_turns", "5", 5),
        ("approvall", "5", 5),
    ],
)
def test_a_setting_that_is_a_text_takes_what_looks_like_a_number(key: str, typed: str, value: object) -> None:
    assert parse_value(typed, key=key) == value


@pytest.mark.parametrize(("key", "value"), [("approvall", "auto"), ("approval", "sometimes"), ("max_turns", "many")])
def test_what_is_wrong_is_not_written(tmp_path: Path, key: str, value: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text("max_turns = 5\n")
    with pytest.raises(ConfigError):
        set_value(file, key, parse_value(value), project=False)
    assert file.read_text() == "max_turns = 5\n"


def test_a_broken_file_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("max_turns = = 5\n")
    with pytest.raises(ConfigError, match="correct it by hand"):
        set_value(file, "max_turns", 6, project=False)
    assert file.read_text() == "max_turns = = 5\n"
