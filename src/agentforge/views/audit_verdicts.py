"""The part of an audit that shows the verdicts: every rule of one that passed, what was wrong with one that did not. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentforge.contracts.rules import find_rule
from agentforge.errors import ContractInvalid
from agentforge.events.fold.verification import refusals, refuses
from agentforge.views.audit_blocks import AuditText, Block, Column, Heading, table, visible

Audit = Mapping[str, Any]

VERDICT = Column(title="result", kind="verdict", share=2)
_DIGEST_SHORTEST = 40


def verdict_blocks(audit: Audit) -> list[Block]:
    """All rules of a verdict that passed, the broken ones of one that did not."""
    if not audit["verdicts"]:
        return []
    note = (
        "Measured is what a rule judged: how many things it looked at or, where nothing may be found, how many it found (0). "
        "Rules are evaluated over recorded measurements; no model takes part."
    )
    blocks: list[Block] = [Heading(level=2, text="Verification, stage by stage"), AuditText(text=note, tone="muted")]
    for item in audit["verdicts"]:
        word = "passed" if item["passed"] else "refused"
        blocks += [
            Heading(level=3, text=visible(f"{item['stage']}, attempt {item['attempt']}: {word}")),
            AuditText(
                text=visible(f"contract {item['contract']} {item['contract_digest']}, judged {item['at']}"),
                tone="muted",
            ),
            _held(item["results"]) if item["passed"] else _broken(item["results"]),
        ]
    return blocks


def _held(results: list[Audit]) -> Block:
    """Every rule with its sentence and what it judged."""
    columns = (
        Column(title="what must hold", share=7), Column(title="rule", kind="code", share=3), VERDICT,
        Column(title="measured", share=2),
    )  # fmt: skip
    rows = [(_sentence(str(row.get("rule"))), row.get("rule"), _word(row), _measured(row)) for row in results]
    return table(columns, rows)


def _broken(results: list[Audit]) -> Block:
    """The rules that did not hold, and why."""
    columns = (Column(title="rule", kind="code", share=3), VERDICT, Column(title="what was wrong", share=9))
    rows = [
        (row.get("rule"), _word(row), f"{row['path']}: {row.get('message')}" if row.get("path") else row.get("message"))
        for row in refusals(results)
    ]
    return table(columns, rows)


def _sentence(rule: str) -> str:
    """A rule in the words of its contract."""
    if rule == "schema":
        return "the artifact has the form that the contract asks for"
    if rule.startswith(("cel: ", "command: ")):
        return rule.partition(": ")[2]
    try:
        return find_rule(rule, source="audit").sentence
    except ContractInvalid:  # a rule of another version
        return rule


def _word(row: Audit) -> str:
    return "passed" if row.get("passed") else "failed" if refuses(row) else "noted"


def _measured(row: Audit) -> object:
    """As it is; of a digest, which stands whole among the digests, its beginning."""
    value = row.get("measured")
    if isinstance(value, str) and len(value) >= _DIGEST_SHORTEST and not value.strip("0123456789abcdef"):
        return f"{value[:12]}..."
    return "" if value is None else value
