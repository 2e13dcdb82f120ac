"""/sessions, /resume, /new, /name, /save: which session this is, and the others."""

from __future__ import annotations

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.closed_sessions import all_sessions, fork, paged
from agentforge.app.slash.command import Choice, SlashCommand, SlashReply
from agentforge.errors import UsageError
from agentforge.store.sessions.session_list import SessionRow


def _sessions(chat: Chat, rest: str) -> SlashReply:
    rows = all_sessions(chat.workshop.environ)
    head = "| session | last used | turns | what |\n| --- | --- | --- | --- |"
    return paged([_row(row, chat.session_id) for row in rows], rest, head=head, none="No sessions yet.")


def _row(row: SessionRow, current: str) -> str:
    what = row.problem or row.name or row.goal or "(nothing was said)"
    marks = " (this one)" if row.session_id == current else " (cut off)" if row.open else ""
    return f"| `{row.session_id[:8]}`{marks} | {row.updated_at[:16]} | {row.turns} | {what[:80].replace('|', '/')} |"


def _resume(chat: Chat, rest: str) -> SlashReply:
    if not rest:
        return _offered(chat)
    rows = [row for row in all_sessions(chat.workshop.environ) if rest in (row.session_id, row.name)]
    rows = rows or [row for row in all_sessions(chat.workshop.environ) if row.session_id.startswith(rest)]
    if len(rows) != 1:
        raise UsageError(
            f"{'several sessions are' if rows else 'there is no session'} {rest!r}", hint="/sessions lists them"
        )
    if rows[0].problem:
        raise UsageError(f"{rows[0].session_id} cannot be read: {rows[0].problem}")
    if rows[0].session_id == chat.session_id:
        return SlashReply(text="That is this session.")
    return SlashReply(action="open", session=rows[0].session_id)


def _offered(chat: Chat) -> SlashReply:
    """The sessions to choose from, the ones of this folder first."""
    here = str(chat.workshop.root)
    rows = [row for row in all_sessions(chat.workshop.environ) if row.session_id != chat.session_id]
    rows.sort(key=lambda row: row.cwd != here)
    choices = tuple(
        Choice(
            value=row.session_id,
            label=(row.name or row.goal or "(nothing was said)")[:80],
            about=f"cannot be read: {row.problem}"
            if row.problem
            else f"{row.updated_at[:16].replace('T', ' ')}, {row.turns} {'turn' if row.turns == 1 else 'turns'}"
            + ("" if row.cwd == here else f", {row.cwd}"),
        )
        for row in rows
    )
    return SlashReply(
        text="Which session? /resume ID; /sessions lists them." if choices else "There is no other session yet.",
        ok=False,
        action="choose" if choices else "",
        title="Go on with which session?",
        choices=choices,
        then="/resume",
    )


def _ids(chat: Chat, word: str) -> tuple[str, ...]:
    return tuple(row.session_id for row in all_sessions(chat.workshop.environ) if row.session_id.startswith(word))


def _new(_chat: Chat, _rest: str) -> SlashReply:
    return SlashReply(action="open", session="")


def _fork(chat: Chat, rest: str) -> SlashReply:
    made = fork(chat.workshop.environ, chat.session_id, settings=chat.workshop.settings, name=rest)
    return SlashReply(
        text=f"Session `{made}` goes on from here.", action="open", session=made, data={"session_id": made}
    )


def _name(chat: Chat, rest: str) -> SlashReply:
    if rest:
        chat.change(name=rest)
    name = chat.workshop.setting("name")
    return SlashReply(
        text=f"This session is called {name}." if name else "This session has no name.", data={"name": name}
    )


def _save(chat: Chat, _rest: str) -> SlashReply:
    """Every event is on disk already; what other programs read is written now."""
    chat.log.write_views()
    return SlashReply(text=f"Saved: `{chat.session_id}`.", data={"session_id": chat.session_id})


COMMANDS = (
    SlashCommand(name="sessions", usage="[--page N] [--limit N]", summary="List the sessions.", run=_sessions),
    SlashCommand(name="resume", usage="[ID]", summary="Go on with another session.", run=_resume, complete=_ids),
    SlashCommand(name="new", summary="Begin a new session.", run=_new),
    SlashCommand(name="fork", usage="[name]", summary="Go on in a copy of this session.", run=_fork),
    SlashCommand(
        name="name", usage="[name]", summary="Show or set the session's name.", run=_name, aliases=("rename",)
    ),
    SlashCommand(name="save", summary="Write the session's files now.", run=_save),
)
