"""Verification for people and CI: what a word means (a task, a branch, a bundle, a folder), and what stands beside it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

from agentforge.app.history.rerun import measure_again, tests_again
from agentforge.app.proof.bundles import BUNDLES_REF, pack_problems, unpacked_repository
from agentforge.app.proof.delivered_objects import branch_check, delivery_checks
from agentforge.app.proof.keyring import kept_keys, public_key_file
from agentforge.app.proof.remote_notes import Elsewhere, elsewhere, note_stands
from agentforge.app.tasks.log_heads import kept_head
from agentforge.canonical import canonical_bytes
from agentforge.config.contract_files import contract_set
from agentforge.errors import AgentForgeError, IntegrityError, RepositoryError, UsageError
from agentforge.events.kinds import Delivered, Json
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.stages import load_stages
from agentforge.proof.anchors import NOTES_REF, Anchor, Commit, Note, read_commit, read_note
from agentforge.proof.attestation import TEST_RESULT, about_check, signature_check
from agentforge.proof.bundle import Bundle, read_bundle
from agentforge.proof.chain import LOG, links
from agentforge.proof.contents import blob
from agentforge.proof.envelope import Envelope, read_envelopes
from agentforge.proof.files import Files, FolderFiles
from agentforge.proof.judgement import Complete
from agentforge.proof.report import Check, Report, told
from agentforge.proof.run import MEANINGLESS, Surroundings, verify_run
from agentforge.store.blobs import Blobs
from agentforge.store.tasks.folders import find_task
from agentforge.store.views.earlier import views_since
from agentforge.store.views.projector import Projector
from agentforge.workspace.git.objects import blob_of_ref, commit_object, note_of
from agentforge.workspace.git.repository import Git


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """What `verify` was asked to do.

    Attributes:
        target: a task, a branch or commit, a bundle, or the folder of a run.
        keys: files with public keys; when there are any, one of them must have signed.
        rerun: measure the facts again in fresh checkouts.
        anchor: a git remote, or the address of a repository, whose notes the trail is held against; "" = none.
    """

    target: str
    cwd: Path
    keys: tuple[Path, ...] = ()
    rerun: bool = False
    anchor: str = ""


def verify(options: VerifyOptions, *, environ: Mapping[str, str]) -> Report:
    """Verify what `target` means.

    Raises:
        UsageError: it means nothing here.
        IntegrityError: it is too damaged to be looked into.
    """
    around = _surroundings(options, environ)
    path = options.cwd / options.target
    if path.is_file():
        return _verify_bundle(path.read_bytes(), around, options, environ)
    if (path / LOG).is_file():
        return _verify_folder(path.resolve(), around, options, environ)
    git = _repository(options.cwd, options.target)
    folder = _task_folder(git, options.target, environ)
    if folder is not None:
        return _verify_folder(folder, around, options, environ, git=git)
    return _verify_branch(git, around, options, environ)


def views_of(files: Files) -> dict[str, bytes]:
    """Write the views of a run anew, somewhere else, from its log and blobs; returns them with the log left out.

    Raises:
        IntegrityError: a blob that they need is missing or altered.
    """
    with _log_alone(files) as (folder, blobs):
        Projector.replayed(folder, blobs)
        return {name: content for name, content in FolderFiles(folder).items() if name != LOG}


def _views_since(files: Files, records: int) -> Mapping[str, Sequence[bytes | None]]:
    with _log_alone(files) as (folder, blobs):
        return views_since(folder, blobs, records=records)


@contextmanager
def _log_alone(files: Files) -> Iterator[tuple[Path, Blobs]]:
    """A folder with a run's log alone, and the run's blobs, wherever they are."""

    class FromFiles(Blobs):
        """The run's blobs."""

        def get(self, digest: str) -> bytes:
            """Give a blob."""
            return blob(files, digest)

    with tempfile.TemporaryDirectory(prefix="agentforge-views-") as place:
        folder = Path(place)
        (folder / LOG).write_bytes(files[LOG])
        yield folder, FromFiles(folder / "blobs")


def _surroundings(options: VerifyOptions, environ: Mapping[str, str]) -> Surroundings:
    given = tuple(public_key_file(options.cwd / path) for path in options.keys)
    keys = given or tuple(key.public for key in kept_keys(environ))
    return Surroundings(
        rebuild=views_of,
        earlier=_views_since,
        contract=_builtin_contract,
        complete=_complete(),
        keys=keys,
        required=bool(given),
    )


def _builtin_contract(digest: str) -> bytes:
    """The document of a builtin contract: runs of old versions did not keep theirs."""
    for contract in contract_set(None).contracts.values():
        if contract.digest == digest:
            return canonical_bytes(contract.document)
    raise IntegrityError(f"the contract {digest[:12]} is neither in the run nor builtin")


def _complete() -> Complete:
    def complete(state: RunState, stage: str, draft: Json, facts: Json) -> Mapping[str, object] | None:
        """What this program makes of a draft; nobody else's code is run to look at a trail."""
        if any(row.get("name") == stage for row in state.brief.added):
            return None
        return load_stages(state.brief.workflow, profile=state.brief.profile)[stage].complete(state, draft, facts)

    return complete


def _repository(cwd: Path, target: str) -> Git:
    try:
        return Git.open(cwd)
    except RepositoryError as exc:
        raise UsageError(
            f"{target!r} is neither a bundle nor the folder of a run, and {cwd} cannot be used: {exc.message}",
            hint=exc.hint or "name a file, or work in the repository",
        ) from exc


def _task_folder(git: Git, target: str, environ: Mapping[str, str]) -> Path | None:
    if git.branch_exists(target):
        return None
    try:
        folder = find_task(git.top, target, empty=True)[1]
        seen = kept_head(environ, folder) is not None
    except IntegrityError:
        seen = True
    except UsageError:
        return None
    return folder if seen else find_task(git.top, folder.name)[1]


def _verify_folder(
    folder: Path,
    around: Surroundings,
    options: VerifyOptions,
    environ: Mapping[str, str],
    *,
    git: Git | None = None,
    more: Sequence[Check] = (),
) -> Report:
    git = git or _home(folder)
    try:
        kept = kept_head(environ, folder)
        found = list(more)
    except IntegrityError as exc:
        kept, found = None, [*more, Check(name="head file", ok=False, detail=exc.message)]
    anchors = [kept] if kept is not None else []

    def commit(oid: str) -> Commit | None:
        return _commit(git, oid) if git is not None else None

    files = FolderFiles(folder)
    delivered = _delivered_commit(files)
    note = None
    try:
        note = _note(git, delivered) if git is not None and delivered else None
    except IntegrityError as exc:
        found.append(Check(name="note", ok=False, detail=exc.message))
    if note is not None:
        anchors.append(note.anchor)
    if options.anchor:
        there = _elsewhere(git, options, task=folder.name, commit=delivered)
        anchors += there.anchors
        found.append(there.check)
    around = replace(around, anchors=anchors, note=note, commit=commit if git is not None else None)
    report, state = verify_run(files, around)
    if git is not None and delivered:
        found += delivery_checks(git, state, told=[check.name for check in more])
    checks = (*found, *report.checks)
    if options.rerun and git is not None:
        checks += _rerun(files, state, git, environ, held=report.ok)
    return replace(report, checks=checks)


def _home(folder: Path) -> Git | None:
    """The repository that a run's folder lies in, None for a copy elsewhere."""
    if folder.parent.name != "tasks" or folder.parent.parent.name != ".agentforge":
        return None
    try:
        return Git.open(folder.parents[2])
    except RepositoryError:
        return None


def _delivered_commit(files: Files) -> str:
    """The commit that the log says was delivered, "" when it cannot be read: the chain's check will say why."""
    try:
        found = [link.event.commit for link in links(files[LOG]) if isinstance(link.event, Delivered)]
    except (AgentForgeError, KeyError):
        return ""
    return found[-1] if found else ""


def _commit(git: Git, oid: str) -> Commit | None:
    raw = commit_object(git, oid)
    return read_commit(raw, oid=oid) if raw is not None else None


def _note(git: Git, oid: str) -> Note | None:
    text = note_of(git, oid, NOTES_REF)
    return read_note(text) if text is not None else None


def _verify_bundle(
    data: bytes, around: Surroundings, options: VerifyOptions, environ: Mapping[str, str], *, more: Sequence[Check] = ()
) -> Report:
    bundle = read_bundle(data)
    anchors = [bundle.note.anchor] if bundle.note is not None else []
    made = bundle.commit

    def commit(oid: str) -> Commit | None:
        return made if made is not None and made.oid == oid else None

    around = replace(
        around, anchors=anchors, note=bundle.note, commit=commit if made is not None else None, leased=False
    )
    if options.anchor:
        there = _elsewhere(None, options, task=bundle.task, commit=_delivered_commit(bundle.files))
        around, more = replace(around, anchors=[*around.anchors, *there.anchors]), [*more, there.check]
    report, state = verify_run(bundle.files, around)
    checks = (*more, bundle.check, *_bundle_checks(bundle, state), *report.checks)
    if options.rerun:
        checks += _rerun_bundle(bundle, state, environ, held=report.ok and bundle.check.ok)
    return replace(report, checks=checks)


def _elsewhere(git: Git | None, options: VerifyOptions, *, task: str, commit: str) -> Elsewhere:
    """What the notes at the place that was asked for say; a bundle or a copied folder is looked up by the repository around."""
    return elsewhere(git or _repository(options.cwd, options.target), options.anchor, task=task, commit=commit)


def _bundle_checks(bundle: Bundle, state: RunState) -> list[Check]:
    """Whether what stands beside the run in a bundle is that run's."""
    problems = (
        []
        if bundle.task == state.identity.run_id
        else [f"the bundle says it is {bundle.task!r}, and holds {state.identity.run_id!r}"]
    )
    made = str((state.work.delivered or {}).get("commit", ""))
    if made and (bundle.commit is None or bundle.commit.oid != made):
        problems.append("the bundle does not hold the delivered commit")
    if state.identity.base_commit:
        problems += pack_problems(bundle.pack, state)
    return [told("contents", problems, held="the objects of the base and of every measured tree, and no others")]


def _rerun_bundle(bundle: Bundle, state: RunState, environ: Mapping[str, str], *, held: bool) -> tuple[Check, ...]:
    with unpacked_repository(bundle.pack, base=state.identity.base_commit) as git:
        return _rerun(bundle.files, state, git, environ, held=held)


def _rerun(files: Files, state: RunState, git: Git, environ: Mapping[str, str], *, held: bool) -> tuple[Check, ...]:
    if not held:
        return (Check(name="rerun", ok=False, detail="not measured: the trail itself does not hold", altered=False),)
    return measure_again(files, state, git, environ=environ)


def _meant(git: Git, target: str) -> str:
    """The commit that a word means."""
    try:
        return git.resolve(target)
    except RepositoryError as exc:
        raise UsageError(
            f"{target!r} is not a task, branch, commit or bundle here",
            hint="`agentforge status` lists the tasks, `git branch -a` the branches",
        ) from exc


def _verify_branch(git: Git, around: Surroundings, options: VerifyOptions, environ: Mapping[str, str]) -> Report:
    """A branch: by its task's trail where it is here, else by its bundle in a ref, else by trailers, note and signature."""
    oid = _meant(git, options.target)
    commit = cast("Commit", _commit(git, oid))
    if not commit.task or commit.anchor is None:
        raise UsageError(
            f"{options.target} ({oid[:12]}) has no AgentForge trailers: it was not delivered by agentforge, or was "
            "changed afterwards",
            hint="verify the branch before it is merged or amended",
        )
    folder = git.top / ".agentforge" / "tasks" / Path(commit.task).name
    if (folder / LOG).is_file():
        return _verify_folder(folder, around, options, environ, git=git, more=[_tip_check(FolderFiles(folder), oid)])
    kept = blob_of_ref(git, f"{BUNDLES_REF}/{commit.task}")
    if kept is not None:
        tip = _tip_check(read_bundle(kept).files, oid)
        return _verify_bundle(kept, around, options, environ, more=[tip])
    try:
        return _verify_commit(git, commit, around, options, environ)
    except MEANINGLESS as exc:
        raise IntegrityError(f"the note of {oid[:12]} cannot be read: {exc!s:.200}", hint="fetch it again") from exc


def _tip_check(files: Files, oid: str) -> Check:
    return branch_check(oid, _delivered_commit(files))


def _verify_commit(
    git: Git, commit: Commit, around: Surroundings, options: VerifyOptions, environ: Mapping[str, str]
) -> Report:
    """A commit whose trail is elsewhere: what its note says of it, and who signed that."""
    anchor = cast("Anchor", commit.anchor)
    note = _note(git, commit.oid)
    if note is None:
        detail = f"there is no note: git fetch origin {NOTES_REF}:{NOTES_REF}"
        return Report(subject=commit.task, checks=(Check(name="note", ok=False, detail=detail, altered=False),))
    right = (note.task, note.commit, note.tree) == (commit.task, commit.oid, commit.tree)
    checks = [Check(name="note", ok=right, detail="is about this commit" if right else "is about another commit")]
    envelopes = read_envelopes(note.envelopes)
    base = commit.parents[0] if len(commit.parents) == 1 else ""
    stated = _stated_trail(envelopes[0].statement) if envelopes else ("", 0)
    checks.append(
        about_check(envelopes, commit=commit.oid, tree=commit.tree, base=base, head=stated[0], records=stated[1])
    )
    if options.anchor:
        there = _elsewhere(git, options, task=commit.task, commit=commit.oid)
        checks.append(note_stands(note, there))
    rising = anchor.records < stated[1] <= note.anchor.records
    told = f"{anchor.records} records at the commit, {stated[1]} when it was stated, {note.anchor.records} in all"
    checks.append(Check(name="anchors", ok=rising, detail=told))
    checks.append(signature_check(envelopes, keys=around.keys, required=around.required))
    measured = " and RED and the controls not measured" if options.rerun else ""
    needed = f"git fetch origin '{BUNDLES_REF}/*:{BUNDLES_REF}/*' where `agentforge bundle --ref` kept it, or verify the bundle"
    detail = f"not at hand: verdicts were not evaluated{measured} again ({needed})"
    checks.append(Check(name="trail", ok=True, detail=detail, altered=False))
    if options.rerun:
        checks.append(_tests_again(git, commit, envelopes, environ, held=all(check.ok for check in checks)))
    return Report(subject=commit.task, checks=tuple(checks))


def _tests_again(
    git: Git, commit: Commit, envelopes: Sequence[Envelope], environ: Mapping[str, str], *, held: bool
) -> Check:
    predicates = [
        item.statement.get("predicate") for item in envelopes if item.statement.get("predicateType") == TEST_RESULT
    ]
    if not held or not predicates or not isinstance(predicates[0], dict):
        return Check(name="rerun tests", ok=False, detail="not measured: the note itself does not hold", altered=False)
    return tests_again(commit.oid, predicates[0], git, environ=environ)


def _stated_trail(statement: Mapping[str, object]) -> tuple[str, int]:
    predicate = statement.get("predicate")
    rows = predicate.get("configuration") if isinstance(predicate, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if row.get("name") == "events.jsonl":
            return str(row["digest"]["sha256"]), int(row["annotations"]["records"])
    return "", 0
