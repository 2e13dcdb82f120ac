"""Proves config/protections.py: what a project would be protected less by holds only after somebody agreed to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run
from agentforge.config.settings import load
from agentforge.config.trust import grant, trusted

Write = Callable[[Path, str], Path]
NOW = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("own", "brought", "key"),
    [
        ("", "[verification]\nuntested = 1000\n", "verification.untested"),
        ("", "[verification]\nmutants = 0\n", "verification.mutants"),
        ("", "[verification]\nmutation_score = 0.1\n", "verification.mutation_score"),
        ("", "[verification]\nreturns = 0\n", "verification.returns"),
        ("", "[verification]\nimpact_s = 0\n", "verification.impact_s"),
        ("[verification]\nsurvivors = 'ask'\n", "[verification]\nsurvivors = 'report'\n", "verification.survivors"),
        ("[verification]\nmutants = 50\n", "[verification]\nmutants = 20\n", "verification.mutants"),
        ("approval = 'never'\n", "approval = 'on-request'\n", "approval"),
        ("", "[limits]\nmax_steps = 'none'\n", "limits.max_steps"),
        ("[limits]\nbudget_usd = 1\n", "[limits]\nbudget_usd = 2\n", "limits.budget_usd"),
        ("[limits]\ndeadline = '1h'\n", "[limits]\ndeadline = '90m'\n", "limits.deadline"),
        ("", "loop_limit = 0\n", "loop_limit"),
        ("", "max_turns = 1000\n", "max_turns"),
        ("", "[checks]\ndisable = ['ruff']\n", "checks.disable"),
        ("[checks]\ncommands = ['make lint']\n", "[checks]\ncommands = ['true']\n", "checks.commands"),
        ("allowed_tools = ['read_file']\n", "allowed_tools = ['read_file', 'shell']\n", "allowed_tools"),
        ("", "[sandbox]\nkind = 'landlock'\n", "sandbox.kind"),
        ("[sandbox]\nhidden = ['/a', '/b']\n", "[sandbox]\nhidden = ['/a']\n", "sandbox.hidden"),
        ("[sandbox]\nkind = 'bubblewrap'\n", "[sandbox]\nkind = 'auto'\n", "sandbox.kind"),
        ("", "[browser]\nprogram = './evil'\n", "browser.program"),
        ("", "[browser]\nhosts = ['evil.example']\n", "browser.hosts"),
        ("[pipeline]\nstages = ['review']\n", "[pipeline]\nstages = []\n", "pipeline.stages"),
    ],
)
def test_what_protects_less_waits_until_it_is_trusted(
    project: Path, environ: dict[str, str], write: Write, own: str, brought: str, key: str
) -> None:
    write(Path(environ["HOME"]) / ".config/agentforge/config.toml", own)
    without = load(project, environ).get(key)
    write(project / ".agentforge/config.toml", brought)
    settings = load(project, environ)
    assert settings.get(key) == without
    assert [one.key for one in settings.waiting] == [key]
    assert settings.waiting[0].origin.startswith(str(project))
    grant(trusted(project, environ), environ, now=NOW)
    settings = load(project, environ)
    assert (settings.waiting, settings.get(key) == without) == ((), False)


@pytest.mark.parametrize(
    ("own", "brought"),
    [
        ("", "[verification]\nmutants = 50\nmutation_score = 0.9\nsurvivors = 'ask'\n"),
        ("[verification]\nuntested = 5\n", "[verification]\nuntested = 5\n"),
        ("", "approval = 'never'\n"),
        ("", "[limits]\nmax_steps = 10\ndeadline = '1h'\n"),
        ("", "allowed_tools = ['read_file']\n"),
        ("", "[checks]\ncommands = ['make lint']\n"),
        ("", "[sandbox]\nkind = 'bubblewrap'\n"),
    ],
)
def test_what_protects_as_much_or_more_needs_no_trust(
    project: Path, environ: dict[str, str], write: Write, own: str, brought: str
) -> None:
    write(Path(environ["HOME"]) / ".config/agentforge/config.toml", own)
    write(project / ".agentforge/config.toml", brought)
    assert load(project, environ).waiting == ()
    assert trusted(project, environ).items == ()


def test_another_value_waits_again_and_what_stands_beside_it_holds(
    project: Path, environ: dict[str, str], write: Write
) -> None:
    write(project / ".agentforge/config/settings.yaml", "verification:\n  mutants: 3\n  survivors: ask\n")
    grant(trusted(project, environ), environ, now=NOW)
    assert load(project, environ).get("verification.mutants") == 3
    write(project / ".agentforge/config/settings.yaml", "verification:\n  mutants: 2\n  survivors: ask\n")
    settings = load(project, environ)
    assert (settings.get("verification.mutants"), settings.text("verification.survivors")) == (20, "ask")


def test_it_is_said_once_with_what_to_type(
    project: Path, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "own"))
    file = write(project / ".agentforge/config.toml", "[verification]\nuntested = 1000\n")
    assert run(["config", "show", "--json", "--cwd", str(project)]) == 0
    told = capsys.readouterr()
    assert f"verification.untested = 1000 ({file}:2)" in told.err
    assert "run `agentforge trust`" in told.err
    assert {"key": "verification.untested", "value": 0, "origin": "default"} in json.loads(told.out)
    assert run(["config", "show", "--json", "--cwd", str(project)]) == 0
    assert capsys.readouterr().err == ""
    assert run(["trust", str(project), "--yes"]) == 0
    assert "verification.untested" in capsys.readouterr().out
    assert run(["config", "show", "--json", "--cwd", str(project)]) == 0
    told = capsys.readouterr()
    assert any(row["key"] == "verification.untested" and row["value"] == 1000 for row in json.loads(told.out))
