"""`agentforge contracts`: which contracts hold here, what they say, and whether a file keeps one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import click

from agentforge.cli.output.terminal import printable, shown_table
from agentforge.cli.startup.command_context import folder_of
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.contract_files import builtin_texts, contract_set
from agentforge.contracts.catalogue import ContractSet, build
from agentforge.contracts.check import check as check_contract
from agentforge.contracts.contract import Contract
from agentforge.contracts.rule import NotMeasuredError, RuleCase
from agentforge.contracts.rules import find_rule, sort_of
from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import UsageError, VerificationFailed

_MAX_BYTES = 5_000_000
_FOLLOWS = {
    "fact": "fact: refuses when it does not hold",
    "repair": "repair: the harness mends or drops what is wrong, and says so",
    "note": "note: told to the reviewer, refuses nothing",
}
_MARKS = {"noted": "!", "passed": "+", "failed": "x", "not checked": "."}


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge contracts list
  agentforge contracts show specification
  agentforge contracts check specification.yaml
""",
)
def contracts() -> None:
    """List, show and check the contracts between the stages."""


@contracts.command(
    "list",
    epilog="""\b
Examples:
  agentforge contracts list
  agentforge contracts list --json
""",
)
@cwd_option
@json_option
def list_contracts(cwd: str | None, as_json: bool) -> int:
    """List the contracts that apply here, each with its origin."""
    found = _contracts_of(folder_of(cwd))
    rows = [
        {
            "name": contract.name,
            "version": contract.version,
            "rules": len(contract.rules),
            "origin": found.origins[name],
            "digest": contract.digest,
            "description": contract.description,
        }
        for name, contract in found.contracts.items()
    ]
    if as_json:
        write_json(rows)
        return 0
    cells = [tuple(str(row[key]) for key in ("name", "version", "rules", "origin", "description")) for row in rows]
    head = ("CONTRACT", "VERSION", "RULES", "ORIGIN", "DESCRIPTION")
    click.echo(shown_table(cells, head=head))
    return 0


@contracts.command(
    epilog="""\b
Examples:
  agentforge contracts show test_suite
  agentforge contracts show test_suite --json
"""
)
@click.argument("name")
@cwd_option
@json_option
def show(name: str, cwd: str | None, as_json: bool) -> int:
    """Print contract NAME as it applies here: each rule, and what follows if it is broken.

    If a rule of kind fact is broken, AgentForge refuses the artifact. With repair, it repairs the artifact and says so.
    With note, the reviewer gets a note.
    --json prints the contract as JSON Schema with its rules.
    """
    contract = _contracts_of(folder_of(cwd)).get(name)
    if as_json:
        rules = [
            {
                "kind": rule.kind,
                "text": rule.text,
                "message": rule.message,
                "sort": sort_of(rule, source=contract.source),
            }
            for rule in contract.rules
        ]
        write_json({"name": contract.name, "schema": contract.json_schema, "rules": rules, "digest": contract.digest})
        return 0
    click.echo(_with_sorts(contract))
    return 0


@contracts.command(
    epilog="""\b
Examples:
  agentforge contracts check specification.yaml
  agentforge contracts check draft.yaml --contract specification --json
  agentforge contracts check .agentforge/contracts/specification.yaml
"""
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--contract", "name", help="The contract to check against; the default follows from the file's name.")
@cwd_option
@json_option
def check(file: Path, name: str | None, cwd: str | None, as_json: bool) -> int:
    """Check FILE, an artifact or a contract of your own; exit code 4 when it does not hold.

    Rules about measurements (tests that fail, code that passes) need a run and are listed as not checked.
    """
    value = _read(file)
    if name is None and isinstance(value, Mapping) and {"contract", "schema"} <= value.keys():
        return _check_contract(file, as_json=as_json)
    contract = _contracts_of(folder_of(cwd)).get(name or file.stem)
    rows = verdicts(contract, value)
    failed = [row for row in rows if row["status"] == "failed"]
    if as_json:
        write_json({"ok": not failed, "contract": contract.name, "checks": rows})
    else:
        click.echo("\n".join(_row_text(row) for row in rows))
    if failed and not as_json:
        raise VerificationFailed(f"{file} does not fulfil {contract.name}", hint=f"{len(failed)} rules above failed")
    return VerificationFailed.exit_code if failed else 0


def _with_sorts(contract: Contract) -> str:
    """The contract as YAML; behind each rule stands what follows when it does not hold."""
    import yaml

    rest = {key: value for key, value in contract.document.items() if key != "validation"}
    entries = cast("Sequence[object]", contract.document.get("validation", ()))
    lines = [yaml.safe_dump(rest, sort_keys=False, allow_unicode=True).rstrip(), *(["validation:"] if entries else [])]
    for entry, rule in zip(entries, contract.rules, strict=True):
        told = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=1000).rstrip()
        lines.append(f"{told}  # {_FOLLOWS[sort_of(rule, source=contract.source)]}")
    return "\n".join(lines)


def verdicts(contract: Contract, artifact: object) -> list[dict[str, object]]:
    """Judge an artifact without a run.

    Returns:
        {rule, status, message, path} per rule; status is "passed", "failed", "noted" where a broken rule refuses nothing, or
        "not checked" where facts are needed.
    """
    unmeasured = _unmeasured(contract, artifact)
    rows: list[dict[str, object]] = []
    for result in check_contract(contract, artifact, facts={}, inputs={}).results:
        broken = "not checked" if result.rule in unmeasured else "failed" if result.refuses else "noted"
        status = "passed" if result.passed else broken
        rows.append({"rule": result.rule, "status": status, "message": result.message, "path": result.path})
    return rows


def _unmeasured(contract: Contract, artifact: object) -> set[str]:
    """The rules that cannot be judged from the artifact alone."""
    case = RuleCase(artifact=artifact if isinstance(artifact, Mapping) else {})
    names = {f"command: {command}" for command in contract.commands}
    for rule in contract.rules:
        if rule.kind != "named":
            continue
        named = find_rule(rule.text, source=contract.source)
        try:
            named.judge(case)
        except NotMeasuredError:
            names.add(named.rule_id)
    return names


def _check_contract(file: Path, *, as_json: bool) -> int:
    """A contract file holds when it loads."""
    found = build(builtin_texts(), {str(file): file.read_text(encoding="utf-8")})
    name = next(name for name, origin in found.origins.items() if origin != "builtin")
    rules = len(found.get(name).rules)
    if as_json:
        write_json({"ok": True, "contract": name, "rules": rules})
    else:
        click.echo(f"{file} is a sound contract {name} with {rules} rules")
    return 0


def _read(file: Path) -> object:
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise UsageError(f"{file} is larger than {_MAX_BYTES} bytes", hint="this is not an artifact")
        return load_strict(file.read_text(encoding="utf-8"), source=str(file))
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"{file} cannot be read: {exc}", hint="pass a YAML file") from exc


def _contracts_of(folder: Path) -> ContractSet:
    """The contracts of the repository around a folder; a folder of contracts without git counts, too."""
    marks = (".git", ".agentforge/contracts")
    return contract_set(
        next((top for top in (folder, *folder.parents) if any((top / m).exists() for m in marks)), None)
    )


def _row_text(row: Mapping[str, object]) -> str:
    status = str(row["status"])
    place = f" {row['path']}" if row["path"] else ""
    message = {"passed": "", "not checked": " (needs a run)"}.get(status, f": {row['message']}")
    return printable(f"{_MARKS[status]} {row['rule']}{place}{message}")
