"""A session in figures: the report, its cost, what fills its context, what went wrong in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentforge.context.conversation import build_request, user_tokens
from agentforge.events import kinds
from agentforge.store.log.reader import read
from agentforge.store.sessions.events import usage_value
from agentforge.tools.dispatch.deferral import sent

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat
    from agentforge.events.state.run_state import RunState

SCHEMA_VERSION = 1


def report_value(state: RunState) -> dict[str, Any]:
    """The report of a session (schema_version 1)."""
    settings = state.talk.settings
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": state.run_id,
        "name": settings.get("name"),
        "mode": settings.get("work_mode") or "build",
        "cwd": state.repo,
        "created_at": state.started_at,
        "updated_at": state.last_at,
        "turn_count": state.talk.turn,
        "message_count": len(state.talk.entries),
        "model": model_of(state),
        "usage": usage_value(state),
        "tools": list(_texts(settings.get("tools"))) or sorted(_tools_called(state)),
        "mcp_servers": list(_texts(settings.get("mcp_servers"))),
        "skills": list(_texts(settings.get("skills"))),
        "todos": dict(state.talk.todos),
        "cost_usd": state.totals.cost_usd if state.totals.cost_known else None,
        "llm_calls": state.totals.llm_calls,
        "tool_calls": state.totals.tool_calls,
        "compactions": state.talk.compactions,
        "checkpoints": len(state.talk.checkpoints),
        "files_changed": list(state.talk.changed_paths),
        "denials": [dict(one) for one in state.denials],
    }


def model_of(state: RunState) -> str:
    """The model that answers, else the one that answered last."""
    last = [spent.model for spent in state.spending.values()]
    return str(state.talk.settings.get("model") or state.model or (last[-1] if last else ""))


def cost_rows(state: RunState) -> list[dict[str, Any]]:
    """What was asked of each model, and of each subagent."""
    rows: dict[str, dict[str, Any]] = {}
    for spent in state.spending.values():
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
