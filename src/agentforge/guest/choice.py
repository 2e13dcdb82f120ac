"""Which agent does a stage's work, and what it gets beyond our walls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from agentforge.frozen import dataclass
from agentforge.workspace.sandbox.box import Network

TIMEOUT_S = 1800.0
CALLS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestChoice:
    """An agent that does a stage.

    Attributes:
        name: `acp:COMMAND`, as it stands in the settings and in the log.
        argv: the command.
        network: what it may reach; an agent that asks a model needs the model's host.
        env: variables that it gets on top of the allow-list.
        readable: paths outside the workspace that it may read, such as its own settings.
        timeout_s: for one prompt.
        calls: tool calls for one prompt.
        auth: the method by which it is logged in, "" = it needs none.
    """

    name: str
    argv: tuple[str, ...]
    network: Network = "off"
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    readable: tuple[Path, ...] = ()
    timeout_s: float = TIMEOUT_S
    calls: int = CALLS
    auth: str = ""
