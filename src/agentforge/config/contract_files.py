"""Reading contract files, AgentForge's own and a project's. What they mean is the business of `contracts`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agentforge.config.repositories import contracts_folders
from agentforge.contracts.catalogue import ContractSet, build
from agentforge.contracts.dialect import is_for_code
from agentforge.errors import ContractInvalid

_BUILTIN = Path(__file__).parents[1] / "contracts" / "builtin"
_COMPILED = Path(__file__).with_name("builtin_contracts.json")
"""The builtin contracts parsed ahead (`make golden`), because importing YAML costs a third of the start."""


def contract_set(repo: Path | None, carried: Mapping[str, str] | None = None) -> ContractSet:
    """Load the contracts that hold in a repository: the builtin ones, overridden or extended by the project's.

    A project's lie in `.agentforge/contracts`, and in the folder that the user's registry names for it.

    Args:
        repo: the repository's top folder; None = builtin only.
        carried: texts that stages from outside bring along, by where they come from.
    Raises:
        ContractInvalid: a file that is not UTF-8 or not a contract.
    """
    folders = () if repo is None else contracts_folders(repo, os.environ)
    files = {path: text for folder in folders for path, text in _texts(folder, full_name=True).items()}
    own = {source: text for source, text in files.items() if not is_for_code(text, source=source)} | dict(carried or {})
    return build(builtin_texts(), own, compiled=_COMPILED.read_text(encoding="utf-8") if _COMPILED.is_file() else "")


def builtin_texts() -> dict[str, str]:
    """Return the YAML texts of the builtin contracts by name."""
    return _texts(_BUILTIN, full_name=False)


def _texts(folder: Path, *, full_name: bool) -> dict[str, str]:
    """Texts by the contract's name, or by the file's path (what errors name)."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            found[str(path) if full_name else path.stem] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise ContractInvalid(f"{path} cannot be read: {exc}", hint="save it as UTF-8 text") from exc
    return found
