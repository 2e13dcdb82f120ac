"""The user's own `.env` file."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.config.dotenv import merged_environment, parse
from agentforge.errors import ConfigError


def test_lines_are_read_and_nothing_is_expanded() -> None:
    text = "# keys\nA=1\nexport B='two words'\nC=\"x#y\" # note\nD=\n\nE=$A\n"
    assert parse(text, source=".env") == {"A": "1", "B": "two words", "C": "x#y", "D": "", "E": "$A"}


def test_the_environment_beats_the_file(environ: dict[str, str]) -> None:
    folder = Path(environ["HOME"]) / ".config/agentforge"
    folder.mkdir(parents=True)
    assert merged_environment(environ) == environ
    (folder / ".env").write_text("API_KEY=file\nBASE_URL=u\n")
    assert merged_environment({**environ, "API_KEY": "set"}) == {**environ, "API_KEY": "set", "BASE_URL": "u"}


@pytest.mark.parametrize("line", ["just words", "1A=x", "A='open", "=x"])
def test_a_bad_line_is_named_without_its_value(line: str) -> None:
    with pytest.raises(ConfigError, match=r"\.env:1"):
        parse(line, source=".env")
