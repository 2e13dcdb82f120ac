"""Runs in the project's interpreter: the import-linter contracts that are broken, with their imports, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def main() -> None:
    """Print every broken contract: its name and the imports (importer, imported, line) that break it."""
    sys.path[:0] = [str(Path.cwd()), str(Path.cwd() / "src")]
    from importlinter.application import use_cases
    from importlinter.configuration import configure

    configure()
    options = use_cases.read_user_options(config_filename=None)
    use_cases._register_contract_types(options)
    report = use_cases.create_report(options, cache_dir=None)
    if report.invalid_contract_options:
        sys.exit(f"contracts that cannot be read: {', '.join(report.invalid_contract_options)}")
    broken = [
        {"name": contract.name, "imports": sorted(set(_imports(check.metadata)))}
        for contract, check in report.get_contracts_and_checks()
        if not check.kept
    ]
    sys.stdout.write(json.dumps(broken))


def _imports(value: Any) -> Iterator[tuple[str, str, int]]:
    """Every direct import in a contract's metadata, whose shape differs from type to type."""
    if isinstance(value, dict) and isinstance(value.get("importer"), str) and "line_numbers" in value:
        lines = [number for number in value["line_numbers"] if number] or [0]
        yield value["importer"], str(value.get("imported", "")), lines[0]
    elif isinstance(value, dict):
        for item in value.values():
            yield from _imports(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _imports(item)


if __name__ == "__main__":
    main()
