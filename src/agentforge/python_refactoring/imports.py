"""Import statements put into a file: joined to one that is there, else in their group, as a sorted file has them. Pure."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from agentforge.python_refactoring.edits import Edit, Unclear, edited, offset, span
from agentforge.python_refactoring.project import PythonFile, PythonProject

_Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportNeed:
    """One name that a file has to import.

    Attributes:
        module: what stands behind `from`, dots included; "" = `import name`.
        alias: behind `as`, "" none.
        typing: only type checkers need it.
    """

    module: str
    name: str
    alias: str = ""
    typing: bool = False

    @property
    def word(self) -> str:
        """What it binds."""
        return self.alias or (self.name if self.module else self.name.partition(".")[0])

    @property
    def line(self) -> str:
        """As a statement."""
        said = f"{self.name} as {self.alias}" if self.alias else self.name
        return f"from {self.module} import {said}" if self.module else f"import {said}"


def need_of(
    source: PythonFile, alias: ast.alias, *, project: PythonProject, target: PythonFile | None = None
) -> ImportNeed:
    """What another file has to import to have the same name.

    Args:
        target: the file that is to have it; a relative import is told from there.
    """
    statement = source.names.imports[alias]
    owner = source.names.parents.get(statement)
    typing = isinstance(owner, ast.If) and "TYPE_CHECKING" in ast.unparse(owner.test)
    if not typing and not isinstance(owner, ast.Module):
        raise Unclear(f"{alias.asname or alias.name} is imported under a condition at {source.path}:{statement.lineno}")
    if isinstance(statement, ast.Import):
        return ImportNeed(module="", name=alias.name, alias=alias.asname or "", typing=typing)
    module = statement.module or ""
    if statement.level:
        dotted = project.imported_from(source, statement)
        module = relative(dotted, target) if target is not None else dotted
    return ImportNeed(module=module, name=alias.name, alias=alias.asname or "", typing=typing)


def relative(dotted: str, source: PythonFile) -> str:
    """A module as a file says it that imports relatively: `.name` of its own package, else the whole name."""
    if source.package and dotted.startswith(f"{source.package}."):
        return "." + dotted.removeprefix(f"{source.package}.")
    parent = source.package.rpartition(".")[0]
    if parent and dotted.startswith(f"{parent}."):
        return ".." + dotted.removeprefix(f"{parent}.")
    return dotted


def module_for(source: PythonFile, dotted: str, *, like: PythonFile | None = None) -> str:
    """How a file names another module of the project: relatively where it does so with its neighbours.

    Args:
        like: the file whose way a new file follows.
    """
    related = bool(source.package) and dotted.partition(".")[0] == source.module.partition(".")[0]
    shown = source if source.text.strip() or like is None else like
    relatively = any(isinstance(one, ast.ImportFrom) and one.level for one in shown.names.imports.values())
    return relative(dotted, source) if related and relatively else dotted


def with_imports(text: str, needs: Sequence[ImportNeed], *, own: Sequence[str] = ()) -> str:
    """The text with what it needs to import; what it imports already is left out.

    Args:
        own: first names of the project's own modules.
    """
    for need in dict.fromkeys(needs):
        tree = ast.parse(text)
        if need.typing:
            text = _for_checkers(text, tree, need, own=own)
        elif not _has(tree.body, need):
            text = _put(text, tree, need, own=own)
    return text


def _has(body: Sequence[ast.stmt], need: ImportNeed) -> bool:
    wanted = ast.dump(ast.parse(need.line).body[0])
    for node in body:
        if isinstance(node, ast.ImportFrom):
            rows = [ast.ImportFrom(module=node.module, names=[one], level=node.level) for one in node.names]
        elif isinstance(node, ast.Import):
            rows = [ast.Import(names=[one]) for one in node.names]  # type: ignore[misc]  # both are imports
        else:
            continue
        if any(ast.dump(row) == wanted for row in rows):
            return True
    return False


def _put(text: str, tree: ast.Module, need: ImportNeed, *, own: Sequence[str]) -> str:
    imports = _block(tree)
    same = [
        one
        for one in imports
        if isinstance(one, ast.ImportFrom) and "." * one.level + (one.module or "") == need.module
    ]
    if same and need.module:
        return _joined(text, same[0], need)
    rank = _rank(ast.parse(need.line).body[0], own)
    before = [one for one in imports if _rank(one, own) <= rank]
    after = [one for one in imports if _rank(one, own) > rank]
    if after and _rank(after[0], own)[0] == rank[0]:
        return _inserted(text, after[0].lineno - 1, f"{need.line}\n")
    if before:
        gap = "" if _rank(before[-1], own)[0] == rank[0] else "\n"
        line = before[-1].end_lineno or before[-1].lineno
        return _inserted(text, line, f"{gap}{need.line}\n{'' if _blank(text, line) or not gap else chr(10)}")
    if after:
        return _inserted(text, after[0].lineno - 1, f"{need.line}\n\n")
    documented = bool(tree.body) and ast.get_docstring(tree, clean=False) is not None
    line = (tree.body[0].end_lineno or 1) if documented else _head(text)
    rest = tree.body[1:] if documented else tree.body
    lines = text.splitlines(keepends=True)
    body = "".join(lines[line:]).lstrip("\n")
    gap = "\n\n" if rest and isinstance(rest[0], (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else "\n"
    return "".join(lines[:line]) + ("\n" if line else "") + f"{need.line}\n" + (f"{gap}{body}" if body else "")


def _blank(text: str, line: int) -> bool:
    """Whether a line, counted from 0, is blank or not there."""
    lines = text.splitlines()
    return line >= len(lines) or not lines[line].strip()


def _head(text: str) -> int:
    """Lines of a shebang, a coding mark or a licence at the top; a comment that belongs to the first statement is none."""
    lines = text.splitlines()
    count = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if count < len(lines) and lines[count].strip():
        return sum(line.startswith(("#!", "# -*-")) for line in lines[:2])
    return count


def _inserted(text: str, line: int, piece: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines and line and not lines[line - 1].endswith("\n"):
        lines[line - 1] += "\n"
    return "".join([*lines[:line], piece, *lines[line:]])


def _block(tree: ast.Module) -> list[_Import]:
    """The imports at the top of a file, before its first other statement."""
    out: list[_Import] = []
    for number, node in enumerate(tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            out.append(node)
        elif not (number == 0 and isinstance(node, ast.Expr)) and not isinstance(node, (ast.If, ast.Try)):
            break
    return out


def _rank(node: ast.stmt, own: Sequence[str]) -> tuple[int, int, str]:
    """Where sorted imports have a statement: future, standard library, others, own, relative."""
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
    top, level = module.partition(".")[0], node.level if isinstance(node, ast.ImportFrom) else 0
    if module == "__future__":
        group = 0
    elif level:
        group = 4
    else:
        group = 1 if top in sys.stdlib_module_names else 3 if top in own else 2
    return group, int(isinstance(node, ast.ImportFrom)), module


def _joined(text: str, node: ast.ImportFrom, need: ImportNeed) -> str:
    said = f"{need.name} as {need.alias}" if need.alias else need.name
    if any(one.name == "*" for one in node.names):
        return _inserted(text, node.end_lineno or node.lineno, f"{need.line}\n")
    later = next((one for one in node.names if one.name > need.name), None)
    if node.lineno == node.end_lineno or later is None:
        last = span(text, node.names[-1])[1]
        if later is not None:
            return edited(text, [Edit(start=span(text, later)[0], end=span(text, later)[0], text=f"{said}, ")])
        own_line = text[offset(text, node.names[-1].lineno, 0) : span(text, node.names[-1])[0]]
        sign = f",\n{own_line}" if not own_line.strip() and node.lineno != node.end_lineno else ", "
        return edited(text, [Edit(start=last, end=last, text=f"{sign}{said}")])
    start = span(text, later)[0]
    indent = text[offset(text, later.lineno, 0) : start]
    sign = f",\n{indent}" if not indent.strip() else ", "
    return edited(text, [Edit(start=start, end=start, text=f"{said}{sign}")])


def _for_checkers(text: str, tree: ast.Module, need: ImportNeed, *, own: Sequence[str]) -> str:
    """Under `if TYPE_CHECKING:`."""
    block = next(
        (one for one in tree.body if isinstance(one, ast.If) and "TYPE_CHECKING" in ast.unparse(one.test)), None
    )
    if block is not None:
        if _has(block.body, need) or _has(tree.body, need):
            return text
        indent = " " * block.body[0].col_offset
        return _inserted(text, block.body[-1].end_lineno or block.body[-1].lineno, f"{indent}{need.line}\n")
    if _has(tree.body, need):
        return text
    text = with_imports(text, [ImportNeed(module="typing", name="TYPE_CHECKING")], own=own)
    imports = _block(ast.parse(text))
    return _inserted(text, imports[-1].end_lineno or 1, f"\nif TYPE_CHECKING:\n    {need.line}\n")
