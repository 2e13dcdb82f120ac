"""/start, /status, /tasks, /resolve: tasks of the pipeline from within a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from agentforge.app.composition import task_queries as looking
from agentforge.app.sessions.background import Job
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.app.tasks import answers
from agentforge.errors import RepositoryError, UsageError

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat
    from agentforge.app.tasks.answers import Waiting
    from agentforge.events.kinds import Decision

_WORDS = {"approve": "approve", "reject": "reject", "abort": "abort", "answer": "answer"}


def _start(chat: Chat, rest: str) -> SlashReply:
    if not rest:
        raise UsageError("there is no request", hint='/start "add a function slugify to textkit"')
    request = rest[1:-1] if len(rest) > 1 and rest[0] == rest[-1] == '"' else rest
    _begin(chat, ("start", "--cwd", str(chat.workshop.root), *_model(chat), "--", request), title=request)
    return SlashReply(text="Started in the background; it goes on when you leave. `/status` shows it.")


def _status(chat: Chat, rest: str) -> SlashReply:

    root = chat.workshop.root
    if rest:
        found = looking.load(root, rest)
        state = found.state
        lines = [
            f"**{state.run_id}**: {state.outcome or ('running' if found.running else 'interrupted')}",
            state.request,
        ]
        lines += [f"- {name}: {stage.status}" for name, stage in state.stages.items()]
        return SlashReply(text="\n".join(lines), data={"task_id": state.run_id, "outcome": state.outcome})
    try:
        rows = looking.listing(root)
    except RepositoryError as error:
        return SlashReply(text=f"no tasks: {error}", ok=False)
    jobs = [f"- {job.look().text}" for job in chat.jobs if not job.look().outcome or job.line.error]
    table = [f"| {row.task_id} | {row.outcome} | {row.stage or '-'} | {_cell(row.request)} |" for row in rows[:20]]
    head = ["| task | state | stage | request |", "| --- | --- | --- | --- |"] if table else []
    text = "\n".join([*jobs, *([""] if jobs and head else []), *head, *table])
    return SlashReply(
        text=text or "No tasks yet; begin one with `/start REQUEST`.",
        data={"tasks": [{"task_id": row.task_id, "outcome": row.outcome, "stage": row.stage} for row in rows]},
    )


def _resolve(chat: Chat, rest: str) -> SlashReply:

    root = chat.workshop.root
    if not rest:
        return _waiting(answers.pending(root))
    address, _, words = rest.partition(" ")
    word, _, text = words.strip().partition(" ")
    if word not in _WORDS:
        raise UsageError(
            f"what about {address}?", hint=f"/resolve {address} approve | reject REASON | answer TEXT | abort"
        )
    if word == "reject" and not text.strip():
        raise UsageError("a rejection needs a reason", hint=f"/resolve {address} reject REASON")
    decision = cast("Decision", _WORDS[word])
    done = answers.resolve(
        root, address, decision=decision, text=text.strip(), by=chat.workshop.environ.get("USER", "user")
    )
    task_id = done.state.run_id
    _begin(chat, ("resume", task_id, "--cwd", str(root)), title=task_id)
    return SlashReply(text=f"Recorded; {task_id} goes on in the background.", data={"task_id": task_id})


def _waiting(rows: list[Waiting]) -> SlashReply:
    lines: list[str] = []
    for row in rows:
        lines += [f"**{row.address}** ({row.item.kind}, {row.item.stage}): {row.item.question}"]
        lines += [f"{number}. {option}" for number, option in enumerate(row.item.options, start=1)]
        lines += [""]
    hint = "`/resolve ADDRESS approve | reject REASON | answer TEXT | abort`"
    return SlashReply(
        text="\n".join([*lines, hint]) if rows else "Nothing waits for you.",
        data={"waiting": [{"address": row.address, "question": row.item.question} for row in rows]},
    )


def _begin(chat: Chat, arguments: tuple[str, ...], *, title: str) -> None:

    number = len(chat.jobs) + 1
    output = chat.log.folder / "tasks" / f"{number}.jsonl"
    chat.jobs.append(Job(arguments, title=_cell(title), cwd=chat.workshop.root, output=output))


def _model(chat: Chat) -> tuple[str, ...]:
    name = chat.workshop.setting("model") or chat.options.model or ""
    return ("--model", name) if name else ()


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= 60 else line[:59] + "…"


def _addresses(chat: Chat, word: str) -> tuple[str, ...]:

    return tuple(row.address for row in answers.pending(chat.workshop.root) if row.address.startswith(word))


COMMANDS = (
    SlashCommand(name="start", usage="REQUEST", summary="Start a task of the pipeline in the background.", run=_start),
    SlashCommand(
        name="status", usage="[task]", summary="Show the tasks of this repository.", run=_status, aliases=("tasks",)
    ),
    SlashCommand(
        name="resolve",
        usage="[address decision]",
        summary="Show and answer what tasks ask you.",
        run=_resolve,
        complete=_addresses,
    ),
)
