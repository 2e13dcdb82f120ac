"""The verification of one run: every check over its files, with nothing else at hand but what the caller brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass as open_dataclass, field as open_field
from functools import partial

from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.events.fold.delivered import judged
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.blob_form import ZLIB, blobs_named
from agentforge.events.storage.view_mark import writers_of
from agentforge.frozen import dataclass
from agentforge.proof.anchors import Anchor, Commit, Note, anchors_check, note_check
from agentforge.proof.attestation import signature_check, stated_check
from agentforge.proof.chain import LOG, Link, links, without_torn_end
from agentforge.proof.contents import blob, blobs_check, has_blob, lease_check, unpacked
from agentforge.proof.envelope import read_envelopes
from agentforge.proof.files import Files
from agentforge.proof.judgement import Complete, Judgements
from agentforge.proof.public_keys import PublicKey
from agentforge.proof.report import Check, Report, told
from agentforge.proof.views import Written, views_checks

MEANINGLESS = (KeyError, TypeError, ValueError, AttributeError, IndexError, AssertionError)
"""What a record raises whose chain is right and whose content no program of ours would have written."""

Rebuild = Callable[[Files], Mapping[str, bytes]]
"""Writes the views of a run anew from its log and blobs: path -> bytes."""

_AFTER_THE_END = (kinds.ForkMade, kinds.RunMarked, kinds.RunShared, kinds.NotificationSent, kinds.LogRecovered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What stands beside the files of a run.

    Attributes:
        rebuild: how views are made; None = the views are not looked at.
        earlier: what each view held after each record from one on; None = views that lag behind are not compared.
        contract: the contract document of a digest that is no blob of the run (old logs).
        complete: how this program completes an artifact; None = not looked at.
        anchors: of the trail, from outside the folder.
        note: the git note of the delivered commit, where it is at hand; its anchor is among the anchors.
        commit: a commit by its id; None = it is not at hand.
        keys: public keys that may have signed.
        required: only a signature by one of the keys will do.
        leased: a folder that runs live in has a lease; a bundle has none.
    """

    rebuild: Rebuild | None = None
    earlier: Callable[[Files, int], Mapping[str, Sequence[bytes | None]]] | None = None
    contract: Callable[[str], bytes] | None = None
    complete: Complete | None = None
    anchors: Sequence[Anchor] = ()
    note: Note | None = None
    commit: Callable[[str], Commit | None] | None = None
    keys: tuple[PublicKey, ...] = ()
    required: bool = False
    leased: bool = True


@open_dataclass(slots=True)
class _Trail:
    """What one pass over the log gathers."""

    judgements: Judgements
    state: RunState = open_field(default_factory=RunState)
    hashes: list[str] = open_field(default_factory=list)
    named: set[str] = open_field(default_factory=set)
    quarantined: dict[str, str] = open_field(default_factory=dict)
    attested: tuple[RunState, str, int, str] | None = None
    fence: int = 0
    resumed: bool = False
    after_end: int = 0
    versions: list[Mapping[str, object]] = open_field(default_factory=list)
    programs: set[str] = open_field(default_factory=set)

    def see(self, link: Link) -> None:
        """Take in one record."""
        event = link.event
        self.after_end += bool(self.state.progress.outcome) and not isinstance(event, _AFTER_THE_END)
        self.judgements.see(event, self.state)
        self.named.update(blobs_named(event))
        if isinstance(event, kinds.LogRecovered):
            self.quarantined[event.quarantine] = event.digest
        elif isinstance(event, kinds.Attested):
            self.attested = (self.state, self.hashes[-1], len(self.hashes), event.envelopes)
        if isinstance(event, (kinds.RunStarted, kinds.RunResumed)):
            self.versions.append(event.versions)
        elif isinstance(event, (kinds.RunMarked, kinds.ForkMade, kinds.RunForked)) and event.program:
            self.programs.add(event.program)
        self.resumed |= isinstance(event, (kinds.RunResumed, kinds.RunInterrupted, kinds.LogRecovered))
        self.state = evolve(self.state, event, at=link.at)
        self.hashes.append(link.hash)
        self.fence = link.fence


def verify_run(files: Files, around: Surroundings) -> tuple[Report, RunState]:
    """Check the files of a run; returns the report and what the log folds to (as far as it can be read)."""
    try:
        files = unpacked(files)
    except IntegrityError as exc:
        return Report(subject="run", checks=(Check(name="blobs", ok=False, detail=exc.message),)), RunState()
    trail = _Trail(Judgements(document=_documents(files, around), complete=around.complete))
    lease, ended_well = lease_check(files, fence=0) if around.leased else (None, True)
    chain = _chain_check(files, trail, ended_well=ended_well)
    name = trail.state.identity.run_id or "run"
    if not chain.ok:
        return Report(subject=name, checks=(chain, anchors_check(around.anchors, trail.hashes))), trail.state
    lease = lease_check(files, fence=trail.fence)[0] if around.leased else None
    checks = [chain, *([lease] if lease else []), _blobs_check(files, trail, ended_well=ended_well)]
    checks += trail.judgements.checks()
    checks += _views_checks(files, around, trail, ended_well=ended_well)
    commit = _commit(around, trail.state)
    checks += [_standing_check(trail), *_delivery_checks(trail.state, commit, at_hand=around.commit is not None)]
    anchors = [*around.anchors, *([commit.anchor] if commit is not None and commit.anchor is not None else [])]
    checks.append(anchors_check(anchors, trail.hashes))
    if around.note is not None and trail.state.work.delivered:
        checks.append(_note_check(files, around.note, trail))
    checks += _attestation_checks(files, around, trail)
    return Report(subject=name, checks=tuple(checks)), trail.state


def _chain_check(files: Files, trail: _Trail, *, ended_well: bool) -> Check:
    if LOG not in files:
        return Check(name="chain", ok=False, detail=f"{LOG} is missing")
    log = files[LOG]
    whole = log if ended_well else without_torn_end(log)
    torn = f", and {len(log) - len(whole)} bytes of one that was being written" if len(whole) != len(log) else ""
    try:
        for link in links(whole):
            if not trail.hashes and not isinstance(link.event, kinds.RunStarted):
                raise IntegrityError("record 1 does not begin a run")
            trail.see(link)
    except IntegrityError as exc:
        return Check(name="chain", ok=False, detail=exc.message)
    except MEANINGLESS as exc:
        told = f"record {len(trail.hashes) + 1} means nothing to this program: {exc!r:.200}"
        return Check(name="chain", ok=False, detail=told)
    if not trail.hashes:
        return Check(name="chain", ok=False, detail=f"{LOG} holds no record")
    return Check(name="chain", ok=True, detail=f"{len(trail.hashes)} records, head {trail.hashes[-1]}{torn}")


def _blobs_check(files: Files, trail: _Trail, *, ended_well: bool) -> Check:
    zlibs = {str(versions.get(ZLIB, "")) for versions in trail.versions}
    return blobs_check(files, named=trail.named, recovered=trail.resumed or not ended_well, zlibs=zlibs)


def _documents(files: Files, around: Surroundings) -> Callable[[str], bytes]:
    """A contract document: from the run's own blobs, else from what the caller has."""

    def read(digest: str) -> bytes:
        return blob(files, digest) if around.contract is None or has_blob(files, digest) else around.contract(digest)

    return read


def _views_checks(files: Files, around: Surroundings, trail: _Trail, *, ended_well: bool) -> list[Check]:
    if around.rebuild is None:
        return []
    try:
        wanted = around.rebuild(files)
    except (IntegrityError, *MEANINGLESS) as exc:
        return [Check(name="views", ok=False, detail=f"the views cannot be made: {exc!s:.200}")]
    writers = writers_of(trail.versions, trail.programs)
    written = Written(hashes=trail.hashes, writers=writers, quarantined=trail.quarantined, ended_well=ended_well)
    earlier = around.earlier
    try:
        return views_checks(files, wanted, written, earlier=partial(earlier, files) if earlier else None)
    except (IntegrityError, *MEANINGLESS) as exc:
        return [Check(name="views", ok=False, detail=f"the views cannot be made: {exc!s:.200}")]


def _commit(around: Surroundings, state: RunState) -> Commit | None:
    made = state.work.delivered or {}
    return around.commit(str(made["commit"])) if around.commit is not None and made else None


def _standing_check(trail: _Trail) -> Check:
    """How the run stands; nothing may follow its end but what people say of it and the forks that were made of it."""
    state = trail.state
    if trail.after_end:
        return Check(name="standing", ok=False, detail=f"{trail.after_end} records stand behind the run's end")
    if state.progress.outcome == "delivered" and not state.work.delivered:
        return Check(name="standing", ok=False, detail="delivered without a branch", altered=False)
    return Check(name="standing", ok=True, detail=state.progress.outcome or "not finished: nothing was delivered")


def _delivery_checks(state: RunState, commit: Commit | None, *, at_hand: bool) -> list[Check]:
    """Whether the commit holds the verified tree and nothing else, on top of the base."""
    made = state.work.delivered
    if not made:
        return []
    verified = judged(state.work.trees, "")
    problems = [] if made.get("tree") == verified else ["the delivered tree is not the verified one"]
    if commit is None:
        held = "the recorded tree is the verified one; the commit itself is not at hand"
        if at_hand:
            problems.append(f"commit {made.get('commit')} is not in the repository")
        return [told("delivery", problems, held=held, altered=False)]
    if commit.tree != verified:
        problems.append(f"commit {commit.oid[:12]} holds another tree than the verified one")
    if commit.parents != (state.identity.base_commit,):
        problems.append(f"commit {commit.oid[:12]} does not stand on the base commit")
    if commit.task != state.identity.run_id:
        problems.append(f"commit {commit.oid[:12]} names another task")
    return [told("delivery", problems, held=f"commit {commit.oid[:12]} is the verified tree on the base commit")]


def _note_check(files: Files, note: Note, trail: _Trail) -> Check:
    """Whether the note says what the run says: its anchor is held against the trail with the others."""
    made = trail.state.work.delivered or {}
    envelopes = b""
    if trail.attested is not None:
        try:
            envelopes = blob(files, trail.attested[3])
        except IntegrityError as exc:
            return Check(name="note", ok=False, detail=exc.message)
    about = (trail.state.identity.run_id, str(made.get("commit")), str(made.get("tree")))
    goes_on = trail.attested is None and not trail.state.progress.outcome  # the note is written before that is recorded
    return note_check(note, about=about, envelopes=note.envelopes if goes_on else envelopes)


def _attestation_checks(files: Files, around: Surroundings, trail: _Trail) -> list[Check]:
    if trail.attested is None:
        if trail.state.progress.outcome == "delivered" and trail.state.work.delivered:
            return [Check(name="attestation", ok=False, detail="the run was delivered, and its attestation is gone")]
        if not around.required:
            return []
        return [Check(name="signature", ok=False, detail="the run holds no attestation", altered=False)]
    state, head, records, digest = trail.attested
    try:
        envelopes = blob(files, digest)
        opened = read_envelopes(envelopes)
    except IntegrityError as exc:
        return [Check(name="attestation", ok=False, detail=exc.message)]
    stated = stated_check(envelopes, state, head=head, records=records, read=lambda name: blob(files, name))
    return [stated, signature_check(opened, keys=around.keys, required=around.required)]
