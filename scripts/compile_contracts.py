"""Write the builtin contracts as JSON for `config`, so that a run need not import a YAML parser for them."""

from __future__ import annotations

from pathlib import Path

from agentforge.config import contract_files
from agentforge.contracts.catalogue import compile_builtin

TARGET = Path(contract_files.__file__).with_name("builtin_contracts.json")


def main() -> None:
    """Compile every builtin contract."""
    TARGET.write_text(compile_builtin(contract_files.builtin_texts()), encoding="utf-8")


if __name__ == "__main__":
    main()
