"""Writes that would put the placeholder of a secret into a file: told to the model instead of done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.tools.base import Observation, ToolError

if TYPE_CHECKING:
    from agentforge.tools.base import Tool

_PLACEHOLDER = re.compile(r"\[redacted: [a-z-]+\]")


def refuse_placeholders(tool: Tool, arguments: Mapping[str, object], root: Path) -> None:
    """Refuse a write whose text holds a placeholder that does not stand in the file itself.

    Either the model saw a file without its secret and gives the placeholder back, or its own text held something in the
    shape of a secret, which was taken out before it was recorded. Both would damage the file.

    Raises:
        ToolError: the write must not happen.
    """
    if tool.effect != "write":
        return
    meant = [found for text in _texts(arguments) if "[redacted: " in text for found in _PLACEHOLDER.findall(text)]
    if not meant:
        return
    known = "".join(_content(root / path) for path in tool.writes(arguments))
    strange = next((found for found in meant if found not in known), None)
    if strange is None:
        return
    raise ToolError(
        Observation(
            status="error",
            summary=f"{tool.name}: {strange} is a placeholder for a secret; nothing was written",
            text=(
                f"Nothing was written. {strange} stands where a secret was taken out: the file holds the secret itself, you"
                " never see it. Edit the lines around it and leave that line alone. If your own text held something in the"
                " shape of a secret, build it from parts or read it from the environment instead."
            ),
            error_type="redacted",
            retryable=True,
            next_actions=("choose an old_string without the placeholder", "replace only lines without a secret"),
        )
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _content(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError:  # no such file, or a folder: the write itself says so
        return ""
