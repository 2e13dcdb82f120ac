"""Which bodies a commit edits, which old tests it touches, and whether a context shows them; else why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.context.minimal import StepContext
from agentforge.pipeline.context.excerpts_of_tests import tests_in
from agentforge.pipeline.model.prompt_text import terms_of
from agentforge.workspace.code.relevance import RelevantFile, rank
from agentforge.workspace.code.symbols import Symbol, outline_of, read_source
from bench.recall_corpus import Truth, inline_tests
from bench.recall_seen import Seen, Share

_RANKED = 8
_OLD_TEST = 3  # lines of an old test that a new one is written after


@dataclass(frozen=True, slots=True)
class Body:
    """A definition that a commit edits, or the old test beside which it writes: its lines that have to be seen.

    Attributes:
        name: qualified; "" outside of all definitions.
        kind: of the definition, "" outside of all.
    """

    path: str
    name: str
    kind: str
    lines: Mapping[int, str]

    def is_shown(self, seen: Seen) -> bool:
        """Whether all of its lines are shown."""
        return not self.gone(seen)

    def gone(self, seen: Seen) -> list[int]:
        """Its lines that are not shown."""
        return [number for number, row in self.lines.items() if not seen.line(self.path, number, row)]


def edited_bodies(truth: Truth, root: Path) -> list[Body]:
    """The innermost definitions around the edited lines: their first line and these lines.

    A line between two definitions belongs to none, and neither does what is only inserted there: nothing old is edited.
    """
    found: dict[tuple[str, int], Body] = {}
    for path in truth.files:
        text = read_source(root, path) or ""
        rows, symbols = text.split("\n"), outline_of(path, text).symbols
        skipped = inline_tests(symbols)
        edited = {line for first, last in truth.edited.get(path, ()) for line in range(first, last + 1)}
        inserted = {line: line for line in truth.inserted.get(path, ())}
        for line in sorted(edited | inserted.keys()):
            around = innermost(symbols, line)
            inside = around is not None and (line in edited or line < around.end_line)
            if line in skipped or not 0 < line <= len(rows) or (line not in edited and not inside):
                continue
            key = (path, around.line if inside and around is not None else 0)
            known = found.get(key)
            lines = dict(known.lines) if known else {}
            if around is not None and inside:
                lines[around.line] = rows[around.line - 1]
            lines[line] = rows[line - 1]
            name, kind = (around.qualified, around.kind) if around is not None and inside else ("", "")
            found[key] = Body(path, name, kind, {number: lines[number] for number in sorted(lines)})
    return [body for body in found.values() if any(row.strip() for row in body.lines.values())]


def old_tests(truth: Truth, root: Path) -> list[Body]:
    """The old tests that a commit edits or writes beside: the lines around the edit, or the end of the test before it."""
    found = []
    for path, hunks in truth.test_hunks.items():
        text = read_source(root, path) or ""
        rows = text.split("\n")
        symbols = tests_in(path, text)
        for first, last in hunks:
            around = innermost(symbols, first)
            before = max((one for one in symbols if one.end_line <= first), key=lambda one: one.end_line, default=None)
            one = around or before
            if one is None:
                continue
            numbers = {*range(first, last + 1)} if around else {*range(one.end_line - _OLD_TEST + 1, one.end_line + 1)}
            lines = {number: rows[number - 1] for number in sorted(numbers) if 0 < number <= len(rows)}
            body = Body(path, one.qualified, "test", lines)
            if body not in found and any(row.strip() for row in lines.values()):
                found.append(body)
    return found


def innermost(symbols: Sequence[Symbol], line: int) -> Symbol | None:
    """The innermost definition around a line."""
    found = [symbol for symbol in symbols if symbol.line <= line <= symbol.end_line]
    return max(found, key=lambda symbol: (symbol.line, -symbol.end_line), default=None)


def bodies_share(seen: Seen, bodies: Sequence[Body]) -> Share:
    """How many bodies are shown."""
    return sum(body.is_shown(seen) for body in bodies), len(bodies)


def reasons(request: str, bodies: Sequence[Body], seen: Seen, context: StepContext, root: Path) -> Iterator[str]:
    """A line for each body that is not shown: where it stands among the candidates, and what became of its lines."""
    ranked = rank(root, terms_of(request), text=request, limit=_RANKED)
    sources = [one for one in ranked if not one.is_test]
    for body in bodies:
        gone = body.gone(seen)
        if gone:
            what = f"{body.path} {body.name or 'outside of definitions'} {body.kind}".strip()
            why = f"{_place(body, sources)}; {_fate(body, gone, context)}"
            yield f"{what}: {len(gone)} of {len(body.lines)} lines not shown ({why})"


def _place(body: Body, sources: Sequence[RelevantFile]) -> str:
    place = next((number for number, one in enumerate(sources, start=1) if one.path == body.path), 0)
    if not place:
        return "its file is no candidate"
    names = [symbol.qualified for symbol in sources[place - 1].symbols]
    if body.name not in names:
        return f"file {place}, not among its candidates"
    return f"file {place}, candidate {names.index(body.name) + 1} of {len(names)}"


def _fate(body: Body, gone: Sequence[int], context: StepContext) -> str:
    for row in context.left_out:
        if row["name"] == body.path and _holds(str(row["lines"]), gone):
            return f"no room: {row['why']}"
    return "not wanted"


def _holds(told: str, numbers: Sequence[int]) -> bool:
    spans = [part.strip().partition("-") for part in told.partition(" and ")[0].split(",") if part.strip()]
    ranges = [(int(first), int(last or first)) for first, _, last in spans]
    return any(first <= number <= last for first, last in ranges for number in numbers)
