"""Deleting by the syntax tree: the definition, what only it needed, and what only offered it on. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from agentforge.python_refactoring.edits import Edit, Unclear, cut, drop, edited, span
from agentforge.python_refactoring.project import Definition, PythonFile, PythonProject, SymbolReference, exported_texts

_Span = tuple[int, int]


def definitions(source: PythonFile, name: str) -> list[Definition]:
    """The statements that define a (dotted) name: one, or several of overloads, property and setter.

    Raises:
        Unclear: it is defined under a condition, or bound in another way, too.
    """
    body: Sequence[ast.stmt] = source.tree.body
    scope = source.names.module
    *owners, last = name.split(".")
    for owner in owners:
        found = next((one for one in body if isinstance(one, ast.ClassDef) and one.name == owner), None)
        if found is None:
            return []
        body = found.body
        scope = next(one for one in source.names.scopes if one.node is found)
    rows = [one for one in body if isinstance(one, Definition) and _defines(one, last)]
    heads = {id(part) for one in rows for part in (one, *_targets(one))}
    other = [node for node in scope.bound.get(last, []) if id(node) not in heads]
    if not rows and all(isinstance(node, ast.alias) for node in other):
        return []
    if rows and other:
        raise Unclear(f"{name} is bound again at {source.path}:{_line(other[0])}")
    if other:
        place = f"{source.path}:{_line(other[0])}"
        raise Unclear(f"{name} is not defined on its own at {place}: it stands under a condition or in a tuple")
    plain = [one for one in rows if isinstance(one, (ast.Assign, ast.AnnAssign))]
    if len(rows) > 1 and plain:
        raise Unclear(f"{name} is assigned several times in {source.path}")
    return rows


def _defines(node: Definition, name: str) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == name
    if isinstance(node, ast.Assign):
        return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name
    return isinstance(node.target, ast.Name) and node.target.id == name


def _targets(node: ast.stmt) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)


def lines_of(nodes: Iterable[ast.stmt]) -> list[_Span]:
    """First and last line of statements, decorators included."""
    return [
        (min([one.lineno, *(two.lineno for two in getattr(one, "decorator_list", []))]), one.end_lineno or one.lineno)
        for one in nodes
    ]


def within(line: int, spans: Iterable[_Span]) -> bool:
    """Whether a line lies in one of the spans."""
    return any(first <= line <= last for first, last in spans)


def without(
    project: PythonProject,
    source: PythonFile,
    gone: Sequence[ast.stmt],
    *,
    references: Sequence[SymbolReference] = (),
    added: Sequence[Edit] = (),
) -> str:
    """The text of a file without statements, without aliases and `__all__` entries that are among the references, and without the
    imports that nothing needs any more.

    Args:
        added: further edits.
    Raises:
        Unclear: a piece cannot be taken out.
    """
    mine = [one for one in references if one.source is source]
    spans = lines_of(gone)
    aliases = {one.node for one in mine if one.kind == "import" and isinstance(one.node, ast.alias)}
    aliases |= needless(project, source, spans)
    exports = {one.node for one in mine if one.kind == "export"}
    statements = _emptied(source, _aliases_out(source, aliases, spans)[0])
    blocks = [one for one in statements if isinstance(one, ast.If)]
    aliases |= needless(project, source, [*spans, *lines_of(blocks)]) if blocks else set()
    statements, edits = _aliases_out(source, aliases, spans)
    edits += _exports_out(source, exports)
    edits += cut(source.text, source.tree, [*gone, *_emptied(source, statements)])
    return edited(source.text, [*edits, *added])


def needless(project: PythonProject, source: PythonFile, spans: Sequence[_Span]) -> set[ast.alias]:
    """The imports at the top that only lines which go away use."""
    names, out = source.names, set[ast.alias]()
    listed = {one.value for one in exported_texts(source.tree)}
    for word, bound in names.module.bound.items():
        aliases = [one for one in bound if isinstance(one, ast.alias)]
        used = names.of(names.module, word)
        if len(aliases) != 1 or len(bound) != 1 or not used or word in listed:
            continue
        alias = aliases[0]
        on = alias.asname == alias.name
        if not on and all(within(one.line, spans) for one in used) and not _taken(project, source, word):
            out.add(alias)
    return out


def _taken(project: PythonProject, source: PythonFile, word: str) -> bool:
    """Whether another file imports an imported name from this one."""
    for other in project.sources.values():
        if other is source or word not in other.text:
            continue
        for alias, statement in other.names.imports.items():
            if alias.name in (word, "*") and isinstance(statement, ast.ImportFrom):
                dotted = project.imported_from(other, statement)
                if project.module_path(dotted) == source.path and (
                    alias.name == word or source.path.endswith("__init__.py")
                ):
                    return True
    return False


def _aliases_out(
    source: PythonFile, aliases: set[ast.alias], spans: Sequence[_Span]
) -> tuple[list[ast.stmt], list[Edit]]:
    """Whole import statements that go, and the edits of those that keep some of their names."""
    statements: list[ast.stmt] = []
    edits: list[Edit] = []
    for statement in dict.fromkeys(source.names.imports[one] for one in source.names.imports if one in aliases):
        if within(statement.lineno, spans):
            continue
        out = [one for one in statement.names if one in aliases]
        if len(out) == len(statement.names):
            statements.append(statement)
        else:
            edits += drop(source.text, statement.names, out)
    return statements, edits


def _emptied(source: PythonFile, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements; an `if TYPE_CHECKING:` as a whole where nothing else is in it."""
    out: list[ast.stmt] = []
    for node in statements:
        owner = source.names.parents.get(node)
        whole = isinstance(owner, ast.If) and not owner.orelse and all(one in statements for one in owner.body)
        out.append(
            owner if whole and isinstance(owner, ast.If) and "TYPE_CHECKING" in ast.unparse(owner.test) else node
        )
    return list(dict.fromkeys(out))


def _exports_out(source: PythonFile, gone: set[ast.AST]) -> list[Edit]:
    edits: list[Edit] = []
    for node in ast.walk(source.tree):
        if not isinstance(node, (ast.List, ast.Tuple)) or not any(one in gone for one in node.elts):
            continue
        left = [one for one in node.elts if one not in gone]
        if not left:
            start, end = _inside(source.text, node)
            edits.append(Edit(start=start, end=end))
        elif len(left) == 1 and isinstance(node, ast.Tuple):
            start, end = _inside(source.text, node)
            edits.append(Edit(start=start, end=end, text=f"{ast.unparse(left[0])},".replace("'", '"')))
        else:
            edits += drop(source.text, node.elts, [one for one in node.elts if one in gone])
    return edits


def _inside(text: str, node: ast.List | ast.Tuple) -> _Span:
    start, end = span(text, node)
    return start + 1, end - 1
