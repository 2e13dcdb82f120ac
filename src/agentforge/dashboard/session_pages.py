"""The pages about conversations: the list of sessions, and one of them turn by turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from agentforge.app.sessions.closed_sessions import all_sessions, search, session_state
from agentforge.app.sessions.display import output_of
from agentforge.app.sessions.report import model_of
from agentforge.config.paths import data_dir
from agentforge.dashboard.board import board_of, show
from agentforge.dashboard.page_templates import pieces
from agentforge.dashboard.run_index import Reading, number_of
from agentforge.errors import UsageError
from agentforge.events.state.run_state import RunState
from agentforge.store.log.lease import read_holder
from agentforge.store.sessions.folders import run_folder, session_ids
from agentforge.store.sessions.session_list import SessionRow

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


_PAGE_SESSIONS = 50
_PAGE_TURNS = 20
_HITS = 40
_LONGEST_OUTPUT = 20_000
_SHOWN = frozenset(
    {"UserSaid", "ModelReplied", "ModelFailed", "ToolStarted", "ToolFinished", "TurnFinished", "HistoryCompacted"}
)


@dataclass(slots=True)
class Turn:
    """What the user said, and what followed.

    Attributes:
        items: {kind: text, tool, failed or note, ...} in their order.
        outcome: "" while the turn goes on.
    """

    number: int
    at: str
    said: str
    items: list[dict[str, Any]] = field(default_factory=list)
    outcome: str = ""
    reason: str = ""
    tokens: int = 0


def sessions_page(request: Request) -> Response:
    """All sessions, the one that was used last first."""
    board, asked = board_of(request), request.query_params
    words, deep = asked.get("q", "").strip(), bool(asked.get("deep"))
    every = all_sessions(board.environ)
    found = [row for row in every if _fits(row, words)]
    pages = max(1, -(-len(found) // _PAGE_SESSIONS))
    number = min(max(1, number_of(asked.get("page"))), pages)
    hits = list(islice(search(board.environ, words), _HITS)) if words and deep else []
    return show(
        request,
        "sessions.html",
        sessions=found[(number - 1) * _PAGE_SESSIONS : number * _PAGE_SESSIONS],
        total=len(found),
        all_count=len(every),
        words=words,
        deep=deep,
        hits=hits,
        number=number,
        pages=pages,
    )


def session_page(request: Request) -> Response:
    """One session, a page of its turns."""
    board, name = board_of(request), request.path_params["session"]
    data = data_dir(board.environ)
    asked = number_of(request.query_params.get("page"))
    if name in session_ids(data):
        reading = board.readings.of(run_folder(data, name))
        with reading.lock:
            if reading.state.identity.kind != "session":
                raise UsageError(f"{name} is not a session", hint="see the list of conversations")
            values = _recorded(reading, asked)
    elif any(row.session_id == name and row.imported for row in all_sessions(board.environ)):
        state = session_state(board.environ, name)
        values = {"state": state, "running": False, **_paged(list(_of_history(state)), asked)}
    else:
        raise UsageError(f"there is no session {name}", hint="see the list of conversations")
    state = values["state"]
    title = str(state.talk.settings.get("name") or state.talk.goal or state.brief.request or name)
    return show(request, "session.html", session_id=name, title=title, model=model_of(state), **values)


def _fits(row: SessionRow, words: str) -> bool:
    told = f"{row.session_id} {row.name} {row.goal} {row.cwd} {row.model}".casefold()
    return all(word in told for word in words.casefold().split())


def _recorded(reading: Reading, asked: int) -> dict[str, Any]:
    """A page of turns out of the log: what was compacted since is shown, too."""
    index = reading.index
    begins = list(index.fitting(kind="UserSaid"))
    pages = max(1, -(-len(begins) // _PAGE_TURNS))
    number = min(asked or pages, pages)
    shown = begins[(number - 1) * _PAGE_TURNS : number * _PAGE_TURNS]
    after = begins[number * _PAGE_TURNS : number * _PAGE_TURNS + 1]
    last = after[0] - 1 if after else len(index)
    numbers = [seq for seq in range(shown[0], last + 1) if index.mark(seq).kind in _SHOWN] if shown else []
    turns = list(_turns((mark.kind, at, value) for mark, at, value in reading.data_of(numbers)))
    running = read_holder(reading.folder).alive
    return {"state": reading.state, "running": running, "turns": turns, "number": number, "pages": pages}


def _turns(records: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Iterator[Turn]:
    turn: Turn | None = None
    arguments: dict[object, Any] = {}
    for kind, at, data in records:
        if kind == "UserSaid":
            if turn is not None:
                yield turn
            turn = Turn(number=int(data["turn"]), at=at, said=str(data["text"]))
        elif turn is not None:
            if kind == "ToolStarted":
                arguments[data.get("call_id")] = data.get("arguments")
            _add(turn, kind, data, arguments)
    if turn is not None:
        yield turn


def _add(turn: Turn, kind: str, data: Mapping[str, Any], arguments: Mapping[object, Any]) -> None:
    if kind == "ModelReplied":
        usage = data.get("usage") or {}
        turn.tokens += (usage.get("prompt_tokens") or 0) + (usage.get("completion_tokens") or 0)
        if str(data.get("text", "")).strip():
            turn.items.append({"kind": "text", "pieces": pieces(str(data["text"]))})
    elif kind == "ModelFailed":
        turn.items.append({"kind": "failed", "text": f"{data.get('slug')}: {data.get('message')}"})
    elif kind == "ToolFinished":
        turn.items.append(_tool(data, arguments.get(data.get("call_id"))))
    elif kind == "HistoryCompacted":
        turn.items.append({"kind": "note", "text": "Earlier messages were summarised to make room."})
    elif kind == "TurnFinished":
        turn.outcome, turn.reason = str(data.get("outcome", "")), str(data.get("reason", ""))


def _tool(data: Mapping[str, Any], arguments: object) -> dict[str, Any]:
    given = arguments if isinstance(arguments, Mapping) else {}
    return {
        "kind": "tool",
        "name": data.get("name"),
        "status": data.get("status"),
        "summary": data.get("summary"),
        "arguments": given,
        "output": output_of(str(data.get("text") or ""))[:_LONGEST_OUTPUT],
    }


def _of_history(state: RunState) -> Iterator[Turn]:
    """The turns of a session that has no log: its history, as it was left."""
    turn: Turn | None = None
    for entry in state.talk.entries:
        if entry.kind == "user" or turn is None:
            if turn is not None:
                yield turn
            turn = Turn(number=entry.turn, at="", said=entry.text if entry.kind == "user" else "", outcome="completed")
        if entry.kind == "tool":
            turn.items.append(
                _tool({"name": entry.name, "status": entry.status, "summary": entry.summary, "text": entry.text}, {})
            )
        elif entry.kind != "user" and entry.text.strip():
            turn.items.append({"kind": "text", "pieces": pieces(entry.text)})
    if turn is not None:
        yield turn


def _paged(turns: list[Turn], asked: int) -> dict[str, Any]:
    pages = max(1, -(-len(turns) // _PAGE_TURNS))
    number = min(asked or pages, pages)
    return {"turns": turns[(number - 1) * _PAGE_TURNS : number * _PAGE_TURNS], "number": number, "pages": pages}
