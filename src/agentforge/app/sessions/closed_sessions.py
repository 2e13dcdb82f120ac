"""What can be done with sessions that are not open: list, find, rename, fork, delete.

What can still be read of a session whose log was cut off or damaged: everything before the damage.

Sessions that agentforge-harness 0.1 left as snapshots, looked at without being gone on with.

Long lists in pages: `--page N --limit N`, as every list of the slash commands takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sessions.chat import ChatOptions
from agentforge.app.sessions.checkpoints import talk_value
from agentforge.app.sessions.logs import begin_log, snapshot_file
from agentforge.app.slash.command import SlashReply
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.errors import IntegrityError, RepositoryError, UsageError
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Entry
from agentforge.frozen import dataclass
from agentforge.safety.text.redaction import redact
from agentforge.store.log.lease import Lease
from agentforge.store.log.reader import LogScan, load_state, read
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.sessions import folders as sessions
from agentforge.store.sessions.imports import Foreign, read_snapshot_file
from agentforge.store.sessions.session_list import SessionRow, list_sessions
from agentforge.store.sessions.views import SessionViews
from agentforge.workspace.files.file_access import remove_tree
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.snapshots import snapshot_ref

_AROUND = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Where a session says something."""

    session_id: str
    turn: int
    who: str
    text: str


def all_sessions(environ: Mapping[str, str], *, cwd: Path | None = None) -> list[SessionRow]:
    """The sessions, newest first; of one folder, or all."""
    rows = list_sessions(data_dir(environ))
    return [row for row in rows if cwd is None or row.cwd == str(cwd) or row.problem]


def last_session(environ: Mapping[str, str], *, cwd: Path) -> str:
    """The session that was used last in a folder.

    Raises:
        UsageError: there is none.
        IntegrityError: it cannot be read; an older one is not taken in its place.
    """
    found = [row for row in all_sessions(environ, cwd=cwd) if not row.problem or _worked_in(environ, row, cwd)]
    if found and found[0].problem:
        session_id = found[0].session_id
        raise IntegrityError(
            f"the session that was used last, {session_id}, cannot be read: {found[0].problem}",
            hint=f"agentforge sessions fork {session_id} begins a new one with what can be read of it, "
            "or choose another with --resume",
        )
    if not found:
        raise UsageError(f"no session was started in {cwd}", hint="begin one without --continue")
    return found[0].session_id


def _worked_in(environ: Mapping[str, str], row: SessionRow, cwd: Path) -> bool:
    """Whether a session that cannot be read began in that folder; one whose beginning is lost did nowhere."""
    try:
        return not row.imported and folder_of_session(environ, row.session_id) == cwd
    except (OSError, ValueError, IntegrityError):
        return False


def folder_of_session(environ: Mapping[str, str], text: str) -> Path | None:
    """The folder that a session works in; None when it is gone, or there is no such session with a log."""
    data = data_dir(environ)
    known = [name for name in sessions.session_ids(data) if name == text or (text and name.startswith(text))]
    if len(known) != 1:
        return None
    first = next(iter(LogScan(sessions.run_folder(data, known[0]))), None)
    folder = Path(first.event.repo) if first is not None and isinstance(first.event, kinds.RunStarted) else None
    return folder if folder is not None and folder.is_dir() else None


def session_state(environ: Mapping[str, str], text: str) -> RunState:
    """A session's state, by its id or the beginning of it; also of one that agentforge-harness 0.1 left as a snapshot.

    Raises:
        UsageError: there is no such session.
        IntegrityError: it was altered or damaged.
    """
    data = data_dir(environ)
    try:
        session_id = sessions.find_session(data, text)
    except UsageError:
        found = snapshot_state(data, text)
        if found is None:
            raise
        return found
    return load_state(sessions.run_folder(data, session_id))


def search(environ: Mapping[str, str], text: str) -> Iterator[Hit]:
    """Find a text, without regard to case, in what was said in any session, newest session first."""
    data, wanted = data_dir(environ), text.casefold()
    for row in list_sessions(data):
        if row.problem:
            continue
        if row.imported:
            yield from _said_in(session_state(environ, row.session_id), wanted)
            continue
        turn = 0
        for record in read(sessions.run_folder(data, row.session_id)):
            event = record.event
            turn = event.turn if isinstance(event, kinds.UserSaid) else turn
            said = event.text if isinstance(event, (kinds.UserSaid, kinds.ModelReplied)) else ""
            shown = _around(said, wanted)
            if shown:
                who = "user" if isinstance(event, kinds.UserSaid) else "assistant"
                yield Hit(session_id=row.session_id, turn=turn, who=who, text=shown)


def _said_in(state: RunState, wanted: str) -> Iterator[Hit]:
    for entry in state.talk.entries:
        shown = _around(entry.text, wanted) if entry.kind in ("user", "assistant") else ""
        if shown:
            yield Hit(session_id=state.identity.run_id, turn=entry.turn, who=entry.kind, text=shown)


def _around(said: str, wanted: str) -> str:
    place = said.casefold().find(wanted)
    return " ".join(said[max(0, place - _AROUND) : place + len(wanted) + _AROUND].split()) if place >= 0 else ""


def rename(environ: Mapping[str, str], text: str, name: str) -> str:
    """Give a session a name.

    Returns:
        The session's id.
    Raises:
        LockedError: another process has it open.
    """
    data = data_dir(environ)
    session_id = sessions.find_session(data, text)
    with RunLog.open(sessions.run_folder(data, session_id), clock=utc_now, views=SessionViews) as log:
        log.append(kinds.SessionChanged(changes={"name": name}))
    return session_id


def fork(
    environ: Mapping[str, str],
    text: str,
    *,
    settings: Settings,
    name: str = "",
    tell: Callable[[str], None] = lambda _text: None,
) -> str:
    """Begin a new session with the conversation of another, which stays as it is; of a damaged one with what can be read.

    Args:
        tell: hears what of it could not be read.
    Returns:
        The new session's id.
    Raises:
        UsageError: there is no such session, or its folder is gone.
        IntegrityError: nothing of it can be read.
    """
    try:
        state = session_state(environ, text)
    except IntegrityError as error:
        state, count = salvaged_state(
            sessions.run_folder(data_dir(environ), sessions.find_session(data_dir(environ), text))
        )
        tell(f"the session is damaged ({error.message}); its first {count} records were read, the others are left out")
    cwd = Path(state.identity.repo)
    if not cwd.is_dir():
        raise UsageError(f"the session's folder {cwd} is gone", hint="make it again, or export the session")
    if state.talk.open:  # nothing of the turn that can be read is left out
        broken = kinds.TurnFinished(turn=state.talk.turn, outcome="failed", reason="the record breaks off here")
        state = evolve(state, broken, at=utc_now())
    talk = state.talk
    settled = {key: value for key, value in talk.settings.items() if key != "name"}
    options = ChatOptions(cwd=cwd, name=name, model=state.brief.model or None)
    talk = replace(talk, settings=settled)
    with begin_log(options, settings=settings, environ=environ, talk=talk, parent=state.identity.run_id) as log:
        return log.state.identity.run_id


def delete(environ: Mapping[str, str], text: str) -> str:
    """Remove a session with everything that was kept of it; its folder and the user's commits stay as they are.

    Returns:
        The session's id.
    Raises:
        LockedError: another process has it open.
    """
    data = data_dir(environ)
    try:
        session_id = sessions.find_session(data, text)
    except UsageError:
        session_id = _imported_id(data, text)
    folder = sessions.run_folder(data, session_id)
    if folder.is_dir():
        _drop_ref(folder)
        Lease.take(folder, since=utc_now()).release()
        remove_tree(folder)
    for name, pattern in (("sessions", "{}.json"), ("events", "{}.jsonl"), ("checkpoints", "{}_*.json")):
        for file in (data / name).glob(pattern.format(session_id)):
            file.unlink(missing_ok=True)
    return session_id


def _imported_id(data: Path, text: str) -> str:
    found = [row.session_id for row in list_sessions(data) if row.imported and row.session_id.startswith(text)]
    if len(found) != 1:
        raise UsageError(f"there is no session {text!r}", hint="`agentforge sessions list` lists them")
    return found[0]


def _drop_ref(folder: Path) -> None:
    """Let go of the snapshots that the session kept in a repository of the user's."""
    try:
        state = load_state(folder)
        git = Git.open(Path(state.identity.repo))
    except (IntegrityError, RepositoryError):  # damaged, or the folder is gone: there is nothing to let go of
        return
    git.command.run("update-ref", "-d", snapshot_ref(state.identity.run_id))


def salvaged_state(folder: Path) -> tuple[RunState, int]:
    """Fold the records of a session up to the first that is damaged; a turn that goes on there is closed.

    Returns:
        The state, and how many records it holds.
    Raises:
        IntegrityError: not even its first record can be read.
    """
    state, count, at = RunState(), 0, ""
    try:
        for record in read(folder):
            state, count, at = evolve(state, record.event, at=record.at), record.seq, record.at
    except IntegrityError:
        if not state.identity.run_id:
            raise
    if state.talk.open:
        ended: Event = kinds.TurnFinished(
            turn=state.talk.turn, outcome="failed", reason="the record of the session is damaged from here on"
        )
        state = evolve(state, ended, at=at)
    return state, count


if TYPE_CHECKING:
    pass


def snapshot_state(data: Path, text: str) -> RunState | None:
    """What a snapshot amounts to as a session; None when none is called so, or begins so. Nothing is written.

    Raises:
        IntegrityError: it was cut off, or is no session.
    """
    file = snapshot_file(data, text)
    return None if file is None else _state(read_snapshot_file(file), session_id=file.stem)


def _state(found: Foreign, *, session_id: str) -> RunState:
    talk = replace(found.talk, entries=tuple(map(_plain, found.talk.entries)))
    began = kinds.RunStarted(
        kind="session", run_id=session_id, request="", repo=found.cwd, base_commit="", worktree=found.cwd,
        model=found.model, limits={},
    )  # fmt: skip
    restored = kinds.CheckpointRestored(checkpoint_id="import", what="conversation", talk=talk_value(talk))
    state = evolve(RunState(), began, at=found.created_at)
    state = evolve(state, restored, at=found.updated_at or found.created_at)
    counted = {name: found.usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")}
    return replace(state, usage=replace(state.usage, totals=replace(state.usage.totals, cost_known=False, **counted)))


def _plain(entry: Entry) -> Entry:
    """Without what looks like a secret: nobody took it out when this was written."""

    def scrub(text: str) -> str:
        return redact(text, secrets=()).text

    calls: tuple[Mapping[str, object], ...] = tuple(
        {**call, "arguments": scrub(str(call["arguments"]))} for call in entry.calls
    )
    return replace(entry, text=scrub(entry.text), summary=scrub(entry.summary), calls=calls)


PAGE_ROWS = 20


def page_of(rest: str) -> tuple[int, int]:
    """Read `--page N --limit N`.

    Returns:
        Page (from 1) and rows a page.
    Raises:
        UsageError: something else is written there.
    """
    words = rest.replace("=", " ").split()
    values = {"--page": 1, "--limit": PAGE_ROWS}
    for name, value in zip(words[::2], [*words[1::2], ""], strict=False):
        if name not in values or not value.isdigit() or not int(value):
            raise UsageError(f"{rest!r} is not understood", hint="--page N --limit N")
        values[name] = int(value)
    return values["--page"], values["--limit"]


def paged(lines: Sequence[str], rest: str, *, head: str, none: str) -> SlashReply:
    """Show one page of a table, and how to see the next.

    Raises:
        UsageError: there is no such page.
    """
    page, limit = page_of(rest)
    if not lines:
        return SlashReply(text=none)
    pages = -(-len(lines) // limit)
    if page > pages:
        raise UsageError(f"there is no page {page}", hint=f"there are {pages}")
    shown = lines[(page - 1) * limit : page * limit]
    more = f"\n\nPage {page} of {pages}; `--page {page + 1}` shows more." if page < pages else ""
    return SlashReply(text="\n".join([head, *shown]) + more)
