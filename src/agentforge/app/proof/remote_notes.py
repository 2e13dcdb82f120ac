"""Anchors elsewhere: the notes of deliveries at a git remote, which whoever holds this machine cannot rewrite unseen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from agentforge.app.composition.run_result import RunResult
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, IntegrityError, StorageError, ToolchainError
from agentforge.frozen import dataclass
from agentforge.proof.anchors import NOTES_REF, Anchor, Note, read_note
from agentforge.proof.report import Check
from agentforge.workspace.git.objects import drop_ref
from agentforge.workspace.git.remotes import Pushed, fetch, push, remote_commit, require_remote
from agentforge.workspace.git.repository import Git

INCOMING = "refs/notes/agentforge-incoming"
_TRIES = 3
_NAME = "anchor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """What stands elsewhere about one delivery.

    Attributes:
        notes: every note that was ever pushed about its commit and is still in the history there.
        check: whether the place could be asked and knows this delivery.
    """

    notes: Sequence[Note]
    check: Check

    @property
    def anchors(self) -> list[Anchor]:
        """The heads that these notes name."""
        return [note.anchor for note in self.notes]


def push_notes(git: Git, remote: str) -> Pushed:
    """Push the notes of all deliveries; where the remote has others, they are joined first: notes are about different commits.

    Raises:
        AgentForgeError: there is no note, or git refuses to join them.
    """
    done = push(git.command, remote, commit=git.resolve(NOTES_REF), ref=NOTES_REF)
    for _ in range(_TRIES):
        if done.outcome != "overtaken":
            break
        fetch(git.command, remote, ref=NOTES_REF, into=INCOMING)
        git.command.output("notes", f"--ref={NOTES_REF}", "merge", "--quiet", "--strategy=ours", INCOMING)
        drop_ref(git, INCOMING)
        done = push(git.command, remote, commit=git.resolve(NOTES_REF), ref=NOTES_REF)
    return done


def with_anchor(result: RunResult, git: Git, *, settings: Settings) -> RunResult:
    """The result of a run that has delivered, with its note at the remote of `proof.anchor`; a push that fails is its error."""
    remote, task = settings.text("proof.anchor"), result.state.identity.run_id
    try:
        require_remote(git.command, remote)
        done = push_notes(git, remote)
        reason = "" if done.outcome == "taken" else done.reason
    except AgentForgeError as exc:
        reason = exc.message
    if not reason:
        return result
    error = StorageError(
        f"{task} is delivered, but its note could not be pushed to {remote}, the remote of proof.anchor: {reason}",
        hint=f"try it yourself: git push {remote} {NOTES_REF}; the next delivery pushes it, too",
    )
    return replace(result, error=error)


def elsewhere(git: Git, place: str, *, task: str, commit: str) -> Elsewhere:
    """Look up what a remote, or a repository at an address, says about a delivery.

    Args:
        commit: that was delivered, "" = none.
    Side effects: the notes are fetched into a ref that is removed again.
    """
    if not commit:
        return _unknown(f"{task} delivered nothing, so no note about it can stand at {place}")
    into = f"{INCOMING}-{os.getpid()}"
    try:
        if not remote_commit(git.command, place, NOTES_REF):
            return _unknown(f"{place} holds no {NOTES_REF}: push it after the delivery, or set proof.anchor")
        fetch(git.command, place, ref=NOTES_REF, into=into)
        notes = [
            replace(note, anchor=replace(note.anchor, source=f"note at {place}")) for note in _notes(git, into, commit)
        ]
        other = _other_delivery(git, into, task) if not notes else ""
    except ToolchainError as exc:
        return _unknown(exc.message)
    except IntegrityError as exc:
        return Elsewhere(notes=(), check=Check(name=_NAME, ok=False, detail=f"at {place}: {exc.message}"))
    finally:
        drop_ref(git, into)
    if other:
        detail = f"the notes at {place} know {task} as commit {other[:12]}, and here it is {commit[:12]}"
        return Elsewhere(notes=(), check=Check(name=_NAME, ok=False, detail=detail))
    if not notes:
        return _unknown(
            f"the notes at {place} hold none about commit {commit[:12]}: it was not pushed there, or was removed"
        )
    return Elsewhere(
        notes=notes, check=Check(name=_NAME, ok=True, detail=f"{len(notes)} notes about this delivery at {place}")
    )


def note_stands(note: Note, found: Elsewhere) -> Check:
    """Hold a note against what stands elsewhere, where the trail itself is not at hand."""
    last = max(found.notes, key=lambda one: one.anchor.records, default=None)
    if last is None:
        return found.check
    same = (note.anchor.head, note.anchor.records) == (last.anchor.head, last.anchor.records)
    here, there = (f"record {one.anchor.records} with {one.anchor.head[:12]}" for one in (note, last))
    detail = f"the note here ends with {here}, the {last.anchor.source} with {there}"
    return found.check if same else Check(name=_NAME, ok=False, detail=detail)


def _unknown(detail: str) -> Elsewhere:
    return Elsewhere(notes=(), check=Check(name=_NAME, ok=False, detail=detail, altered=False))


def _notes(git: Git, ref: str, commit: str) -> list[Note]:
    """Every version of the note about a commit: a note that was rewritten later does not hide the one before it."""
    paths = [commit, f"{commit[:2]}/{commit[2:]}", f"{commit[:2]}/{commit[2:4]}/{commit[4:]}"]
    listed = git.command.output("rev-list", "--objects", "--full-history", ref, "--", *paths).decode("ascii", "replace")
    rows = (line.partition(" ") for line in listed.splitlines())
    oids = [oid for oid, _, path in rows if path.replace("/", "") == commit]
    return [read_note(git.command.output("cat-file", "blob", oid).decode("utf-8", "replace")) for oid in oids]


def _other_delivery(git: Git, ref: str, task: str) -> str:
    """The commit of another delivery of the same task, "" = there is none."""
    done = git.command.run("grep", "-l", "-F", f'"task": "{task}"', ref)
    names = os.fsdecode(done.output).splitlines() if done.exit_code == 0 else []
    return names[0].rpartition(":")[2].replace("/", "") if names else ""
