"""Limits from the values of a record. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import cast

from agentforge.events.state.run_state import Limits


def limits_from(value: Mapping[str, object], base: Limits | None = None) -> Limits:
    """Limits with the fields of `value` set; unknown names are ignored (an older program reads a newer log)."""
    known = {item.name for item in fields(Limits)}
    return replace(base or Limits(), **cast("dict[str, int]", {k: v for k, v in value.items() if k in known}))
