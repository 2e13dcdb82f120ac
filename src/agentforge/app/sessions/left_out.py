"""What a project brings and a conversation goes without, because nobody agreed to it: told when the conversation begins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentforge.config.paths import project_tops
from agentforge.config.steering import OF_A_CONVERSATION, OF_OTHER_AGENTS
from agentforge.config.trust import trusted

_SHOWN = 8
_OF_A_BARE_ONE = ("hook", "environment")


def left_out(root: Path, environ: Mapping[str, str], *, bare: bool = False) -> tuple[str, ...]:
    """Name the files and settings of the project that a conversation in a folder does not use.

    Instructions of inner folders are not looked for here; they are told when the conversation meets them.

    Args:
        bare: the conversation uses the fewest parts of a project.
    """
    kinds = _OF_A_BARE_ONE if bare else OF_A_CONVERSATION
    pending = [
        one for top in project_tops(root, environ) for one in trusted(top, environ, kinds=("mcp",)).pending(kinds)
    ]
    return tuple(dict.fromkeys(one.name for one in pending if one.name not in OF_OTHER_AGENTS))


def words_about(names: tuple[str, ...]) -> str:
    """The same in one line for people, with the command that changes it; "" where nothing is left out."""
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        f"you have not agreed to what this project brings, so it is left out: {', '.join(names[:_SHOWN])}{more}."
        " Look at it, then run `agentforge trust`"
    )
