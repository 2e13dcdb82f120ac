"""Contract files of AgentForge and of a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentforge.config.contract_files import builtin_texts, contract_set
from agentforge.contracts.catalogue import compile_builtin
from agentforge.errors import ContractInvalid


def test_the_builtin_contracts_are_found() -> None:
    assert contract_set(None).names[:8] == (
        "intake_record",
        "clarification",
        "analysis",
        "specification",
        "test_suite",
        "implementation",
        "deliverable",
        "delivery_report",
    )


def test_a_project_overrides_a_contract(tmp_path: Path) -> None:
    folder = tmp_path / ".agentforge" / "contracts"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("extends: specification\ncontract: specification\nversion: '9'\n")
    found = contract_set(tmp_path)
    assert found.get("specification").version == "9"
    assert "mine.yaml" in found.origins["specification"]
    assert found.digest != contract_set(None).digest


def test_a_contract_that_cannot_be_read_names_its_file(tmp_path: Path) -> None:
    folder = tmp_path / ".agentforge" / "contracts"
    folder.mkdir(parents=True)
    (folder / "bad.yaml").write_bytes(b"\xff")
    with pytest.raises(ContractInvalid, match=r"bad\.yaml cannot be read"):
        contract_set(tmp_path)


def test_the_contracts_parsed_ahead_are_those_of_the_yaml_files() -> None:
    stored = Path(contract_set.__code__.co_filename).with_name("builtin_contracts.json").read_text()
    assert json.loads(stored) == json.loads(compile_builtin(builtin_texts())), "run `make golden`"
