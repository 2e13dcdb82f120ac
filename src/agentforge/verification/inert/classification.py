"""Does a change leave everything that runs as it was? Measured file by file: documents, types, settings that nothing reads.

A requirement that is verified by inspection has no test, so this measurement is what shows that it needed none.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from agentforge.verification.inert.context import InertContext, InertDifference, Kind, Mentions, is_python, text_of
from agentforge.verification.inert.files import looked_at_file
from agentforge.verification.inert.python import (
    InertShape,
    Readers,
    evaluated,
    first_difference,
    imported_from,
    shape_of,
)
from agentforge.verification.inert.source import TOOLS, source_rows
from agentforge.workspace.code.symbols import language_of, parse_python
from agentforge.workspace.git.diff import Change
from agentforge.workspace.git.repository import Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Inertness:
    """What a change is, where it alters nothing that runs, and where it does."""

    kinds: tuple[Kind, ...]
    differences: tuple[InertDifference, ...]
    files: Mapping[str, Kind] = field(default_factory=dict)
    """What was changed in each file that runs as before."""

    @property
    def words(self) -> str:
        """`documentation only`, `documentation and types only`."""
        return f"{' and '.join(self.kinds)} only" if self.kinds else ""


def inertness(
    changed: Sequence[Change], *, before: Read, after: Read, files: Sequence[str], mentions: Mentions
) -> Inertness:
    """Compare the changed files as they run.

    Args:
        files: all paths of the changed tree.
        mentions: which files of the changed tree hold a word.
    """
    ground = InertContext(before, after, frozenset(files), mentions)
    kinds: dict[str, Kind] = {}
    differences: list[InertDifference] = []
    for change in changed:
        found = _looked_at(change, ground)
        if isinstance(found, InertDifference):
            differences.append(found)
        else:
            kinds[change.path] = found
    return Inertness(kinds=tuple(dict.fromkeys(kinds.values())), differences=tuple(differences), files=kinds)


def _looked_at(change: Change, ground: InertContext) -> Kind | InertDifference:
    path = change.path
    if change.status == "type-changed":
        return InertDifference(path=path, line=0, why="is another sort of file now")
    if change.status == "modified" and ground.before(path) == ground.after(path):
        return InertDifference(path=path, line=0, why="may be run as a program now, or may no longer be")
    said = looked_at_file(path, ground)
    if said is not None:
        return said
    if is_python(path):
        return _python(change, ground)
    if language_of(path) is not None:
        return _source(change, ground)
    return InertDifference(path=path, line=0, why="is neither a document nor code that can be compared")


def _python(change: Change, ground: InertContext) -> Kind | InertDifference:
    path = change.path
    if change.status == "deleted":
        return InertDifference(path=path, line=0, why="is gone")
    pure = PurePosixPath(path)
    if change.status == "added" and (
        pure.name in ("__init__.py", "conftest.py") or pure.stem in sys.stdlib_module_names
    ):
        return InertDifference(path=path, line=0, why="is new and changes what an import finds")
    old, new = text_of(ground.before(path)), text_of(ground.after(path))
    trees = parse_python(old), parse_python(new)
    if not all(isinstance(one, ast.Module) for one in trees):
        return InertDifference(path=path, line=0, why="cannot be read as Python")
    said = _changed_comment(_python_comments(old), _python_comments(new))
    if said:
        return InertDifference(
            path=path, line=_line_of(said, new, old), why=f"has a comment that tools read: {said[:80]}"
        )
    bare, now = _shapes(old, new, ground.nobody, annotations=True)
    line = first_difference(bare.rows, now.rows)
    if line is not None:  # whoever reads docstrings or annotations: nobody need be looked for
        return InertDifference(path=path, line=line, why=f"runs otherwise: {_statement(old, new, line)}")
    before, after = _shapes(old, new, ground.readers(), annotations=False)
    if first_difference(before.rows, after.rows) is None:
        return "documentation"
    before, after = _shapes(old, new, ground.readers(), annotations=True)
    line = first_difference(before.rows, after.rows)
    if line is not None:
        return InertDifference(path=path, line=line, why=_why(ground.readers(), _statement(old, new, line)))
    if after.unbound:
        name, line = after.unbound[0]
        return InertDifference(
            path=path, line=line, why=f"evaluates the annotation {name} when the file is loaded, where it is unbound"
        )
    lost = _still_imported(path, before.dropped - after.dropped - _bound(new), ground)
    return lost or "types"


def _shapes(old: str, new: str, readers: Readers, *, annotations: bool) -> tuple[InertShape, InertShape]:
    known = evaluated(ast.parse(old))
    return (
        shape_of(ast.parse(old), readers, annotations=annotations, known=known),
        shape_of(ast.parse(new), readers, annotations=annotations, known=known),
    )


def _why(readers: Readers, line: str) -> str:
    """What is on the line, and who reads docstrings and annotations, where somebody does."""
    read = [
        f"{place} reads {what}"
        for what, place in (("docstrings", readers.docs), ("annotations", readers.annotations))
        if place
    ]
    more = f" ({'; '.join(read)})" if read else ""
    return f"runs otherwise: {line}{more}"


def _statement(old: str, new: str, line: int) -> str:
    return (_nth(new, line) or _nth(old, line)).strip()[:100]


def _bound(text: str) -> frozenset[str]:
    names = (one for one in ast.walk(ast.parse(text)))
    found = set()
    for one in names:
        if isinstance(one, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in one.names}
        elif isinstance(one, ast.ClassDef):
            found.add(one.name)
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            found.add(one.id)
    return frozenset(found)


def _still_imported(path: str, gone: frozenset[str], ground: InertContext) -> InertDifference | None:
    """A name of a type that is gone and that another file takes from this one."""
    pure = PurePosixPath(path)
    stem = pure.parent.name if pure.name == "__init__.py" else pure.stem
    for name in sorted(gone - {"annotations"}):
        for other in ground.mentions(name):
            tree = parse_python(text_of(ground.after(other))) if is_python(other) and other != path else ""
            if isinstance(tree, ast.Module) and name in imported_from(tree, stem):
                return InertDifference(path=path, line=0, why=f"no longer has {name}, which {other} imports")
    return None


def _python_comments(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and TOOLS.search(token.string):
                found[token.string] += 1
    except (tokenize.TokenError, SyntaxError):
        found[text] += 1
    return found


def _source(change: Change, ground: InertContext) -> Kind | InertDifference:
    path = change.path
    if change.status == "deleted":
        return InertDifference(path=path, line=0, why="is gone")
    old, new = text_of(ground.before(path)), text_of(ground.after(path))
    for types in (False, True):
        before, after = source_rows(path, old, types=types), source_rows(path, new, types=types)
        if before is None or after is None:
            return InertDifference(path=path, line=0, why="cannot be compared: its language has no grammar here")
        said = _changed_comment(Counter(before[1]), Counter(after[1]))
        if said:
            return InertDifference(
                path=path, line=_line_of(said, new, old), why=f"has a comment that tools read: {said[:80]}"
            )
        line = first_difference(before[0], after[0])
        if line is None:
            return "types" if types else "documentation"
    return InertDifference(path=path, line=line or 0, why=f"runs otherwise: {_nth(new, line or 0).strip()[:100]}")


def _changed_comment(old: Counter[str], new: Counter[str]) -> str:
    return next(iter([*(new - old), *(old - new)]), "")


def _line_of(said: str, *texts: str) -> int:
    first = said.splitlines()[0]
    for text in texts:
        for number, line in enumerate(text.splitlines(), start=1):
            if first in line:
                return number
    return 0


def _nth(text: str, line: int) -> str:
    lines = text.splitlines()
    return lines[line - 1] if 0 < line <= len(lines) else ""
