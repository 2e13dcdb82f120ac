"""Why a text was not found in a file, told so that the next try can be right."""

from __future__ import annotations

import re

from agentforge.toolbox._files import numbered
from agentforge.workspace.files.patch import nearest_lines

_NUMBERED_LINE = re.compile(r"\s*\d+[ \t:|]")
_LONGEST_BLOCK = 40


def explain(content: str, wanted: str) -> str:
    """Say what stands in the file instead of the wanted text, with line numbers."""
    plain = _without_numbers(wanted)
    if plain != wanted and plain in content:
        return "old_string holds the line numbers of read_file; leave them out."
    block = _same_but_for_space(content, plain)
    if block is not None:
        start, lines = block
        return f"These lines differ from old_string only in white space:\n{numbered(lines, first=start)}"
    block = _mostly_equal(content, plain)
    if block is not None:
        start, lines = block
        return f"The nearest block, of which most lines are equal:\n{numbered(lines, first=start)}"
    near = nearest_lines(content, wanted)
    return "\n".join(["Nearest lines:", *near]) if near else "No line is similar."


def _without_numbers(wanted: str) -> str:
    lines = wanted.split("\n")
    if not all(_NUMBERED_LINE.match(line) for line in lines if line.strip()):
        return wanted
    return "\n".join(_NUMBERED_LINE.sub("", line, count=1) for line in lines)


def _same_but_for_space(content: str, wanted: str) -> tuple[int, list[str]] | None:
    """The first block of lines that equals the wanted ones but for white space: its first line, its lines."""
    asked = ["".join(line.split()) for line in wanted.strip("\n").split("\n")]
    if not any(asked) or len(asked) > _LONGEST_BLOCK:
        return None
    lines = content.split("\n")
    bare = ["".join(line.split()) for line in lines]
    for at in range(len(lines) - len(asked) + 1):
        if bare[at : at + len(asked)] == asked:
            return at + 1, lines[at : at + len(asked)]
    return None


def _mostly_equal(content: str, wanted: str) -> tuple[int, list[str]] | None:
    """The block of lines of which most equal the wanted ones, line by line: its first line, its lines."""
    asked = [line.strip() for line in wanted.strip("\n").split("\n")]
    if not 2 <= len(asked) <= _LONGEST_BLOCK:
        return None
    lines = content.split("\n")
    bare = [line.strip() for line in lines]

    def equal(at: int) -> int:
        return sum(bool(line) and line == have for line, have in zip(asked, bare[at:], strict=False))

    best = max(range(len(lines)), key=equal)
    if equal(best) * 2 < sum(map(bool, asked)):
        return None
    return best + 1, lines[best : best + len(asked)]
