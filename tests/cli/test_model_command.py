"""`agentforge model` as people and programs use it, with a model of 280 KB in the catalogue's place."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run
from agentforge.config.model_choice import explain
from agentforge.config.settings import load
from agentforge.errors import ModelNotConfigured
from agentforge.local import catalogue
from agentforge.local.machine import look
from agentforge.local.shared_server import all_living, stop_all
from tests.support.tiny_model import write_tiny


@pytest.fixture
def weights(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The tiny model's file; the catalogue knows it under the name `tiny`, and nothing else."""
    file: Path = write_tiny(tmp_path / "elsewhere.gguf")
    text = catalogue._FILE.read_text().partition("\n[[model]]\n")[2].partition("[[model]]")[0]
    lines = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    lines |= {"name": '"tiny"', "file": '"tiny.gguf"', "sha256": f'"{digest}"', "bytes": str(file.stat().st_size)}
    lines |= {"architecture": '"llama"'}
    own = tmp_path / "catalogue.toml"
    own.write_text("[[model]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items()))
    monkeypatch.setattr(catalogue, "_FILE", own)
    yield file
    stop_all(home / "af" / "data" / "local" / "serving")


def test_a_model_is_pulled_once_and_then_chosen_where_nothing_else_is_named(
    weights: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"AGENTFORGE_HOME": str(home / "af"), "HOME": str(home)}
    with pytest.raises(ModelNotConfigured, match="agentforge model pull"):
        explain(load(tmp_path, environ), environ, servers=())
    with pytest.raises(ModelNotConfigured, match="local/tiny is not on this machine yet - agentforge model pull tiny"):
        explain(load(tmp_path, environ), environ, flag="local/tiny")
    assert run(["model", "pull", "--from", str(weights)]) == 2  # nobody is there to agree
    assert "pass --yes" in capsys.readouterr().err
    assert run(["model", "pull", "tiny", "--from", str(weights), "--yes"]) == 0
    told = capsys.readouterr()
    assert "licence Apache-2.0" in told.err
    assert "its header says: Tiny, architecture llama, licence mit" in told.out
    assert run(["model", "pull"]) == 0  # it is here: nobody is asked, nothing is got
    if importlib.util.find_spec("xllamacpp") is not None:
        choice = explain(load(tmp_path, environ), environ, servers=())
        assert (choice.spec.full_name, choice.spec.profile) == ("local/tiny", "small")
        assert choice.reason == "it was pulled to this machine"


def test_a_wrong_file_and_an_unknown_name_are_refused_with_the_next_step(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(weights.read_bytes()[:-1] + b"?")
    assert run(["model", "pull", "--from", str(wrong), "--yes"]) == 2
    assert "its SHA-256 is" in capsys.readouterr().err
    assert run(["model", "pull", "gpt-9", "--yes"]) == 2
    assert "it has tiny" in capsys.readouterr().err
    assert run(["model", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["models"]
    assert (row["name"], row["whole"], row["there"]) == ("tiny", False, 0)


def test_a_model_is_tried_with_its_real_server(weights: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = look().flags
    if importlib.util.find_spec("xllamacpp") is None or (flags and "avx2" not in flags):
        pytest.skip("llama.cpp's wheel is not installed, or does not run on this processor")
    assert run(["model", "pull", "--from", str(weights), "--yes"]) == 0
    capsys.readouterr()
    assert run(["model", "test", "tiny", "--quick", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert {"json_schema", "samples", "prefill", "seed"} <= set(value["abilities"])
    assert value["cached"] >= value["prompt"] - 1 > 0
    assert value["checks"]["samples"] == "3 answers to one request"
    assert len(all_living(home / "af" / "data" / "local" / "serving")) == 1
    assert run(["model", "list"]) == 0
    assert "served now by process" in capsys.readouterr().out
    assert run(["model", "stop"]) == 0
    assert "ended process" in capsys.readouterr().out
    assert run(["model", "stop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
