"""The body of a pull request: the delivery report, and the proof with the commands that check it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.safety.text.hygiene import outside
from agentforge.views.report_md import delivery_sections

_LONGEST = 60_000  # GitHub takes 65,536 characters
_REQUEST_SHOWN = 2_000
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """A run's log as it stands now: hash of the last record, number of records."""

    head: str
    records: int


def pull_title(report: Mapping[str, object]) -> str:
    """The title: the subject of the delivered commit."""
    commits = report.get("commits")
    first = commits[0] if isinstance(commits, (list, tuple)) and commits else {}
    return str(first.get("subject") or report.get("title") or "Delivery")


def pull_body(
    report: Mapping[str, object], state: RunState, trail: Trail, *, earlier: Sequence[RunState], bundle: bool
) -> str:
    """Write the body.

    Args:
        report: of the delivery that the branch stands on.
        earlier: the runs that delivered on the branch before, oldest first.
        bundle: the trail is pushed with the branch.
    """
    first = earlier[0] if earlier else state
    if earlier:  # the request of a later delivery is what reviewers wrote, which stands on the page already
        report = {name: value for name, value in report.items() if name != "asks"}
    parts = [
        _fenced(outside(first.brief.request).strip()[:_REQUEST_SHOWN]),
        _deliveries([*earlier, state]) if earlier else "",
        *delivery_sections(report, state),
        _proof(state, trail),
        _how(state, bundle=bundle),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    if len(text) <= _LONGEST:
        return text
    return text[:_LONGEST] + f"\n\n... cut: the whole report is `agentforge audit {state.identity.run_id}`\n"


def _fenced(text: str) -> str:
    """The request as it is: in a block of code nobody is notified and no issue is closed by a word of it."""
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{ticks}text\n{text}\n{ticks}"


def _deliveries(runs: Sequence[RunState]) -> str:
    lines = [f"| {_commit(run)[:12]} | `{run.identity.run_id}` | {_answers(run)} |" for run in runs]
    return "\n".join(["## Deliveries on this branch", "", "| commit | task | what for |", "|---|---|---|", *lines])


def _answers(run: RunState) -> str:
    found = run.relations.pull.get("findings")
    count = len(found) if isinstance(found, (list, tuple)) else 0
    return f"{count} finding{'s' if count != 1 else ''} of review and CI" if count else "the request"


def _proof(state: RunState, trail: Trail) -> str:
    delivered, attested = state.work.delivered or {}, state.work.attested or {}
    rows = [
        ("commit", delivered.get("commit")),
        ("tree", delivered.get("tree")),
        ("base", state.identity.base_commit),
        ("trail", f"{trail.head} ({trail.records} records)"),
        ("contracts", state.identity.digests.get("contracts")),
        ("signed by", attested.get("key_id") or "nobody: there was no key"),
        ("agentforge", state.identity.versions.get("agentforge")),
    ]
    lines = [f"| {name} | `{value}` |" for name, value in rows if value]
    return "\n".join(["## Proof", "", "| what | digest |", "|---|---|", *lines])


def _how(state: RunState, *, bundle: bool) -> str:
    refs = "refs/notes/agentforge:refs/notes/agentforge"
    if bundle:
        refs += f" 'refs/agentforge/bundles/{state.identity.run_id}:refs/agentforge/bundles/{state.identity.run_id}'"
    told = "measures all of it again" if bundle else "runs the attested tests again"
    return (
        "Check it yourself, without a model and without trusting the machine that wrote this; "
        f"`--rerun` {told} in a fresh checkout:\n\n"
        f"    git fetch origin {state.identity.branch} {refs}\n"
        f"    agentforge verify {_commit(state)} --rerun"
    )


def _commit(run: RunState) -> str:
    return str((run.work.delivered or {}).get("commit", ""))
