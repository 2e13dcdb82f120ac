"""Settings in layers, with their origins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from agentforge.config.schema import known_keys
from agentforge.config.settings import load
from agentforge.config.sources import leaves
from agentforge.errors import ConfigError
from agentforge.events.state.run_state import Limits

Write = Callable[[Path, str], Path]


def test_without_any_file_the_defaults_hold(project: Path, environ: dict[str, str]) -> None:
    settings = load(project, environ)
    assert settings.get("limits.max_steps") == 200
    assert settings.origin("limits.max_steps") == "default"
    assert settings.get("model.name") is None
    assert settings.origin("model.name") == "unset"
    assert settings.limits() == asdict(Limits())
    assert settings.files() == ()


def test_a_step_of_a_task_may_cost_eight_thousand_tokens_and_no_less_than_four(
    project: Path, environ: dict[str, str], write: Write
) -> None:
    assert load(project, environ).number("context.step_tokens") == 8000
    write(project / ".agentforge/config.toml", "[context]\nstep_tokens = 16000\n")
    assert load(project, environ).number("context.step_tokens") == 16_000
    write(project / ".agentforge/config.toml", "[context]\nstep_tokens = 3000\n")
    with pytest.raises(ConfigError, match="step_tokens"):
        load(project, environ)


def test_every_default_is_a_known_key(project: Path, environ: dict[str, str]) -> None:
    assert {row.key for row in load(project, environ).rows()} <= set(known_keys())


def test_each_layer_beats_the_one_below_it(project: Path, environ: dict[str, str], write: Write) -> None:
    user = write(Path(environ["HOME"]) / ".config/agentforge/config.toml", "[limits]\nmax_steps = 9\nattempts = 1\n")
    own = write(project / ".agentforge/config.toml", "[limits]\nmax_steps = 2\n\n[model]\nname = 'm'\n")
    write(project / ".agentforge/config/settings.yaml", "limits:\n  budget_tokens: 50\n")
    settings = load(project, environ)
    assert settings.limits()["max_steps"] == 2
    assert settings.limits()["attempts"] == 1
    assert settings.limits()["budget_tokens"] == 50
    assert settings.origin("limits.max_steps") == f"{own}:2"
    assert settings.origin("limits.attempts") == f"{user}:3"
    assert settings.origin("limits.budget_tokens").endswith("settings.yaml:2")
    environ["AGENTFORGE_MAX_STEPS"] = "3"
    assert load(project, environ).origin("limits.max_steps") == "environment"
    flagged = load(project, environ, flags={"limits.max_steps": 4, "limits.deadline": "2h", "limits.attempts": None})
    assert flagged.limits() | {"attempts": 0} == asdict(Limits()) | {
        "max_steps": 4,
        "budget_tokens": 50,
        "deadline_s": 7200.0,
        "attempts": 0,
    }
    assert flagged.origin("limits.max_steps") == "command line"


def test_lists_are_replaced_and_tables_are_merged(project: Path, environ: dict[str, str], write: Write) -> None:
    write(Path(environ["HOME"]) / ".config/agentforge/config.toml", "[test.env]\nA = '1'\n[checks]\ndisable = ['a']\n")
    write(project / ".agentforge/config.toml", "[test.env]\nB = '2'\n[checks]\ndisable = []\n")
    settings = load(project, environ)
    assert settings.table("test.env") == {"A": "1", "B": "2"}
    assert settings.get("checks.disable") == []


def test_settings_are_found_from_a_folder_below(project: Path, environ: dict[str, str], write: Write) -> None:
    write(project / ".agentforge/config.toml", "max_turns = 7\n")
    below = project / "a" / "b"
    below.mkdir(parents=True)
    assert load(below, environ).get("max_turns") == 7


def test_one_key_in_both_project_files_names_both_places(project: Path, environ: dict[str, str], write: Write) -> None:
    write(project / ".agentforge/config.toml", "\n[limits]\nmax_steps = 2\n")
    write(project / ".agentforge/config/settings.yaml", "limits:\n  max_steps: 2\n")
    with pytest.raises(ConfigError, match=r"limits.max_steps is set in .*config.toml:3 and in .*settings.yaml:2"):
        load(project, environ)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nnmae = 'x'", r"config.toml:2: unknown setting model.nmae - did you mean model.name\?"),
        ("max_stpes = 3", "config.toml:1: unknown setting max_stpes - did you mean"),
        ("max_steps = 3", r"unknown setting max_steps - did you mean limits.max_steps\?"),
        ("qqqqqq = 3", "unknown setting qqqqqq - see `agentforge config show`"),
        ("[[hooks]]\nname='a'\ntrigger='on_error'\nx=1", "unknown setting hooks.x"),
        ("[mcp_servers.a]\ncommand='x'\nfoo=1", "unknown setting mcp_servers.a.foo"),
        ("[stages.grene]\nmodel='a/b'", r"unknown setting stages.grene"),
        ("[limits]\nmax_steps = 'many'", "config.toml:2: limits.max_steps"),
        ("[limits]\nmax_steps = 0", "limits.max_steps"),
        ("[limits]\ndeadline = 'soon'", "limits.deadline: 'soon' is not a duration"),
        ("model = 'x'", "config.toml:1: model: .*expected table"),
        ("[limits]\nusd_per_minute = 'abc'", 'usd_per_minute: "abc" does not fit - expected number or "none"'),
        ("approval = 'maybe'", "one of on-request, on-failure"),
        ("[mcp_servers.a]\nargs=[]", "mcp_servers.a"),
        ("[sandbox]\nnetwork = ['http://a.org']", "config.toml:2: sandbox.network: 'http://a.org' is not a host"),
        ("[sandbox]\nnetwork = []", "config.toml:2: sandbox.network"),
        ("[sandbox]\nnetwork = true", "config.toml:2: sandbox.network: .*one of off, on"),
        ("[test]\nenv = {A = 1}", "test.env.A"),
    ],
)
def test_a_wrong_file_is_refused_by_name_line_and_key(
    project: Path, environ: dict[str, str], write: Write, text: str, message: str
) -> None:
    write(project / ".agentforge/config.toml", text)
    with pytest.raises(ConfigError, match=message):
        load(project, environ)


@pytest.mark.parametrize(
    "text",
    [
        "[model]\nbase_url = 'https://evil.example/v1'",
        "[model]\nbase_url = 'http://127.0.0.1.evil.example/v1'",
        "[sandbox]\nkind = 'none'",
        "[sandbox]\nnetwork = 'on'",
        "[deliver]\napply = true",
        "[proof]\nanchor = 'origin'",
    ],
)
def test_a_project_may_not_lower_the_users_safety_but_the_user_may(
    project: Path, environ: dict[str, str], write: Write, text: str
) -> None:
    user = write(Path(environ["HOME"]) / ".config/agentforge/config.toml", text)
    load(project, environ)
    user.rename(write(project / ".agentforge/config.toml", ""))
    with pytest.raises(ConfigError, match=r"config\.toml:2: a project may not set"):
        load(project, environ)


def test_a_project_may_name_a_model_server_on_loopback(project: Path, environ: dict[str, str], write: Write) -> None:
    write(project / ".agentforge/config.toml", "[model]\nbase_url = 'http://localhost:8080/v1'")
    assert load(project, environ).text("model.base_url") == "http://localhost:8080/v1"


@pytest.mark.parametrize(
    ("name", "value"), [("MAX_STEPS", "2.5"), ("MAX_STEPS", "-1"), ("BUDGET_USD", "inf"), ("BUDGET_USD", "x")]
)
def test_a_wrong_variable_is_refused(project: Path, environ: dict[str, str], name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"AGENTFORGE_{name}={value} in the environment"):
        load(project, {**environ, f"AGENTFORGE_{name}": value})


def test_a_bound_can_be_taken_away(project: Path, environ: dict[str, str], write: Write) -> None:
    write(Path(environ["HOME"]) / ".config/agentforge/config.toml", "[limits]\nmax_steps = 'none'\n")
    settings = load(project, {**environ, "AGENTFORGE_BUDGET_TOKENS": "none"})
    assert settings.limits()["max_steps"] is None
    assert settings.limits()["budget_tokens"] is None


def test_the_digest_depends_on_values_not_on_origins(project: Path, environ: dict[str, str], write: Write) -> None:
    plain = load(project, environ, flags={"max_turns": 7}).digest()
    write(project / ".agentforge/config.toml", "max_turns = 7\n")
    assert load(project, environ).digest() == plain
    assert load(project, environ, flags={"max_turns": 8}).digest() != plain


def test_a_name_with_a_dot_is_one_part(project: Path, environ: dict[str, str], write: Write) -> None:
    write(project / ".agentforge/config.toml", '[mcp_servers."a.b"]\ncommand = "x"\n')
    settings = load(project, environ)
    assert settings.get('mcp_servers."a.b".command') == "x"
    rows = {row.key: row.origin for row in settings.rows()}
    assert rows['mcp_servers."a.b".command'].endswith("config.toml:2")


def test_all_keys_of_the_seed_harness_are_known() -> None:
    seed = [
        "approval",
        "max_turns",
        "max_tool_output_tokens",
        "output_hygiene_enabled",
        "redaction_enabled",
        "prompt_injection_protection_enabled",
        "hooks_enabled",
        "skills_enabled",
        "skill_roots",
        "allowed_tools",
        "developer_instructions",
        "user_instructions",
        "debug",
        "cwd",
        "model.provider",
        "model.name",
        "model.temperature",
        "model.context_window",
        "model.max_output_tokens",
        "model.base_url",
        "model.fallbacks",
        "shell_environment.ignore_default_excludes",
        "shell_environment.exclude_patterns",
        "shell_environment.set_vars.*",
        "mcp_servers.*.enabled",
        "mcp_servers.*.startup_timeout_sec",
        "mcp_servers.*.command",
        "mcp_servers.*.args",
        "mcp_servers.*.env.*",
        "mcp_servers.*.cwd",
        "mcp_servers.*.url",
        "hooks",
        "subagents",
    ]
    assert set(seed) <= set(known_keys())
    assert leaves({"a": {"b": 1}, "c": {}}) == {("a", "b"): 1, ("c",): {}}
