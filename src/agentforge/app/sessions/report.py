"""A session in figures: the report, its cost, what fills its context, what went wrong in it.

A session as a document: Markdown, one HTML page without scripts, or JSON. What was a secret was never recorded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agentforge.context.conversation import build_request, user_tokens
from agentforge.errors import UsageError
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Entry
from agentforge.safety.text.hygiene import clean
from agentforge.store.log.reader import read
from agentforge.store.sessions.views import snapshot_value, usage_value
from agentforge.tools.dispatch.deferral import sent

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat


SCHEMA_VERSION = 1


def report_value(state: RunState) -> dict[str, Any]:
    """The report of a session (schema_version 1)."""
    settings = state.talk.settings
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": state.identity.run_id,
        "name": settings.get("name"),
        "mode": settings.get("work_mode") or "build",
        "cwd": state.identity.repo,
        "created_at": state.progress.started_at,
        "updated_at": state.progress.last_at,
        "turn_count": state.talk.turn,
        "message_count": len(state.talk.entries),
        "model": model_of(state),
        "usage": usage_value(state),
        "tools": list(_texts(settings.get("tools"))) or sorted(_tools_called(state)),
        "mcp_servers": list(_texts(settings.get("mcp_servers"))),
        "skills": list(_texts(settings.get("skills"))),
        "todos": dict(state.talk.todos),
        "cost_usd": state.usage.totals.cost_usd if state.usage.totals.cost_known else None,
        "llm_calls": state.usage.totals.llm_calls,
        "tool_calls": state.usage.totals.tool_calls,
        "compactions": state.talk.compactions,
        "checkpoints": len(state.talk.checkpoints),
        "files_changed": list(state.talk.changed_paths),
        "denials": [dict(one) for one in state.people.denials],
    }


def model_of(state: RunState) -> str:
    """The model that answers, else the one that answered last."""
    last = [spent.model for spent in state.usage.spending.values()]
    return str(state.talk.settings.get("model") or state.brief.model or (last[-1] if last else ""))


def cost_rows(state: RunState) -> list[dict[str, Any]]:
    """What was asked of each model, and of each subagent."""
    rows: dict[str, dict[str, Any]] = {}
    for spent in state.usage.spending.values():
        row = rows.setdefault(
            spent.model,
            {"model": spent.model, "calls": 0, "prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0}
            | {"cost_usd": 0.0, "unpriced": 0},
        )
        for name in ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "cost_usd", "unpriced"):
            row[name] += getattr(spent, name)
    for child in state.talk.children:
        used = child.get("usage")
        used = used if isinstance(used, Mapping) else {}
        rows[str(child["child"])] = {
            "model": f"subagent {child['name']}",
            "calls": used.get("llm_calls", 0),
            "prompt_tokens": used.get("prompt_tokens", 0),
            "cached_tokens": used.get("cached_tokens", 0),
            "completion_tokens": used.get("completion_tokens", 0),
            "cost_usd": child.get("cost_usd") or 0.0,
            "unpriced": int(child.get("cost_usd", 0.0) is None),
        }
    return list(rows.values())


def context_value(chat: Chat) -> dict[str, Any]:
    """What the next request would hold, in tokens by part, and when it is warned about and compacted."""
    runtime = chat.workshop.runtime()
    budget = runtime.budget()
    request = build_request(
        chat.state.talk,
        system=runtime.system(),
        tools=sent(runtime.tools()),
        budget=budget,
        situation=runtime.situation(chat.state),
    )
    holding = budget.with_material(user_tokens(chat.state.talk.entries))
    return {
        "tokens": request.tokens,
        "budget": holding.total,
        "window": budget.window,
        "used": round(request.tokens / holding.total, 3),
        "warned_at": holding.warn_at,
        "compacted_at": holding.compact_at,
        "sections": dict(request.sections),
        "handed_over": user_tokens(chat.state.talk.entries),
        "room_for_more": max(0, budget.material(chat.workshop.sizing.fixed()) - user_tokens(chat.state.talk.entries)),
        "compactions": chat.state.talk.compactions,
        "token_factor": chat.state.talk.token_factor,
    }


def error_rows(folder: Path) -> list[dict[str, Any]]:
    """What went wrong in a session, oldest first: models, tools, turns that did not end well.

    Raises:
        IntegrityError: the log was altered or damaged.
    """
    return [row | {"at": record.at} for record in read(folder) for row in _errors(record.event)]


def _errors(event: kinds.Event) -> list[dict[str, Any]]:
    if isinstance(event, kinds.ModelFailed):
        return [{"kind": "model", "name": event.slug, "message": event.message}]
    if isinstance(event, kinds.ModelReplied):
        return [
            {
                "kind": "model",
                "name": str(one["slug"]),
                "message": f"{one['model']}: {one['message']} ({event.model} answered instead)",
            }
            for one in event.failed
        ]
    if isinstance(event, kinds.ToolFinished) and event.status != "success":
        return [{"kind": "tool", "name": event.name, "message": event.summary}]
    if isinstance(event, kinds.TurnFinished) and event.outcome in ("failed", "stuck", "limit", "blocked"):
        return [{"kind": "turn", "name": event.outcome, "message": event.reason}]
    return []


def _tools_called(state: RunState) -> set[str]:
    return {str(call["name"]) for entry in state.talk.entries for call in entry.calls}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, (list, tuple)) else ()


Format = Literal["md", "html", "json"]
FORMATS: tuple[Format, ...] = ("md", "html", "json")
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}"
    "pre{background:#f4f5f7;padding:.7rem;overflow:auto;font-size:.85rem;border-radius:4px;white-space:pre-wrap}"
    "h2{font-size:1rem;margin:1.6rem 0 .3rem}summary{cursor:pointer;color:#57606a}"
    "@media(prefers-color-scheme:dark){body{background:#15181c;color:#e3e6ea}pre{background:#20252b}}"
)
_WHO = {
    "user": "User",
    "assistant": "Assistant",
    "summary": "Summary of what was before",
    "note": "Note of the program",
}


def exported(state: RunState, form: str) -> str:
    """The session as a document.

    Raises:
        UsageError: there is no such format.
    """
    if form in ("markdown", "md"):
        return _markdown(state)
    if form == "html":
        return _html(state)
    if form == "json":
        value = {**snapshot_value(state, updated_at=state.progress.last_at), "report": report_value(state)}
        return json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n"
    raise UsageError(f"there is no format {form!r}", hint=f"one of {', '.join(FORMATS)}")


def _title(state: RunState) -> str:
    return str(state.talk.settings.get("name") or f"Session {state.identity.run_id}")


def _facts(state: RunState) -> str:
    totals, progress = state.usage.totals, state.progress
    return (
        f"{progress.started_at[:19]} - {progress.last_at[:19]} UTC, {state.identity.repo}, {model_of(state) or 'no model'}, "
        f"{state.talk.turn} turns, {totals.prompt_tokens} + {totals.completion_tokens} tokens"
    )


def _markdown(state: RunState) -> str:
    parts = [f"# {clean(_title(state))}", _facts(state)]
    for entry in state.talk.entries:
        if entry.kind == "tool":
            parts.append(f"**{entry.name}** {entry.status}: {clean(entry.summary)}\n\n{_fenced(clean(entry.text))}")
            continue
        parts.append(f"## {_WHO[entry.kind]} (turn {entry.turn})")
        parts += [clean(entry.text)] if entry.text.strip() else []
        parts += [f"Calls `{call['name']}`\n\n{_fenced(clean(str(call['arguments'])))}" for call in entry.calls]
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    """A fence longer than any within."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _html(state: RunState) -> str:
    body = "\n".join(_html_entry(entry) for entry in state.talk.entries)
    title = escape(clean(_title(state)))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n'
        f"<body>\n<h1>{title}</h1>\n<p>{escape(_facts(state))}</p>\n{body}\n</body>\n</html>\n"
    )


def _html_entry(entry: Entry) -> str:
    text = escape(clean(entry.text))
    if entry.kind == "tool":
        head = escape(clean(f"{entry.name} {entry.status}: {entry.summary}"))
        return f"<details><summary>{head}</summary><pre>{text}</pre></details>"
    calls = "".join(
        f"<details><summary>calls {escape(str(call['name']))}</summary>"
        f"<pre>{escape(clean(str(call['arguments'])))}</pre></details>"
        for call in entry.calls
    )
    said = f"<pre>{text}</pre>" if entry.text.strip() else ""
    return f"<h2>{_WHO[entry.kind]} (turn {entry.turn})</h2>{said}{calls}"
