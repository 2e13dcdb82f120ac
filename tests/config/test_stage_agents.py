"""Which agents may do stages, and what a project may not give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.app.tasks.external_agents import guest_of
from agentforge.config.settings import Settings, load
from agentforge.errors import ConfigError


def loaded(tmp_path: Path, text: str, *, project: bool) -> Settings:
    (tmp_path / "repo" / ".git").mkdir(parents=True, exist_ok=True)
    own, theirs = tmp_path / "home" / "config" / "config.toml", tmp_path / "repo" / ".agentforge" / "config.toml"
    for file, written in ((own, "" if project else text), (theirs, text if project else "")):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"[stages.green]\n{written}\n")
    return load(tmp_path / "repo", {"AGENTFORGE_HOME": str(tmp_path / "home")})


def test_an_agent_with_all_that_it_is_given(tmp_path: Path) -> None:
    text = """agent = "acp:claude-agent-acp --flag 'two words'"
agent_timeout = "20m"
agent_calls = 50
agent_network = ["api.anthropic.com"]
agent_env = ["MY_KEY"]
agent_read = ["~/.claude"]
agent_auth = "api-key"
"""
    settings = loaded(tmp_path, text, project=False)

    choice = guest_of("green", settings, {"MY_KEY": "secret"})

    assert choice.argv == ("claude-agent-acp", "--flag", "two words")
    assert (choice.timeout_s, choice.calls, choice.network, choice.auth) == (
        1200,
        50,
        ("api.anthropic.com",),
        "api-key",
    )
    assert choice.env == {"MY_KEY": "secret"} and choice.readable == (Path.home() / ".claude",)
    assert "secret" not in repr(choice)
    with pytest.raises(ConfigError, match="MY_KEY is not set"):
        guest_of("green", settings, {})


def test_a_project_may_name_an_agent_of_its_own(tmp_path: Path) -> None:
    settings = loaded(tmp_path, 'agent = "acp:python3 tools/agent.py"', project=True)
    assert guest_of("green", settings, {}).network == "off"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('agent = "mcp:x"', "does not begin with acp:"),
        ('agent = "acp: "', "no command"),
        ('agent = "acp:x \'y"', "quotation"),
        ('agent = "acp:x"\nagent_timeout = "soon"', "agent_timeout"),
        ('agent = "acp:x"\nagent_calls = 0', "agent_calls"),
        ('agent = "acp:x"\nagent_network = ["not a host!"]', "not a host!"),
        ('agent = "acp:x"\nagent_colour = "red"', "agent_colour"),
    ],
)
@pytest.mark.parametrize("project", [True, False])
def test_what_cannot_be_read_is_refused_with_its_place(line: str, words: str, project: bool, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words) as found:
        loaded(tmp_path, line, project=project)
    assert "config.toml" in str(found.value)


@pytest.mark.parametrize(
    "line",
    [
        'agent = "acp:python3 /etc/passwd"',
        'agent = "acp:python3 ../elsewhere.py"',
        'agent = "acp:python3 ~/agent.py"',
        'agent = "acp:x"\nagent_network = "on"',
        'agent = "acp:x"\nagent_network = ["example.org"]',
        'agent = "acp:x"\nagent_env = ["HOME"]',
        'agent = "acp:x"\nagent_read = ["~/.ssh"]',
    ],
)
def test_what_lies_beyond_the_walls_only_the_user_gives(line: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="your own settings"):
        loaded(tmp_path, line, project=True)
    loaded(tmp_path, line, project=False)
