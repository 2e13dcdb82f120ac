"""Checkpoints of a session: conversation and workspace are brought back together, and forward again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agentforge.errors import ConflictError, RepositoryError, UsageError
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds.conversation import Restored
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Talk
from agentforge.frozen import dataclass
from agentforge.store.log.reader import read
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.sessions.imports import read_snapshot_file
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.restore import Restoration, plan_restore, restore_files
from agentforge.workspace.git.snapshots import keep

if TYPE_CHECKING:
    pass
    from agentforge.workspace.protection.change_detector import Watch

_MUTATING = ("write", "execute")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """What a restore did.

    Attributes:
        files: None when only the conversation was restored, or no files were recorded.
        messages: entries of the conversation before and after.
    """

    checkpoint_id: str
    what: Restored
    files: Restoration | None
    messages: tuple[int, int]


class Checkpoints:
    """Makes and restores the checkpoints of one session.

    Args:
        git: where trees are kept; None = the folder has too many files, only the conversation is kept.
        effect_of: what calling a tool can do, by its name.
    """

    def __init__(
        self, log: RunLog, *, git: Callable[[], Git | None], guard: Watch, effect_of: Callable[[str], str]
    ) -> None:
        self._log = log
        self._git = git
        self._guard = guard
        self._effect_of = effect_of

    def before_call(self, state: RunState, index: int) -> Iterator[kinds.Event]:
        """The checkpoint before the first call of a turn that can change files."""
        if not state.talk.mutated and self._effect_of(state.progress.turn.calls[index].name) in _MUTATING:
            yield self._made("before-change")

    def make(self, label: str = "") -> kinds.CheckpointMade:
        """Make a checkpoint of what is now.

        Side effects: a commit on a private ref; no branch moves.
        """
        made = self._made("asked", label=label)
        self._log.append(made)
        return made

    def find(self, text: str) -> Mapping[str, Any]:
        """A checkpoint by its id, its label, its number in the list (1 = the oldest), or the end of its id.

        Raises:
            UsageError: there is none, or several.
        """
        rows = self._log.state.talk.checkpoints
        found = [row for row in rows if text in (row["checkpoint_id"], row["label"])]
        if not found and text.isdecimal() and 0 < int(text) <= len(rows):
            found = [rows[int(text) - 1]]
        found = found or [row for row in rows if text and str(row["checkpoint_id"]).endswith(text)]
        if len(found) != 1:
            what = "several checkpoints are" if found else "there is no checkpoint"
            raise UsageError(f"{what} called {text!r}", hint="/checkpoints lists them")
        return found[0]

    def plan(self, text: str) -> Restoration | None:
        """What restoring a checkpoint would change in the folder; None when it holds no files."""
        return self._plan(str(self.find(text)["tree"]))

    def preview(self, text: str) -> str:
        """What restoring a checkpoint would change in the folder, as a unified diff; "" where no file would change."""
        if self._foreign(text) is not None:
            return ""
        row = self.find(text)
        plan, git = self._plan(str(row["tree"])), self._git()
        if plan is None or plan.empty or git is None:
            return ""
        return git.diff(self._guard.tree(), str(row["tree"]), paths=[*plan.written, *plan.removed])

    def restore(self, text: str, what: Restored = "both") -> RestoreReport:
        """Bring conversation, workspace or both back; what is now becomes a checkpoint first.

        Raises:
            ConflictError: a turn goes on; or files are wanted and the checkpoint has none.
        """
        foreign = self._foreign(text) if what != "workspace" else None
        if foreign is not None:
            return self._restore_foreign(text, foreign)
        row = self.find(text)
        self._require_closed()
        if what == "workspace" and not row["tree"]:
            raise ConflictError(f"{row['checkpoint_id']} holds no files", hint="restore the conversation alone")
        self._log.append(self._made("before-restore"))
        return self._restore(row, what)

    def _foreign(self, text: str) -> Talk | None:
        """The conversation of a checkpoint file of agentforge-harness 0.1; None when this session's log knows the name."""
        file = self._log.folder.parent.parent / "checkpoints" / f"{text}.json"
        known = any(row["checkpoint_id"] == text for row in self._log.state.talk.checkpoints)
        if known or Path(text).name != text or not file.is_file():
            return None
        return read_snapshot_file(file).talk

    def _restore_foreign(self, name: str, talk: Talk) -> RestoreReport:
        self._require_closed()
        self._log.append(self._made("before-restore"))
        before = len(self._log.state.talk.entries)
        self._log.append(kinds.CheckpointRestored(checkpoint_id=name, what="conversation", talk=talk_value(talk)))
        return RestoreReport(checkpoint_id=name, what="conversation", files=None, messages=(before, len(talk.entries)))

    def undo(self) -> RestoreReport:
        """Take back the last turn that changed files, conversation and workspace; one whose files are as before it is none.

        Raises:
            ConflictError: a turn goes on, or no turn is left to take back.
        """
        self._require_closed()
        talk = self._log.state.talk
        rows = [row for row in talk.checkpoints if row["reason"] == "before-change"]
        now = self._tree()
        left = [row for row in rows if cast("int", row["turn"]) <= talk.standing and (not now or row["tree"] != now)]
        if not left:
            raise ConflictError("there is nothing to undo: no turn that is left changed a file")
        self._log.append(self._made("undo"))
        return self._restore(left[-1], "both")

    def redo(self) -> RestoreReport:
        """Bring forward what `undo` took back last.

        Raises:
            ConflictError: a turn goes on, or nothing was taken back since the last message.
        """
        self._require_closed()
        redo = self._log.state.talk.redo
        if not redo:
            raise ConflictError("there is nothing to redo")
        return self._restore(self.find(redo[-1]), "both")

    def _require_closed(self) -> None:
        if self._log.state.talk.open:
            raise ConflictError("the agent is still working", hint="stop it first")

    def _made(self, reason: str, *, label: str = "") -> kinds.CheckpointMade:
        tree = self._tree()
        state, git = self._log.state, self._git()
        if tree and git is not None:
            keep(git, state.identity.run_id, tree=tree, base=git.found_at, when=utc_now())
        return kinds.CheckpointMade(
            checkpoint_id=self._new_id(), reason=reason, tree=tree, turn=state.talk.turn, label=label
        )

    def _tree(self) -> str:
        """The tree of the folder; "" where its files cannot be recorded."""
        try:
            return self._guard.tree()
        except RepositoryError:  # a file that nobody may read; the conversation can still be kept
            return ""

    def _new_id(self) -> str:
        state = self._log.state
        digits = "".join(char for char in utc_now()[:19] if char.isdigit())
        name = f"{state.identity.run_id}_{digits[:8]}_{digits[8:]}"
        taken = {row["checkpoint_id"] for row in state.talk.checkpoints}
        number = 1
        while (name if number == 1 else f"{name}-{number}") in taken:
            number += 1
        return name if number == 1 else f"{name}-{number}"

    def _plan(self, tree: str) -> Restoration | None:
        git = self._git()
        if not tree or git is None:
            return None
        return plan_restore(git, now=self._guard.tree(), wanted=tree, own=self._written())

    def _written(self) -> set[str]:
        """Paths that tools of this session wrote, ever."""
        return {
            path
            for record in read(self._log.folder)
            if isinstance(record.event, kinds.ToolFinished)
            for path in record.event.changed
        }

    def _restore(self, row: Mapping[str, Any], what: Restored) -> RestoreReport:
        before = len(self._log.state.talk.entries)
        talk = self._talk_at(str(row["checkpoint_id"])) if what != "workspace" else None
        plan, git = (self._plan(str(row["tree"])) if what != "conversation" else None), self._git()
        self._log.append(
            kinds.CheckpointRestored(
                checkpoint_id=str(row["checkpoint_id"]),
                what=what,
                tree=str(row["tree"]) if plan is not None else "",
                talk=talk_value(talk) if talk is not None else None,
            )
        )
        if plan is not None and git is not None:
            restore_files(git, plan, wanted=str(row["tree"]), index=self._log.folder / "restore-index")
        after = len(self._log.state.talk.entries)
        return RestoreReport(checkpoint_id=str(row["checkpoint_id"]), what=what, files=plan, messages=(before, after))

    def _talk_at(self, checkpoint_id: str) -> Talk:
        """The conversation before the turn in which a checkpoint was made; whole, where no turn went on."""
        state = folded_until(self._log.folder, checkpoint_id)
        return before_turn(state.talk) if state.talk.open else state.talk


def folded_until(folder: Path, checkpoint_id: str) -> RunState:
    """The state right after a checkpoint was made.

    Raises:
        UsageError: the log knows no such checkpoint.
    """
    state = RunState()
    for record in read(folder):
        state = evolve(state, record.event, at=record.at)
        if isinstance(record.event, kinds.CheckpointMade) and record.event.checkpoint_id == checkpoint_id:
            return state
    raise UsageError(f"there is no checkpoint {checkpoint_id!r} in this session")


def before_turn(talk: Talk) -> Talk:
    """The conversation without its last turn."""
    entries = tuple(entry for entry in talk.entries if entry.turn != talk.turn or entry.kind == "summary")
    standing = max((entry.turn for entry in entries), default=0)
    said = next((entry.text for entry in reversed(entries) if entry.kind == "user"), "")
    goal = talk.goal if entries else ""
    return replace(talk, entries=entries, open=False, standing=standing, said=said, goal=goal, asked=talk.asked[:-1])


def talk_value(talk: Talk) -> dict[str, Any]:
    """A conversation as JSON, without what stays when it is restored: checkpoints and subagents."""
    return asdict(replace(talk, checkpoints=(), children=()))
