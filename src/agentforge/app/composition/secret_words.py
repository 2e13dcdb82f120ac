"""Words for people and records without the user's keys."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.errors import AgentForgeError
from agentforge.safety.text.redaction import known_secrets, redact


def hidden_keys(text: str, environ: Mapping[str, str]) -> str:
    """A text in which neither the values of the user's key variables nor anything shaped like a key stands."""
    return redact(text, secrets=known_secrets(environ)).text


def without_secrets(error: AgentForgeError, environ: Mapping[str, str]) -> AgentForgeError:
    """The same error; its words may repeat what a provider or a file said."""
    error.message = hidden_keys(error.message, environ)
    error.hint = hidden_keys(error.hint, environ)
    return error
