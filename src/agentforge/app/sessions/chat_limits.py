"""How much a session may send, be answered and go on: tokens and calls, from settings, options and what was learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agentforge.config.settings import Settings
from agentforge.context.budget import output_room
from agentforge.context.conversation import OVERHEAD, Budget, user_tokens
from agentforge.context.minimal import tool_tokens
from agentforge.errors import UsageError
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Talk
from agentforge.session import TurnRules
from agentforge.tokens import count_tokens
from agentforge.tools.base import Tool
from agentforge.tools.dispatch.deferral import sent

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import ChatOptions


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
        number, talk = self._settings().number, self._talk()
        return Budget.of(
            window=int(number("model.context_window")),
            wanted=int(number("context.budget_tokens")),
            output=int(number("model.max_output_tokens")),
            factor=talk.token_factor,
            refused=talk.refused_tokens,
        )

    def holding(self) -> Budget:
        """The budget with what the user handed over in this conversation."""
        return self.budget().with_material(user_tokens(self._talk().entries))

    def output_tokens(self) -> int:
        """Tokens that an answer may have."""
        number = self._settings().number
        return output_room(window=int(number("model.context_window")), output=int(number("model.max_output_tokens")))

    def result_tokens(self, state: RunState, calls: int) -> int:
        """Tokens that the next result of a tool may cost: what the settings say, as far as the window holds it.

        Args:
            calls: of the reply that have no result yet.
        """
        most = int(self._settings().number("max_tool_output_tokens"))
        return self.budget().result(state.talk, fixed=self.fixed(), calls=calls, most=most)

    def check_room(self, *texts: str) -> None:
        """See whether what the user wants to hand over fits whole; it is never shortened.

        Raises:
            UsageError: it does not: how much it is, how much there is room for, what to do.
        """
        size = sum(map(count_tokens, texts))
        budget = self.budget()
        room = budget.material(self.fixed()) - user_tokens(self._talk().entries)
        if size <= room:
            return
        window = int(self._settings().number("model.context_window"))
        characters = sum(map(len, texts))
        raise UsageError(
            f"the message and what goes with it hold {size:,} tokens ({characters:,} characters); this conversation has room"
            f" for {max(0, room):,} more in the model's window of {window:,}, and nothing of it is shortened",
            hint="attach less, or name the files and let the agent read the parts that matter; /new begins an empty"
            " conversation; model.context_window says how large the model's window is",
        )

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
