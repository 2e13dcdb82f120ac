"""Provider local: a model on this machine, served by a child process that all projects share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.local.files import file_of
from agentforge.local.serving import Wanted
from agentforge.models.api.hosted import HostedModel
from agentforge.models.dialects.constrained import ConstrainedModel
from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from agentforge.models.transport.local_connection import NOWHERE, LocalConnection

if TYPE_CHECKING:
    from agentforge.models.api.model import ModelSpec

_READ_S = 1800.0
"""Silence that is borne: a busy machine reads a long prompt for many minutes before it says the first word."""


def open_model(spec: ModelSpec) -> ConstrainedModel:
    """Open a model of the catalogue, or the one in a GGUF file. Its server is started when it is first asked."""
    folder = Path(spec.folder)
    wanted = Wanted(folder=folder / "serving", file=file_of(spec.name, folder), wishes=spec.serving)
    connection = LocalConnection(wanted, read_timeout_s=max(spec.read_timeout_s, _READ_S))
    return ConstrainedModel(HostedModel(spec, OPENAI_CHAT, base_url=NOWHERE, connection=connection))
