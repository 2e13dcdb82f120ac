"""/checkpoint, /checkpoints, /restore, /undo, /redo: conversation and files brought back together."""

from __future__ import annotations

from typing import Any, cast

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.checkpoints import RestoreReport
from agentforge.app.sessions.closed_sessions import paged
from agentforge.app.sessions.person import Question
from agentforge.app.slash.command import Choice, SlashCommand, SlashReply
from agentforge.errors import UsageError
from agentforge.events.kinds.conversation import Restored
from agentforge.safety.text.hygiene import clean
from agentforge.workspace.git.restore import Restoration

_LISTED = 30
_WHY = {
    "before-change": "before a change",
    "before-restore": "before a restore",
    "undo": "before /undo",
    "asked": "made by you",
}
_WHAT = ("both", "conversation", "workspace")


def _checkpoint(chat: Chat, rest: str) -> SlashReply:
    made = chat.workshop.checkpoints.make(rest)
    files = "conversation and files" if made.tree else "the conversation; files are not recorded for this folder"
    return SlashReply(text=f"Checkpoint `{made.checkpoint_id}`: {files}.", data={"checkpoint_id": made.checkpoint_id})


def _checkpoints(chat: Chat, rest: str) -> SlashReply:
    rows = list(enumerate(chat.state.talk.checkpoints, start=1))
    lines = [_row(number, row) for number, row in reversed(rows)]
    return paged(
        lines,
        rest,
        head="| # | checkpoint | when | turn | why |\n| --- | --- | --- | --- | --- |",
        none="No checkpoints yet.",
    )


def _row(number: int, row: Any) -> str:
    why = row["label"] or row["reason"]
    return f"| {number} | `{row['checkpoint_id']}` | {row['at'][:19]} | {row['turn']} | {why} |"


def _restore(chat: Chat, rest: str) -> SlashReply:
    words = [word for word in rest.split() if word != "--yes"]
    if not words and chat.state.talk.checkpoints:
        return _offered(chat)
    if not words or len(words) > 2 or (len(words) == 2 and words[1] not in _WHAT):
        raise UsageError("which checkpoint?", hint="/restore ID [conversation|workspace|both] [--yes]")
    what = cast("Restored", words[1]) if len(words) == 2 else "both"
    if what != "conversation" and "--yes" not in rest.split() and not _agreed(chat, words[0]):
        return SlashReply(text="Nothing was restored.", ok=False)
    return _told("Restored", chat.workshop.checkpoints.restore(words[0], what))


def _offered(chat: Chat) -> SlashReply:
    """The checkpoints to choose from, newest first, each with what was said then."""
    talk = chat.state.talk
    said: dict[int, str] = {}
    for entry in talk.entries:
        if entry.kind == "user":
            said.setdefault(entry.turn, entry.text)  # what was said later in the turn only steered it
    rows = list(enumerate(talk.checkpoints, start=1))
    choices = tuple(
        Choice(
            value=str(row["checkpoint_id"]),
            label=f"{number}  {row['label'] or ' '.join(said.get(cast('int', row['turn']), '').split())[:60]}".rstrip(),
            about=f"{_WHY.get(str(row['reason']), row['reason'])}, turn {row['turn']}, "
            + str(row["at"])[:16].replace("T", " "),
        )
        for number, row in reversed(rows)
    )
    return SlashReply(
        text="Which checkpoint? /restore ID [conversation|workspace|both]; /checkpoints lists them.",
        ok=False,
        action="choose",
        title="Go back to which point?",
        choices=choices,
        then="/restore",
    )


def _agreed(chat: Chat, name: str) -> bool:
    """Show the person what would change and ask; who is not there has said it by the command."""
    diff = chat.workshop.checkpoints.preview(name)
    if not diff:
        return True
    shown = chat.workshop.scrubbed(clean(diff))
    reason = "files of the folder change as shown; what is now becomes a checkpoint first"
    reply = chat.desk.person.approve(Question(tool="restore", text=f"bring back {name}", reason=reason, diff=shown))
    return reply is None or reply.decision != "reject"


def _undo(chat: Chat, _rest: str) -> SlashReply:
    last = chat.state.talk.turn
    report = chat.workshop.checkpoints.undo()
    turn = _turn_of(chat, report)
    turns = f"turn {turn}" if turn in ("", str(last)) else f"turns {turn} to {last}"
    return _of_turn(chat, f"Undid {turns}: {{files}}. /redo brings it back.", report)


def _redo(chat: Chat, _rest: str) -> SlashReply:
    return _of_turn(chat, "Brought back: {files}. /undo takes it away again.", chat.workshop.checkpoints.redo())


def _turn_of(chat: Chat, report: RestoreReport) -> str:
    """The turn in which a checkpoint was made; "" where nobody knows."""
    rows = [row for row in chat.state.talk.checkpoints if row["checkpoint_id"] == report.checkpoint_id]
    return str(rows[0]["turn"]) if rows else ""


def _of_turn(chat: Chat, words: str, report: RestoreReport) -> SlashReply:
    """Say in one sentence what went or came, and in which files."""
    files = report.files
    lines = [words.format(files=_in_words(files))]
    if files is not None and files.kept:
        kept = ", ".join(f"`{path}`" for path in files.kept[:_LISTED])
        lines.append(f"Left alone, because this session did not make them: {kept}")
    return SlashReply(text="\n".join(lines), data={"checkpoint_id": report.checkpoint_id, "what": report.what})


def _in_words(files: Restoration | None) -> str:
    """`restored a.py, b.py and 3 more, removed c.py`."""
    if files is None or not (files.written or files.removed):
        return "no file changed"
    parts = []
    for word, paths in (("restored", files.written), ("removed", files.removed)):
        more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
        parts += [f"{word} {', '.join(f'`{path}`' for path in paths[:_LISTED])}{more}"] if paths else []
    return ", ".join(parts)


def _told(word: str, report: RestoreReport) -> SlashReply:
    before, after = report.messages
    lines = [f"{word} `{report.checkpoint_id}`."]
    if report.what != "workspace":
        lines.append(f"- conversation: {before} messages -> {after}")
    if report.what != "conversation":
        lines += files_lines(report.files)
    data = {"checkpoint_id": report.checkpoint_id, "what": report.what}
    return SlashReply(text="\n".join(lines), data=data)


def files_lines(files: Restoration | None) -> list[str]:
    """What a restore changes in the folder, for people."""
    if files is None:
        return ["- files: none were recorded"]
    lines = [f"- {len(files.written)} files written, {len(files.removed)} removed"]
    named = [*(f"  - `{path}`" for path in files.written), *(f"  - `{path}` (removed)" for path in files.removed)]
    lines += named[:_LISTED] + ([f"  - and {len(named) - _LISTED} more"] if len(named) > _LISTED else [])
    if files.kept:
        shown = ", ".join(f"`{path}`" for path in files.kept[:_LISTED])
        lines.append(f"- left alone, because this session did not make them: {shown}")
    return lines


def _ids(chat: Chat, word: str) -> tuple[str, ...]:
    return tuple(
        str(row["checkpoint_id"]) for row in reversed(chat.state.talk.checkpoints) if word in str(row["checkpoint_id"])
    )


COMMANDS = (
    SlashCommand(
        name="checkpoint", usage="[label]", summary="Remember conversation and files as they are.", run=_checkpoint
    ),
    SlashCommand(name="checkpoints", usage="[--page N] [--limit N]", summary="List the checkpoints.", run=_checkpoints),
    SlashCommand(
        name="restore",
        usage="[ID|NUMBER] [conversation|workspace|both] [--yes]",
        summary="Bring back a checkpoint, after its diff was shown; what is now can be brought back, too.",
        run=_restore,
        complete=_ids,
        aliases=("rewind",),
    ),
    SlashCommand(name="undo", summary="Take back the last turn that changed files.", run=_undo),
    SlashCommand(name="redo", summary="Bring forward what /undo took back.", run=_redo),
)
