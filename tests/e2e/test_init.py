"""`agentforge init`, `config set`, `doctor --fix`: what they write can be read back, whatever was answered."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.world import World


def test_init_writes_settings_and_a_private_key_file(world: World) -> None:
    shutil.rmtree(world.home / "af" / "config")  # nobody has settings yet
    done = world.run("init", "--provider", "openai", "--key-from-stdin", stdin=b'sk-o\'dd "key"\n')
    assert done.code == 0, done.err
    config = world.home / "af" / "config"
    assert (config / ".env").stat().st_mode & 0o777 == 0o600
    assert config.stat().st_mode & 0o777 == 0o700
    shown = {row["key"]: row["value"] for row in world.run("config", "show", "--json").json}
    assert (shown["model.provider"], shown["model.name"]) == ("openai", "gpt-5.5")


@pytest.mark.parametrize("name", ['a"b', "tab\there", "ünï/code", "a'b\\c", "[x]"])
def test_any_name_of_a_model_gives_a_valid_file(world: World, name: str) -> None:
    done = world.run("init", "--provider", "custom", "--base-url", "http://127.0.0.1:9/v1", "--model", name)
    assert done.code == 0, done.err
    shown = {row["key"]: row["value"] for row in world.run("config", "show", "--json").json}
    assert shown["model.name"] == name


def test_init_without_anybody_there_keeps_the_choice(world: World) -> None:
    done = world.run("init", "--provider", "anthropic", "--model", "claude-x", "--json")
    assert (done.code, done.json["missing_key"]) == (0, "ANTHROPIC_API_KEY")
    assert world.run("init").code == 0
    shown = {row["key"]: row["value"] for row in world.run("config", "show", "--json").json}
    assert (shown["model.provider"], shown["model.name"]) == ("anthropic", "claude-x")


def test_init_without_anybody_there_and_without_a_key_chooses_nothing(world: World) -> None:
    shutil.rmtree(world.home / "af" / "config")
    done = world.run("init", "--json")
    assert (done.code, done.json["error"]["slug"]) == (2, "usage")
    assert not list((world.home / "af").rglob("config.toml"))


def test_init_of_a_project_keeps_what_stands_there(world: World) -> None:
    file = world.repo / ".agentforge" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("# ours\nmax_turns = 9\n")
    assert world.run("init", "--provider", "anthropic", "--project").code == 0
    assert file.read_text().startswith("# ours\nmax_turns = 9\n")


def test_config_set_refuses_nonsense_and_says_what_is_meant(world: World) -> None:
    done = world.run("config", "set", "aproval", "auto")
    assert (done.code, "approval" in done.err) == (2, True)
    assert world.run("config", "set", "approval", "auto").code == 0
    assert world.run("config", "set", "approval", "--remove").code == 0


def test_doctor_fix_makes_secrets_private(world: World) -> None:
    (world.repo / ".env").write_text("X=1\n")
    (world.repo / ".env").chmod(0o644)
    world.run("doctor", "--fix", "--json")
    assert (world.repo / ".env").stat().st_mode & 0o777 == 0o600
