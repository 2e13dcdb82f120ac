"""/start, /status, /tasks, /resolve: tasks of the pipeline from within a conversation, and what else runs beside it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import cast

from agentforge.app.composition import task_queries as looking
from agentforge.app.sessions.background import Job, next_output, recorded_lines
from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.app.slash.jobs import NO_COMMANDS, command_rows, known_command, read_command, stop_command
from agentforge.app.tasks import answers
from agentforge.app.tasks.answers import Waiting
from agentforge.errors import RepositoryError, UsageError
from agentforge.events.kinds import Decision
from agentforge.events.kinds.choices import Choice, choices_of
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.delivery.assumptions import assumptions
from agentforge.store.tasks.folders import TaskRow
from agentforge.views.words import command_of
from agentforge.workspace.git.repository import Git

_SHOWN_LINES = 60
_NAMED = 5
_WORDS = {"approve": "approve", "reject": "reject", "abort": "abort", "answer": "answer"}


def _start(chat: Chat, rest: str) -> SlashReply:
    if not rest:
        raise UsageError("there is no request", hint='/start "add a function slugify to textkit"')
    request = rest[1:-1] if len(rest) > 1 and rest[0] == rest[-1] == '"' else rest
    root = chat.workshop.root
    left_out: list[str] = []
    with suppress(RepositoryError):  # the task says itself why it cannot begin
        left_out = Git.open(root).is_dirty()
    _begin(chat, ("start", "--cwd", str(root), *_model(chat), "--", request), title=request)
    told = ["Started in the background; it goes on when you leave. `/tasks` shows it."]
    if left_out:
        names = ", ".join(f"`{path}`" for path in left_out[:_NAMED]) + (" ..." if len(left_out) > _NAMED else "")
        told += [f"It works on the last commit, without what is not committed: {names}."]
    return SlashReply(text="\n\n".join(told), data={"left_out": left_out})


def _status(chat: Chat, rest: str) -> SlashReply:
    root = chat.workshop.root
    if rest:
        found = looking.load(root, rest)
        state = found.state
        lines = [
            f"**{state.identity.run_id}**: {state.progress.outcome or ('running' if found.running else 'interrupted')}",
            state.brief.request,
        ]
        lines += _delivery(state) or [f"- {name}: {stage.status}" for name, stage in state.progress.stages.items()]
        return SlashReply(
            text="\n".join(lines), data={"task_id": state.identity.run_id, "outcome": state.progress.outcome}
        )
    try:
        rows = looking.listing(root)
    except RepositoryError as error:
        return SlashReply(text=f"no tasks: {error}", ok=False)
    jobs = [f"- {job.look().text}" for job in chat.jobs if not job.look().outcome or job.line.error]
    table = [f"| {row.task_id} | {row.outcome} | {row.stage or '-'} | {_cell(row.request)} |" for row in rows[:20]]
    head = ["| task | state | stage | request |", "| --- | --- | --- | --- |"] if table else []
    text = "\n".join([*jobs, *([""] if jobs and head else []), *head, *table])
    return SlashReply(
        text=text or "No tasks yet; begin one with `/start REQUEST`.", data={"tasks": [_row_value(row) for row in rows]}
    )


def _tasks(chat: Chat, rest: str) -> SlashReply:
    """The commands in the background, and the tasks that this session started, each with what it asks."""
    if rest.partition(" ")[0] == "stop":
        return _stop(chat, rest.partition(" ")[2].strip())
    if rest:
        return read_command(chat, rest) if known_command(chat, rest) else _status(chat, rest)
    commands, tasks = command_rows(chat), _own_tasks(chat)
    if not commands:
        return tasks
    lines = [*commands, "", "`/tasks ID` shows what a command wrote, `/tasks stop ID` stops it."]
    more = ["", tasks.text] if tasks.data["tasks"] or tasks.data["failed"] else []
    return replace(tasks, text="\n".join([*lines, *more]), data={**tasks.data, "commands": commands})


def _own_tasks(chat: Chat) -> SlashReply:
    """The tasks that this session started, each with what it asks."""
    known = {line.task_id: line for line in recorded_lines(chat.log.folder) if line.task_id}
    failed = [job.line for job in chat.jobs if not job.look().task_id and job.line.outcome]
    if not known and not failed:
        none = "This session has started no task; `/start REQUEST` begins one, `/status` shows all tasks of this repository."
        return SlashReply(text=f"{none}\n\n{NO_COMMANDS}", data={"tasks": [], "waiting": [], "failed": 0})
    root = chat.workshop.root
    rows = [row for row in looking.listing(root) if row.task_id in known]
    waiting = [row for row in answers.pending(root) if row.task_id in known]
    lines = [
        f"- **{row.task_id}**: {row.outcome}{f' in {row.stage}' if row.stage else ''}: {_cell(row.request)}"
        for row in rows
    ]
    lines += [
        line
        for row in rows
        if row.outcome == "delivered"
        for line in ("", f"**{row.task_id}**", *_delivery(looking.load(root, row.task_id).state))
    ]
    lines += [f"- {line.title}: {line.outcome}: {line.error}" for line in failed]
    questions = _waiting(waiting)
    return SlashReply(
        text="\n".join([*lines, *(["", questions.text] if waiting else [])]),
        data={"tasks": [_row_value(row) for row in rows], "waiting": questions.data["waiting"], "failed": len(failed)},
    )


def _delivery(state: RunState) -> list[str]:
    """What a delivered task came to, and what to do with it; empty for any other."""
    report, branch = state.work.artifacts.get("deliver", {}), str((state.work.delivered or {}).get("branch", ""))
    if state.progress.outcome != "delivered":
        return []
    base = state.identity.base_ref or state.identity.base_commit[:10]
    lines = [f"- assumed: {one.line}" for one in assumptions(state)]
    lines += [
        f"- changed: `{row['path']}` +{row['lines_added']} -{row['lines_removed']}" for row in _rows(report, "changes")
    ]
    lines += [f"- proved: {row['id']} {row['description']}" for row in _rows(report, "requirements")]
    lines += [f"- {report['untested_line']}"] if report.get("untested_line") else []
    lines += [f"- look at it: `!git diff {base}...{branch}`"]
    return lines if (state.work.delivered or {}).get("applied") else [*lines, f"- take it: `!git merge {branch}`"]


def _rows(report: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """The rows of a list in the report."""
    found = report.get(name)
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, (list, tuple)) else []


def _stop(chat: Chat, name: str) -> SlashReply:
    """End tasks of this session that run, as Ctrl-C would in their terminal; or a command in the background."""
    if known_command(chat, name):
        return stop_command(chat, name)
    running = [job for job in chat.jobs if job.process.poll() is None]
    chosen = [job for job in running if name == "all" or name in (job.look().task_id, job.title)]
    if not name or (not chosen and name != "all"):
        names = ", ".join(job.look().task_id or job.title for job in running) or "none"
        raise UsageError(
            f"this session runs no task {name}".rstrip(), hint=f"/tasks stop TASK | all; it runs here: {names}"
        )
    for job in chosen:
        job.stop()
    stopped = [job.look().task_id or job.title for job in chosen]
    commands = stop_command(chat, name) if name == "all" and chat.workshop.running() else None
    told = [f"Stopped: {one}. `agentforge resume {one}` goes on with it." for one in stopped]
    told += [commands.text] if commands is not None else []
    return SlashReply(text="\n\n".join(told) or "Nothing ran.", data={"stopped": stopped})


def _stoppable(chat: Chat, word: str) -> tuple[str, ...]:
    running = [job.look().task_id for job in chat.jobs if job.process.poll() is None]
    names = [one.name for one in chat.workshop.left_running.commands.glances()]
    return tuple(one for one in ("stop", "all", *running, *names) if one and one.startswith(word))


def _resolve(chat: Chat, rest: str) -> SlashReply:
    root = chat.workshop.root
    if not rest:
        return _waiting(answers.pending(root))
    address, _, words = rest.partition(" ")
    word, _, text = words.strip().partition(" ")
    asked = [row for row in answers.pending(root) if address in (row.address, row.item.escalation_id)]
    if not word and asked:
        return _waiting(asked)
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
    task_id = done.state.identity.run_id
    _begin(chat, ("resume", task_id, "--cwd", str(root)), title=task_id)
    return SlashReply(text=f"Recorded; {task_id} goes on in the background.", data={"task_id": task_id})


def _waiting(rows: list[Waiting]) -> SlashReply:
    lines: list[str] = []
    for row in rows:
        lines += [f"**{row.address}** ({row.item.kind}, {row.item.stage}): {row.item.question}"]
        if row.item.shown:
            lines += ["", "````", *row.item.shown.strip("\n").splitlines()[:_SHOWN_LINES], "````"]
        lines += [f"- {choice.label}: {choice.then} `{_line_of(choice, row)}`" for choice in choices_of(row.item)]
        lines += [""]
    return SlashReply(
        text="\n".join(lines).rstrip() if rows else "Nothing waits for you.",
        data={"waiting": [{"address": row.address, "question": row.item.question} for row in rows]},
    )


def _line_of(choice: Choice, row: Waiting) -> str:
    """What is typed for a choice: here, or in a terminal where the conversation has no words for it."""
    if choice.limit or choice.reopen:
        return command_of(choice, row.item, task_id=row.task_id)
    words = choice.text or {"answer": "TEXT"}.get(choice.decision, "REASON" if choice.words else "")
    return f"/resolve {row.address} {choice.decision} {words}".strip()


def _begin(chat: Chat, arguments: tuple[str, ...], *, title: str) -> None:
    output = next_output(chat.log.folder)
    chat.jobs.append(Job(arguments, title=_cell(title), cwd=chat.workshop.root, output=output))


def _model(chat: Chat) -> tuple[str, ...]:
    name = chat.workshop.setting("model") or chat.options.model or ""
    return ("--model", name) if name else ()


def _row_value(row: TaskRow) -> dict[str, object]:
    return {"task_id": row.task_id, "outcome": row.outcome, "stage": row.stage}


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= 60 else line[:59] + "…"


def _addresses(chat: Chat, word: str) -> tuple[str, ...]:
    return tuple(row.address for row in answers.pending(chat.workshop.root) if row.address.startswith(word))


COMMANDS = (
    SlashCommand(name="start", usage="REQUEST", summary="Start a task of the pipeline in the background.", run=_start),
    SlashCommand(
        name="status", at_once=True, usage="[task]", summary="Show the tasks of this repository.", run=_status
    ),
    SlashCommand(
        name="tasks",
        at_once=True,
        usage="[task | ID | stop task | stop ID | stop all]",
        summary="Show the commands in the background and the tasks of this session, or stop them.",
        run=_tasks,
        complete=_stoppable,
    ),
    SlashCommand(
        name="resolve",
        usage="[address decision]",
        summary="Show and answer what tasks ask you.",
        run=_resolve,
        complete=_addresses,
    ),
)
