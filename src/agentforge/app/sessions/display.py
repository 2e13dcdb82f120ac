"""What happens in a conversation in a few words: the same for every face. Pure, but for the file that a change is shown of.

Where a session stands, for the line that is always shown: mode, approval, model, context, money, branch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.app.sessions.approvals import preview
from agentforge.events.kinds import ChildFinished, ModelReplied, SessionChanged, ToolFinished, ToolStarted
from agentforge.events.kinds.conversation import BackgroundEnded, HistoryCompacted, WindowFilling
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.safety.text.hygiene import clean
from agentforge.tools.dispatch.arguments import content_of

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat


_TELLING = (
    "command",
    "pattern",
    "path",
    "query",
    "url",
    "goal",
    "name",
    "key",
    "question",
    "id",
    "tests",
    "paths",
    "intent",
)
_AT_LINE = re.compile(r"\bat line (\d+)")
_HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)")
_RAN = re.compile(
    r"I ran this command myself:\n(?P<command>.*?)\n\nIt (?:ended with exit code (?P<code>-?\d+) and wrote|"
    r"goes on in the background as (?P<name>\d+), and wrote so far):\n(?P<output>.*)",
    re.DOTALL,
)
_ARGUMENT = 400
_RESULT = 200
_NAMED_COMMAND = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """A tool call as one line.

    Attributes:
        argument: the one that tells most, on one line.
        result: in a few words, "" while it runs.
        status: "running", or as in events.kinds.ToolFinished.
        duration: "0.3s", "" while it runs.
    """

    name: str
    argument: str
    status: str = "running"
    result: str = ""
    duration: str = ""

    @property
    def text(self) -> str:
        """Everything in one line, without a sign."""
        tail = " · ".join(part for part in (self.result, self.duration) if part)
        return " ".join(part for part in (self.name, self.argument) if part) + (f"  ({tail})" if tail else "")


def begun(event: ToolStarted) -> CallLine:
    """The line of a call that goes on."""
    return CallLine(name=event.name, argument=telling(event.arguments))


def unstarted(event: ToolFinished, state: RunState) -> CallLine:
    """The line of a call that was refused before it began."""
    calls = state.progress.turn.calls
    raw = calls[event.index].arguments if event.index < len(calls) else ""
    try:
        arguments = json.loads(raw)
    except ValueError:
        arguments = {}
    return CallLine(name=event.name, argument=telling(arguments) if isinstance(arguments, dict) else "")


def output_of(text: str) -> str:
    """What a tool gave, without the fence that tells a model where foreign text begins and ends."""
    return re.sub(r"^</?untrusted[^>\n]*>\n?", "", text, flags=re.MULTILINE).strip("\n")


def earlier_own(text: str) -> tuple[CallLine, str] | None:
    """A command that the person ran, and what it wrote, from the message that told the model of it; None for others."""
    told = _RAN.fullmatch(text)
    if told is None:
        return None
    line = own_ended(told["command"], exit_code=int(told["code"] or 0), left_running=told["name"] or "")
    return line, output_of(told["output"])


def own_ended(command: str, *, exit_code: int, left_running: str) -> CallLine:
    """The line of a command that the person ran themselves and that is done, or goes on in the background."""
    if left_running:
        return CallLine(
            name="!", argument=command, status="success", result=f"sent to the background as {left_running}"
        )
    status = "error" if exit_code else "success"
    return CallLine(name="!", argument=command, status=status, result=f"exit {exit_code}")


def background_words(event: BackgroundEnded, state: RunState) -> str:
    """How a command in the background ended, with the command."""
    names = (str(row["command"]) for row in reversed(state.talk.background) if row["name"] == event.name)
    command = _one_line(next(names, ""), _NAMED_COMMAND)
    return f"background command {event.name}{f' ({command})' if command else ''} ended: {event.outcome}"


def ended(line: CallLine, event: ToolFinished) -> CallLine:
    """The line of a call that is done."""
    result = _one_line(event.summary, _RESULT).removeprefix(f"{line.name}: ")
    return CallLine(
        name=line.name,
        argument=line.argument,
        status=event.status,
        result=_beside(result, line.argument),
        duration=duration_text(event.duration_ms / 1000),
    )


_TO_THE_MODEL = (
    ("The user declined this call and said: ", "you declined: "),
    ("The user did not approve the plan and said: ", "you said: "),
    ("the user approved the plan", "you approved the plan"),
)
"""What the model is told of the person, and the same to the person."""


def _beside(result: str, argument: str) -> str:
    """A result without the argument that stands before it."""
    said = result if result != argument else ""
    said = re.sub(r"^(exit -?\d+) in [\d.]+ s", r"\1", said)  # how long it took stands behind it
    said = said.removeprefix(f"edited {argument} ") if argument else said
    for told, words in _TO_THE_MODEL:
        said = said.replace(told, words)
    for words in (f"{argument}: ", f"{argument} ") if argument else ():
        said = said.removeprefix(words)
    return said.removesuffix(f" for {argument}").removesuffix(f" to {argument}") if argument else said


def telling(arguments: Mapping[str, object]) -> str:
    """The argument of a call that tells most, on one line; "" when there is none."""
    for key in (*_TELLING, *arguments):
        value = arguments.get(key)
        if isinstance(value, list):
            value = " · ".join(telling(item) if isinstance(item, Mapping) else str(item) for item in value)
        if isinstance(value, str) and value.strip():
            return _one_line(value, _ARGUMENT)
    return ""


def change_of(event: ToolStarted, root: Path) -> str:
    """What a file tool is about to change, as a unified diff; "" where it changes no file.

    Side effects: reads the file as it still is; ask before the tool runs.
    """
    path = event.arguments.get("path")
    return preview(event.name, event.arguments, root, paths=(path,) if isinstance(path, str) else ())


def earlier_change(name: str, arguments: Mapping[str, object], summary: str, root: Path) -> str:
    """What a file tool changed in a call that is over, as a unified diff; "" where it changed no file.

    An edit whose new text still stands once in its file is shown in its lines; else as far as the call itself tells.

    Args:
        summary: of the result: it says at which line an edit was made.
    Side effects: reads the file as it is now.
    """
    if name == "apply_patch":
        return str(arguments.get("patch", ""))
    if name not in ("edit", "write_file", "append_file"):
        return ""
    path = str(arguments.get("path", ""))
    old = str(arguments.get("old_string", "")) if name == "edit" else ""
    new = str(arguments.get("new_string" if name == "edit" else "content", ""))
    now = content_of(root / path) if name == "edit" else ""
    whole = bool(new) and now.count(new) == 1
    before, after = (now.replace(new, old), now) if whole else (old, new)
    found = _AT_LINE.search(summary)
    above = int(found[1]) - 1 if found is not None and name == "edit" and not whole else 0
    rows = unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    moved = (_HUNK.sub(lambda at: f"@@ -{int(at[1]) + above}{at[2] or ''} +{int(at[3]) + above}", row) for row in rows)
    return "\n".join(moved)


def duration_text(seconds: float) -> str:
    """A duration as people say it: 0.3s, 12s, 2m 05s."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def size_text(size_bytes: int) -> str:
    """A size on disk: `812 bytes`, `165 KiB`, `1.4 GiB`."""
    size, unit = float(size_bytes), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.1f} {unit}" if size < 10 and unit != "bytes" else f"{size:.0f} {unit}"


def window_words(event: WindowFilling | HistoryCompacted) -> str:
    """What the person is told when the model's window fills, and when the oldest part became a summary."""
    if isinstance(event, WindowFilling):
        filled = f"{tokens_text(event.tokens)} of {tokens_text(event.total)} tokens"
        return (
            f"The context is {event.tokens / event.total:.0%} full ({filled}); at 80 % the oldest part is summarised."
        )
    count = event.entries - len(event.kept)
    kept = " What you said and attached stays whole." if event.kept else ""
    sizes = f"{tokens_text(event.tokens_before)} -> {tokens_text(event.tokens_after)} tokens"
    return f"Summarised {count} earlier {'message' if count == 1 else 'messages'} to free context ({sizes}).{kept}"


def is_answer(event: WindowFilling | HistoryCompacted) -> bool:
    """Whether the person asked for it: then the answer to their command tells them."""
    return isinstance(event, HistoryCompacted) and event.reason == "asked"


def unseen_words(event: ModelReplied) -> str:
    """Which images the model does not see, "" where it saw all."""
    if not event.unseen:
        return ""
    return f"{event.model} does not see images: it was told that {', '.join(event.unseen)} is there, and no more"


def skill_words(event: SessionChanged) -> list[str]:
    """The skills that a message called for, each with why, how many lines were loaded and from where."""
    found = event.changes.get("skill_matches")
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list | tuple) else []
    return [
        f"skill {row['name']}: {row['why']} ({row['reason']}), {row['lines']} lines of {row['file']}" for row in rows
    ]


def child_words(event: ChildFinished) -> str:
    """How a subagent ended, and what it cost."""
    used = cast("Mapping[str, int]", event.usage)
    tokens = used.get("prompt_tokens", 0) + used.get("completion_tokens", 0)
    parts = [f"{used.get('llm_calls', 0)} model calls", f"{tokens_text(tokens)} tokens"]
    parts += [cost_text(event.cost_usd or 0.0, known=event.cost_usd is not None)]
    return f"{event.name} ended: {event.outcome} ({', '.join(parts)}, {duration_text(event.duration_ms / 1000)})"


def child_progress(name: str, line: CallLine, state: RunState) -> str:
    """What a subagent has just done, and what it has cost so far."""
    totals = state.usage.totals
    spent = f"{tokens_text(totals.prompt_tokens + totals.completion_tokens)} tokens"
    cost = cost_text(totals.cost_usd, known=totals.cost_known)
    return f"{name} {line.text}  [{totals.llm_calls} model calls, {spent}, {cost}]"


def tokens_text(count: int) -> str:
    """Tokens in at most six characters: 950, 12.3k, 1.2M."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def cost_text(cost_usd: float, *, known: bool) -> str:
    """Money, or that it is not known."""
    if not known:
        return f"${cost_usd:.2f} + unknown" if cost_usd else "cost unknown"
    return f"${cost_usd:.2f}" if cost_usd >= 0.01 or cost_usd == 0 else f"${cost_usd:.4f}"


def _one_line(text: str, limit: int) -> str:
    """One line that cannot steer a terminal."""
    line = " ".join(clean(text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the status line shows.

    Attributes:
        context_used: share of the request's budget, 0 to 1.
        branch: of git; "" where there is none.
        background: commands that run in the background.
    """

    mode: str
    approval: str
    model: str
    context_tokens: int
    context_used: float
    cost: str
    branch: str
    background: int = 0

    def parts(self) -> tuple[str, ...]:
        """As words, the most important first."""
        context = f"context {self.context_used:.0%} ({tokens_text(self.context_tokens)})"
        branch = (f"branch {self.branch}",) if self.branch else ()
        running = (f"{self.background} in the background",) if self.background else ()
        return (self.mode, f"approval {self.approval}", context, *running, self.model or "no model", self.cost, *branch)


def standing(chat: Chat, state: RunState, *, context_tokens: int) -> Standing:
    """Say where a session stands.

    Args:
        context_tokens: of the last request.
    """
    shop = chat.workshop
    total = shop.sizing.holding().total
    return Standing(
        mode=shop.work_mode,
        approval=shop.setting("approval") or chat.options.approval or shop.settings.text("approval"),
        model=shop.setting("model") or chat.options.model or shop.settings.text("model.name"),
        context_tokens=context_tokens,
        context_used=min(1.0, context_tokens / total) if total else 0.0,
        cost=cost_text(state.usage.totals.cost_usd, known=state.usage.totals.cost_known),
        branch=branch_of(shop.root),
        background=len(shop.running()),
    )


def branch_of(folder: Path) -> str:
    """The branch that is checked out around a folder, or the beginning of the commit; "" outside of git. Starts no git."""
    for place in (folder, *folder.parents):
        dot = place / ".git"
        if dot.exists():
            return _head(dot)
    return ""


def _head(dot: Path) -> str:
    try:
        if dot.is_file():
            dot = (dot.parent / dot.read_text("utf-8").removeprefix("gitdir:").strip()).resolve()
        head = (dot / "HEAD").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
