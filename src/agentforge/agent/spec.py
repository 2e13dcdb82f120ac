"""What the agent loop works with: the record in which a pipeline step and a chat turn differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from agentforge.agent.pictures import BlobStore
from agentforge.context.minimal import StepContext
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.messages import ModelReply, ModelRequest
from agentforge.models import Model
from agentforge.tools.base import Tool, ToolContext
from agentforge.tools.dispatch.invocation import InvocationPolicy


class Workspace(Protocol):
    """The files that commands may change."""

    def tree(self) -> str:
        """Return the tree of the files as they are now."""

    def put_back(self, tree: str) -> None:
        """Make the files equal a tree."""


def _as_it_is(_state: RunState, request: ModelRequest) -> ModelRequest:
    return request


def _ahead_it_goes(_draft: Mapping[str, object]) -> bool:
    return True


def _as_it_came(reply: ModelReply) -> ModelReply:
    return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """The four values in which a pipeline step and a chat turn differ, and what the loop needs to do its work.

    Attributes:
        context: builds what is sent from the state (the context policy).
        tools: what may be called, by name; enforced at dispatch whatever was offered.
        snapshot: tree of the workspace after a step and the patch since the tree before (None: nothing changed).
        price: cost of a reply in USD, None when the price is unknown.
        guard: remembers the workspace before a command; None where commands cannot change it.
        confirm: asks the person who is there about a call that a hook wants decided; None = the run waits for an answer.
        answered: what came up while a call was prepared (a person's answers), to be recorded with it.
        repeats_commands: a command in doubt is put back and run again; else, in a user's own folder, the model is told.
        shape: what is wished beyond the context: samples, a schema, how the answer begins.
        read: turns the words of a model that calls no tools into the calls that they mean.
        behind: the later stage whose calls may stand behind the submission in the same reply, up to its own; "" = none.
        goes_ahead: whether drafts of later stages that came with this draft can stand.
        shows_fresh: the context shows the files that were asked for as they are now; else the model knows them as it read them.
    """

    model: Model
    model_name: str
    context: Callable[[RunState], StepContext]
    tools: Mapping[str, Tool]
    tool_context: ToolContext
    policy: InvocationPolicy
    blobs: BlobStore
    snapshot: Callable[[RunState], tuple[str, bytes] | None]
    price: Callable[[ModelReply], float | None]
    max_output_tokens: int
    temperature: float | None
    on_delta: Callable[[str], None] | None = None
    on_thought: Callable[[str], None] | None = None
    behind: str = ""
    guard: Workspace | None = None
    confirm: Callable[[str], bool] | None = None
    answered: Callable[[], Iterable[Event]] = tuple
    shows_fresh: bool = True
    repeats_commands: bool = True
    shape: Callable[[RunState, ModelRequest], ModelRequest] = _as_it_is
    read: Callable[[ModelReply], ModelReply] = _as_it_came
    goes_ahead: Callable[[Mapping[str, object]], bool] = _ahead_it_goes
