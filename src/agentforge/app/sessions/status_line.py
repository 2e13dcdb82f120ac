"""Where a session stands, for the line that is always shown: mode, approval, model, context, money, branch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sessions.display import cost_text, tokens_text
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat
    from agentforge.events.state.run_state import RunState


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
        return (*running, self.mode, f"approval {self.approval}", self.model or "no model", context, self.cost, *branch)


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
        cost=cost_text(state.totals.cost_usd, known=state.totals.cost_known),
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
