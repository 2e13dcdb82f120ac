"""What was found in files of tools, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from agentforge.tools.base import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was found in files.

    Attributes:
        tools: by name.
        origins: the file of each.
        refused: what was left out, `FILE` or `FILE: tool`, and why.
    """

    tools: Mapping[str, Tool]
    origins: Mapping[str, str]
    refused: Mapping[str, str]
