"""What the settings permit tool calls: the mode of approval, the rules, and which tools are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from agentforge.config.permissions import permission_rules
from agentforge.pipeline.model.runtime import Permits
from agentforge.store.log.clock import utc_now

if TYPE_CHECKING:
    from agentforge.config.settings import Settings
    from agentforge.safety.policy.permission import Rule


def permits_of(settings: Settings) -> Permits:
    """What the settings say about tool calls.

    Raises:
        ConfigError: a rule that cannot be read.
    """
    return Permits(
        mode=_approval(settings), rules=rules_of(settings), allowed_tools=_allowed_tools(settings), now=utc_now
    )


def _approval(settings: Settings) -> str:
    """The mode of tool calls in a pipeline: its own setting; `never` of the user holds here, too; else `auto`."""
    own = settings.text("pipeline.approval")
    return own or ("never" if settings.text("approval") == "never" else "auto")


def rules_of(settings: Settings) -> tuple[Rule, ...]:
    """The permission rules of all settings files."""
    if not settings.table("permissions"):
        return ()

    return permission_rules(settings)


def _allowed_tools(settings: Settings) -> tuple[str, ...] | None:
    names = cast("list[str] | None", settings.get("allowed_tools"))
    return None if names is None else (*names, "submit_artifact", "ask_human")
