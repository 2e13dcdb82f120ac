"""/export, /report, /stats, /cost, /errors: what came of the session."""

from __future__ import annotations

import json
from pathlib import Path

from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.report import cost_rows, error_rows, exported, report_value
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import StorageError, UsageError

_ERRORS = 10


def _export(chat: Chat, rest: str) -> SlashReply:
    form, _, name = rest.partition(" ")
    form = {"": "md", "markdown": "md"}.get(form, form)
    text = exported(chat.state, form)
    file = chat.workshop.root / Path(name.strip() or f"agentforge-{chat.session_id[:8]}.{form}").expanduser()
    if file.exists() and name:
        raise UsageError(f"{file} exists already", hint="give another name")
    try:
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as exc:
        raise StorageError(f"{file} cannot be written: {exc.strerror}") from exc
    return SlashReply(text=f"Written to `{file}`.", data={"file": str(file), "format": form})


def _report(chat: Chat, rest: str) -> SlashReply:
    value = report_value(chat.state)
    if rest == "--json":
        return SlashReply(text=f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```", data=value)
    if rest:
        raise UsageError(f"/report {rest}: not understood", hint="/report [--json]")
    return SlashReply(text="\n".join(report_lines(value)), data=value)


def report_lines(value: dict[str, object]) -> list[str]:
    """The report for people: one line for each thing that there is."""
    shown = {name: item for name, item in value.items() if item not in (None, "", [], {}) and name != "schema_version"}
    return [f"- {name.replace('_', ' ')}: {_plain(item)}" for name, item in shown.items()]


def _plain(item: object) -> str:
    if isinstance(item, dict):
        return ", ".join(f"{key} {_plain(value)}" for key, value in item.items())
    return ", ".join(map(_plain, item)) if isinstance(item, list) else str(item)


def _stats(chat: Chat, _rest: str) -> SlashReply:
    state = chat.state
    totals = state.usage.totals
    cost = f"${totals.cost_usd:.4f}" + ("" if totals.cost_known else " + calls whose price is unknown")
    lines = [
        f"- turns: {state.talk.turn}, model calls: {totals.llm_calls}, tool calls: {totals.tool_calls}",
        f"- tokens: {totals.prompt_tokens} in ({totals.cached_tokens} cached), {totals.completion_tokens} out",
        f"- cost: {cost}",
        f"- working time: {state.progress.active_s:.0f} s, compactions: {state.talk.compactions}",
    ]
    return SlashReply(text="\n".join(lines), data={"turns": state.talk.turn, "llm_calls": totals.llm_calls})


def _cost(chat: Chat, _rest: str) -> SlashReply:
    rows = cost_rows(chat.state)
    if not rows:
        return SlashReply(text="Nothing was asked yet.", data={"rows": []})
    lines = ["| model | calls | prompt | cached | completion | USD |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        money = f"{row['cost_usd']:.4f}" + (" + unknown" if row["unpriced"] else "")
        tokens = f"{row['prompt_tokens']} | {row['cached_tokens']} | {row['completion_tokens']}"
        lines.append(f"| {row['model']} | {row['calls']} | {tokens} | {money} |")
    return SlashReply(text="\n".join(lines), data={"rows": rows, "total_usd": chat.state.usage.totals.cost_usd})


def _errors(chat: Chat, rest: str) -> SlashReply:
    if rest and (not rest.isdigit() or not int(rest)):
        raise UsageError(f"/errors {rest}: how many?", hint="/errors 20")
    rows = error_rows(chat.log.folder)[-(int(rest) if rest else _ERRORS) :]
    lines = [f"- {row['at'][11:19]} {row['kind']} {row['name']}: {row['message']}" for row in rows]
    return SlashReply(text="\n".join(lines) or "No errors.", data={"errors": rows})


COMMANDS = (
    SlashCommand(name="export", usage="[md|html|json] [file]", summary="Write the session as a document.", run=_export),
    SlashCommand(name="report", usage="[--json]", summary="Show the session's report.", run=_report),
    SlashCommand(name="stats", at_once=True, summary="Show tokens, calls and time.", run=_stats, aliases=("usage",)),
    SlashCommand(name="cost", at_once=True, summary="Show what each model cost.", run=_cost),
    SlashCommand(name="errors", at_once=True, usage="[n]", summary="Show what went wrong lately.", run=_errors),
)
