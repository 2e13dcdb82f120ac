"""What every page of the dashboard has at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from agentforge.dashboard.children import Children
from agentforge.dashboard.ground import Ground
from agentforge.dashboard.guard import Door
from agentforge.dashboard.page_templates import page
from agentforge.dashboard.run_index import Readings
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The parts of a dashboard that runs.

    Attributes:
        user: who answers, for the record.
        environ: of the person, for settings and the data folder.
        stopping: whether the server goes down.
    """

    ground: Ground
    readings: Readings
    children: Children
    door: Door
    user: str
    environ: Mapping[str, str]
    stopping: Callable[[], bool]


def board_of(request: Request) -> Board:
    """The dashboard that a request came to."""
    return cast("Board", request.app.state.board)


def show(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """Render a page with what all pages need."""
    board = board_of(request)
    waiting = sum(len(task.get("open_escalations", ())) for task in board.ground.tasks())
    shared: Mapping[str, Any] = {
        "csrf": board.door.csrf,
        "read_only": board.door.read_only,
        "waiting_count": waiting,
        "path": request.url.path,
    }
    return page(template, status=status, **{**shared, **values})
