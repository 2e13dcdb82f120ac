"""A session as a document: Markdown, one HTML page without scripts, or JSON. What was a secret was never recorded."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Literal

from agentforge.app.sessions.report import model_of, report_value
from agentforge.errors import UsageError
from agentforge.safety.text.hygiene import clean
from agentforge.store.sessions.snapshot import snapshot_value

if TYPE_CHECKING:
    from agentforge.events.state.run_state import RunState
    from agentforge.events.state.talk import Entry

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
        value = {**snapshot_value(state, updated_at=state.last_at), "report": report_value(state)}
        return json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n"
    raise UsageError(f"there is no format {form!r}", hint=f"one of {', '.join(FORMATS)}")


def _title(state: RunState) -> str:
    return str(state.talk.settings.get("name") or f"Session {state.run_id}")


def _facts(state: RunState) -> str:
    totals = state.totals
    return (
        f"{state.started_at[:19]} - {state.last_at[:19]} UTC, {state.repo}, {model_of(state) or 'no model'}, "
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
