"""Lines of a sample that no example reaches: another sample is taken, or the lines are left out where they change nothing.

A line that is never run is behaviour that nobody asked for, and GREEN refuses it. It is left out only when calls that do
reach it give the same without it; where they do not, another sample is asked for: what such a call must give, no one has said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.facts.impact import near_tests
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import suite_files
from agentforge.pipeline.small_models.generation.units import Unit
from agentforge.pipeline.small_models.refactoring.splices import find_definition
from agentforge.suite import Edits, run_tree
from agentforge.testing.coverage import traced_of
from agentforge.verification.stages.statements import new_ones, statements

_LOOKED_AT = 3
_REACHED = "agentforge reached this"
Answers = Callable[[str], Sequence[str]]
"""What a text of the file gives for calls near the examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmedSample:
    """The text to write, or why none is good enough.

    Attributes:
        trimmed: lines were left out of the sample.
        missing: a line that no example reaches; "" when there is a text.
    """

    text: str = ""
    trimmed: bool = False
    missing: str = ""


def choose_reached(
    state: RunState, runtime: Runtime, unit: Unit, texts: Sequence[str], *, base: str, answers: Answers
) -> TrimmedSample:
    """The first text of which the tests run every line; else the first that can be trimmed to such a one.

    Args:
        texts: texts of the file with passing samples, the best first.
        base: the text of the file before.
    """
    missed = {text: unreached(state, runtime, unit, text, base=base) for text in texts[:_LOOKED_AT]}
    for text, lines in missed.items():
        if not lines:
            return TrimmedSample(text=text)
    for text, lines in missed.items():
        shorter = trimmed(text, unit.name, lines)
        same = bool(shorter) and _same_where_reached(text, shorter, unit.name, lines, answers)
        if same and not unreached(state, runtime, unit, shorter, base=base):
            return TrimmedSample(text=shorter, trimmed=True)
    first = texts[0]
    return TrimmedSample(missing=first.splitlines()[min(missed[first]) - 1].strip())


def unreached(state: RunState, runtime: Runtime, unit: Unit, text: str, *, base: str) -> frozenset[int]:
    """The first lines of new statements of a definition that the tests do not run; what only refuses does not count."""
    tests = tuple(dict.fromkeys([*suite_files(state), *near_tests(state)]))
    edits = Edits(files={unit.file: text.encode()})
    traced = traced_of(run_tree(runtime.rig(), runtime.guard.tree(), tests=tests, edits=edits, trace=True))
    if not traced.measured or traced.lost or traced.opaque:
        return frozenset()
    covered = traced.lines(unit.file)
    new = new_ones(statements(unit.file, text.encode()), statements(unit.file, base.encode()))
    own = (one for one in new if one.owner == unit.name or one.owner.startswith(f"{unit.name}."))
    return frozenset(one.first for one in own if not one.inert and not one.bits & covered)


def trimmed(text: str, name: str, lines: frozenset[int]) -> str:
    """The text without the branches that hold only such lines, "" when they cannot be left out alone."""
    return _changed(text, name, _Trim(lines))


def _same_where_reached(text: str, shorter: str, name: str, lines: frozenset[int], answers: Answers) -> bool:
    """Whether some calls reach what is left out, and all that do give the same without it."""
    marked = _changed(text, name, _Mark(lines))
    before, after, told = answers(text), answers(shorter), answers(marked)
    reached = [place for place, one in enumerate(told) if one != before[place]]
    return bool(reached) and list(before) == list(after)


def _changed(text: str, name: str, change: _Trim | _Mark) -> str:
    tree = ast.parse(text)
    node = find_definition(tree, name)
    if node is None:
        return ""
    indent, first, last = node.col_offset, node.lineno, node.end_lineno or node.lineno
    change.generic_visit(node)
    if change.changed == 0:
        return ""
    _keep_blocks(node)
    decorators, node.decorator_list = node.decorator_list, []
    told = ast.unparse(ast.fix_missing_locations(node))
    node.decorator_list = decorators
    lines = text.splitlines(keepends=True)
    new = "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in told.splitlines())
    return "".join([*lines[: first - 1], new, *lines[last:]])


def _keep_blocks(tree: ast.AST) -> None:
    """Give every block that lost all of its statements one that does nothing."""
    for node in ast.walk(tree):
        if getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]  # it has one


class _Branches(ast.NodeTransformer):
    """Finds the branches of which the first statement is never run."""

    def __init__(self, lines: frozenset[int]) -> None:
        self._lines = lines
        self.changed = 0

    def _never(self, body: Sequence[ast.stmt]) -> bool:
        return bool(body) and body[0].lineno in self._lines


class _Trim(_Branches):
    """Leaves such branches out: a test that is never true, an `else` that is never reached, handlers that never handle."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt] | None:
        """Keep the branch that is run."""
        self.generic_visit(node)
        if self._never(node.body):
            self.changed += 1
            return node.orelse or None
        if self._never(node.orelse):
            self.changed += 1
            return node.body
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        """Keep what is tried."""
        self.generic_visit(node)
        if not node.finalbody and node.handlers and all(self._never(one.body) for one in node.handlers):
            self.changed += 1
            return [*node.body, *node.orelse]
        return node


class _Mark(_Branches):
    """Lets such branches say that they were reached."""

    def visit_If(self, node: ast.If) -> ast.AST:
        """Mark either branch."""
        self.generic_visit(node)
        node.body = self._marked(node.body)
        node.orelse = self._marked(node.orelse)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """Mark a handler."""
        self.generic_visit(node)
        node.body = self._marked(node.body)
        return node

    def _marked(self, body: list[ast.stmt]) -> list[ast.stmt]:
        if not self._never(body):
            return body
        self.changed += 1
        return ast.parse(f"raise RecursionError({_REACHED!r})").body
