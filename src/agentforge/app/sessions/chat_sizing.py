"""How much a session may send, be answered and go on: tokens and calls, from settings, options and what was learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agentforge.context.budget import output_room
from agentforge.context.conversation import OVERHEAD, Budget
from agentforge.context.minimal import tool_tokens
from agentforge.session.decide import TurnRules
from agentforge.tokens import count_tokens
from agentforge.tools.dispatch.deferral import sent

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import ChatOptions
    from agentforge.config.settings import Settings
    from agentforge.events.state.talk import Talk
    from agentforge.tools.base import Tool


class Sizing:
    """The sizes of one session; settings and conversation are read anew at every question.

    Args:
        system: the instructions as they are sent now.
        tools: what is offered now.
    """

    def __init__(
        self,
        *,
        settings: Callable[[], Settings],
        options: ChatOptions,
        talk: Callable[[], Talk],
        system: Callable[[], str],
        tools: Callable[[], Mapping[str, Tool]],
    ) -> None:
        self._settings = settings
        self._options = options
        self._talk = talk
        self._system = system
        self._tools = tools
        self._fixed: tuple[tuple[str, ...], int] = ((), 0)

    def budget(self) -> Budget:
        """Tokens that a request may hold."""
        settings, key = self._settings(), "context.budget_tokens"
        asked = self._options.request_tokens if settings.origin(key) == "default" else 0
        return Budget.of(
            window=int(settings.number("model.context_window")),
            wanted=asked or int(settings.number(key)),
            output=int(settings.number("model.max_output_tokens")),
            factor=self._talk().token_factor,
        )

    def output_tokens(self) -> int:
        """Tokens that an answer may have."""
        number = self._settings().number
        return output_room(window=int(number("model.context_window")), output=int(number("model.max_output_tokens")))

    def text_limit(self) -> int:
        """Tokens that one observation may cost by the settings; the context policy allows less (Budget.observation)."""
        return int(self._settings().number("max_tool_output_tokens"))

    def rules(self) -> TurnRules:
        """What bounds a turn."""
        settings = self._settings()
        return TurnRules(
            max_turns=self._options.max_turns or int(settings.number("max_turns")),
            budget=self.budget(),
            fixed=self.fixed(),
            stop_loops=int(settings.number("loop_limit")),
        )

    def fixed(self) -> int:
        """Tokens of a request beside its history; counted anew only when something was switched."""
        system, tools = self._system(), self._tools()
        schemas = sent(tools)
        key = (system, *(schema.name for schema in schemas))
        if self._fixed[0] != key:
            counted = count_tokens(system) + sum(map(tool_tokens, schemas)) + OVERHEAD
            self._fixed = (key, counted)
        return self._fixed[1]
