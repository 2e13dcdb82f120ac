"""The plan of a move: the definitions with what they need, and every file that takes them from the old module. Pure."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from agentforge.python_refactoring.circles import new_circle
from agentforge.python_refactoring.edits import Edit, Unclear, drop, edited, offset, segment, span, statement_text
from agentforge.python_refactoring.imports import ImportNeed, module_for, need_of, relative, with_imports
from agentforge.python_refactoring.plan import RefactoringPlan, Target, is_fresh_path, path_of, shown_places
from agentforge.python_refactoring.project import (
    PythonFile,
    PythonProject,
    SymbolReference,
    exported_texts,
    plain_mentions,
    references,
    spellings_of,
)
from agentforge.python_refactoring.removal import definitions, lines_of, within, without
from agentforge.python_refactoring.request import RefactoringRequest

_OF_THE_FILE = ("__name__", "__file__", "__package__", "__spec__", "__path__")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Move:
    """What goes where."""

    project: PythonProject
    source: PythonFile
    target: PythonFile
    names: tuple[str, ...]
    nodes: tuple[ast.stmt, ...]
    reexport: bool

    @property
    def spans(self) -> list[tuple[int, int]]:
        return lines_of(self.nodes)

    @property
    def own(self) -> list[str]:
        """First names of the project's modules."""
        return sorted({one.partition(".")[0] for one in (*self.project.modules, self.target.module)})

    def told(self, name: str) -> str:
        return f"{name} cannot be moved from {self.source.path} to {self.target.path} by the tree alone"


def move(project: PythonProject, wanted: RefactoringRequest, targets: Sequence[Target]) -> RefactoringPlan:
    """Move definitions from the top of one file to another one.

    Raises:
        Unclear: the tree cannot tell how, or the two modules would import each other.
    """
    going = _prepared(project, wanted, targets)
    found = [one for name in going.names for one in references(project, going.source.path, name)]
    found = [one for one in found if not (one.source is going.source and within(one.line, going.spans))]
    _refuse(going, found)
    files: dict[str, str] = {going.target.path: _arrived(going, found)}
    files[going.source.path] = _left(going, found)
    for path in sorted({one.source.path for one in found} - set(files)):
        text = _updated(going, project.sources[path], [one for one in found if one.source.path == path])
        if text != project.sources[path].text:
            files[path] = text
    for path, text in files.items():
        _parses(path, text)
    circle = new_circle(project, files, target=going.target)
    if circle:
        raise Unclear(f"after the move modules would import each other: {' -> '.join(circle)}")
    kinds = {one.name: one.kind for one in targets}
    symbols = [(name, going.target.path, kinds[name], "new") for name in going.names]
    symbols += [(name, going.source.path, kinds[name], "removed") for name in going.names]
    told = f"{', '.join(going.names)} moves from {going.source.path} to {going.target.path}"
    return RefactoringPlan(files=files, symbols=tuple(symbols), told=told, targets=tuple(targets))


def _prepared(project: PythonProject, wanted: RefactoringRequest, targets: Sequence[Target]) -> _Move:
    source = targets[0].source
    if any(one.source is not source for one in targets):
        raise Unclear(
            f"{', '.join(one.shown for one in targets)} stand in several files: move them one after the other"
        )
    inner = [one.name for one in targets if "." in one.name]
    if inner:
        raise Unclear(f"{inner[0]} is part of a class: only what stands at the top of a file is moved by the tree")
    target = _destination(project, wanted, source)
    if target.path == source.path:
        raise Unclear(f"{targets[0].name} stands in {source.path} already")
    names = [one.name for one in targets]
    nodes = [node for name in names for node in definitions(source, name)]
    nodes.sort(key=lambda node: node.lineno)
    bound = [name for name in names if _bound_in(project, target, name, (source.path, name))]
    if bound:
        raise Unclear(f"{target.path} has a {bound[0]} already")
    return _Move(
        project=project, source=source, target=target, names=tuple(names), nodes=tuple(nodes), reexport=wanted.reexport
    )


def _bound_in(project: PythonProject, target: PythonFile, name: str, meaning: tuple[str, str]) -> bool:
    """Whether a file binds a name at its top to something else."""
    rows = target.names.module.bound.get(name, [])
    return any(not isinstance(one, ast.alias) or project.meaning(target, one) != meaning for one in rows)


def _destination(project: PythonProject, wanted: RefactoringRequest, source: PythonFile) -> PythonFile:
    path = path_of(project, wanted.target)
    if path:
        return project.sources[path]
    if not wanted.fresh:
        raise Unclear(
            f"the project has no module {wanted.target}; if it is to be a new one, say: to a new module {wanted.target} (--new)"
        )
    name = wanted.target if wanted.target.endswith(".py") else f"{wanted.target.replace('.', '/')}.py"
    folder = PurePosixPath(source.path).parent
    first = name.partition("/")[0]
    known = any(one.startswith(f"{first}/") for one in project.sources)
    path = (
        name if "/" in name and known else str(folder / PurePosixPath(name).name if "/" not in name else folder / name)
    )
    if not is_fresh_path(path):
        raise Unclear(f"{wanted.target} is no path of a Python file inside of the project")
    stem = path.removesuffix(".py").replace("/", ".")
    prefix = source.path.removesuffix(".py").replace("/", ".").removesuffix(source.module)
    return PythonFile(path=path, text="", module=stem.removeprefix(prefix) if prefix else stem)


def _refuse(going: _Move, found: Sequence[SymbolReference]) -> None:
    texts = [one.place for one in found if one.kind == "text"]
    words = [f"{module}:{name}" for module in spellings_of(going.project, going.source.path) for name in going.names]
    texts += plain_mentions(going.project, words)
    if texts:
        raise Unclear(f"{going.told(going.names[0])}: it is named by its text at {shown_places(texts)}")
    for one in going.source.names.names:
        if within(one.line, going.spans) and one.word in _OF_THE_FILE:
            raise Unclear(f"{going.told(going.names[0])}: line {one.line} uses {one.word}, which is another one there")
    for node in (inner for one in going.nodes for inner in ast.walk(one)):
        if isinstance(node, ast.Global):
            raise Unclear(f"{going.told(going.names[0])}: line {node.lineno} changes a global of its module")


def _needs(going: _Move) -> list[ImportNeed]:
    """What the definitions use of their old module and of its imports."""
    names, project, out = going.source.names, going.project, list[ImportNeed]()
    words = dict.fromkeys(one.word for one in names.names if within(one.line, going.spans) and one.home is names.module)
    for word in words:
        bound = names.module.bound[word]
        if word in going.names:
            continue
        aliases = [one for one in bound if isinstance(one, ast.alias)]
        if len(aliases) == len(bound) == 1:
            if project.meaning(going.source, aliases[0])[0] != going.target.path:
                out.append(need_of(going.source, aliases[0], project=project, target=going.target))
        elif aliases:
            raise Unclear(f"{word} is bound in several ways in {going.source.path}")
        else:
            out.append(ImportNeed(module=module_for(going.target, going.source.module, like=going.source), name=word))
    unbound = {one.word for one in names.names if within(one.line, going.spans) and one.home is None}
    for word in sorted(unbound - set(dir(builtins))):
        for dotted in project.stars(going.source):
            if project.exported(project.module_path(dotted), word)[0]:
                out.append(ImportNeed(module=module_for(going.target, dotted, like=going.source), name=word))
    for need in out:
        there = going.target.names.module.bound.get(need.word, [])
        if there and not _same(going, need, there):
            raise Unclear(f"{going.target.path} has another {need.word} than {going.source.path}")
    return [one for one in out if one.word not in going.target.names.module.bound]


def _same(going: _Move, need: ImportNeed, there: Sequence[ast.AST]) -> bool:
    for node in there:
        if not isinstance(node, ast.alias):
            return False
        known = need_of(going.target, node, project=going.project, target=going.target)
        if replace(known, typing=False) == replace(need, typing=False) and (need.typing or not known.typing):
            continue
        return False
    return True


def _arrived(going: _Move, found: Sequence[SymbolReference]) -> str:
    """The file that the definitions move to."""
    mine = [one for one in found if one.source is going.target]
    renamed = [one for one in mine if one.kind == "import" and isinstance(one.node, ast.alias) and one.node.asname]
    if renamed:
        raise Unclear(f"{renamed[0].place} imports it under another name")
    text = without(
        going.project,
        going.target,
        [],
        references=[one for one in mine if one.kind == "import"],
        added=_bare(going, going.target, mine),
    )
    needs = _needs(going)
    if _is_lazy(going.source) and not _is_lazy(going.target) and _annotated(going):
        needs = [ImportNeed(module="__future__", name="annotations"), *needs]
    for node in going.nodes:
        text = _appended(text, statement_text(going.source.text, node), node)
    text = with_imports(text, needs, own=going.own)
    listed = [one.value for one in exported_texts(going.source.tree)]
    return _exporting(text, [name for name in going.names if name in listed])


def _is_lazy(source: PythonFile) -> bool:
    return any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in source.tree.body)


def _annotated(going: _Move) -> bool:
    return any(
        isinstance(node, ast.AnnAssign)
        or (isinstance(node, ast.arg) and node.annotation is not None)
        or (isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None)
        for one in going.nodes
        for node in ast.walk(one)
    )


def _appended(text: str, piece: str, node: ast.stmt) -> str:
    """Behind the last definition; a main block stays at the end."""
    tree = ast.parse(text)
    main = next((one for one in tree.body if isinstance(one, ast.If) and "__name__" in ast.unparse(one.test)), None)
    lines = text.splitlines(keepends=True)
    plain = isinstance(node, (ast.Assign, ast.AnnAssign))
    before = "".join(lines[: main.lineno - 1] if main is not None else lines).rstrip()
    last = ast.parse(before).body[-1:] if before else []
    gap = "\n" if plain and last and isinstance(last[0], (ast.Assign, ast.AnnAssign)) else "\n\n\n"
    joined = f"{before}{gap}{piece}\n" if before else f"{piece}\n"
    return joined if main is None else f"{joined}\n\n{''.join(lines[main.lineno - 1 :])}"


def _exporting(text: str, names: Sequence[str]) -> str:
    """`__all__` with further names, where there is one."""
    for name in names:
        node = next(
            (
                one.value
                for one in ast.parse(text).body
                if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__all__"
            ),
            None,
        )
        if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
            last = node.elts[-1]
            sign = segment(text, last)[:1]
            before = text[offset(text, last.lineno, 0) : span(text, last)[0]]
            gap = f",\n{before}" if not before.strip() else ", "
            text = edited(
                text, [Edit(start=span(text, last)[1], end=span(text, last)[1], text=f"{gap}{sign}{name}{sign}")]
            )
    return text


def _left(going: _Move, found: Sequence[SymbolReference]) -> str:
    """The old file."""
    mine = [one for one in found if one.source is going.source]
    dropped = [] if going.reexport else [one for one in mine if one.kind == "export"]
    text = without(going.project, going.source, list(going.nodes), references=dropped)
    used = {one.name.word for one in mine if one.kind == "name" and one.name is not None}
    listed = {one.value for one in exported_texts(going.source.tree)}
    module = module_for(going.source, going.target.module)
    needs = [
        ImportNeed(module=module, name=name, alias="" if name in used or name in listed else name)
        for name in going.names
        if name in used or going.reexport
    ]
    return with_imports(text, needs, own=going.own)


def _updated(going: _Move, source: PythonFile, found: Sequence[SymbolReference]) -> str:
    """A file that takes the definitions from the old module."""
    edits, needs = _imports_changed(going, source, found)
    through = [one for one in found if _is_taken(going, one)]
    bare = _bare(going, source, through)
    words = {one.node.attr if isinstance(one.node, ast.Attribute) else one.name.word for one in through if one.name}
    needs += [ImportNeed(module=module_for(source, going.target.module), name=word) for word in sorted(words)]
    text = edited(source.text, [*edits, *bare])
    text = _without_idle(going, source, text, through) if bare else text
    return with_imports(text, needs, own=going.own)


def _is_taken(going: _Move, reference: SymbolReference) -> bool:
    """Whether a use goes through the old module itself."""
    if reference.kind == "star":
        return True
    return reference.kind == "attribute" and going.project.module_path(reference.module) == going.source.path


def _bare(going: _Move, source: PythonFile, found: Sequence[SymbolReference]) -> list[Edit]:
    """`old.name` becomes `name`, which is imported."""
    out = []
    for one in found:
        if not _is_taken(going, one) or not isinstance(one.node, ast.Attribute):
            continue
        name = one.node.attr
        taken = [
            scope
            for scope in source.names.scopes
            if name in scope.bound and not _is_it(going, source, scope.bound[name])
        ]
        if taken or (one.name is not None and one.name.text is not None):
            raise Unclear(f"{one.place} takes {name} from the module, and the file has another {name}")
        start, end = span(source.text, one.node)
        out.append(Edit(start=start, end=end, text=name))
    return out


def _is_it(going: _Move, source: PythonFile, bound: Sequence[ast.AST]) -> bool:
    """Whether a name is what moves already."""
    meanings = [going.project.meaning(source, one) for one in bound if isinstance(one, ast.alias)]
    return len(meanings) == len(bound) and all(
        one[0] == going.source.path and one[1] in going.names for one in meanings
    )


def _without_idle(going: _Move, source: PythonFile, text: str, found: Sequence[SymbolReference]) -> str:
    """Without an import of the old module that only served for what moved."""
    changed = {one.name.node for one in found if one.name is not None}
    names = source.names
    idle = [
        alias
        for scope in names.scopes
        for word, bound in scope.bound.items()
        for alias in bound
        if isinstance(alias, ast.alias)
        and (uses := names.of(scope, word))
        and all(one.node in changed for one in uses)
        and scope is names.module
    ]
    if not idle:
        return text
    fresh = replace_source(source, text)
    known = {ast.dump(one): one for one in fresh.names.imports}
    gone = [known[ast.dump(one)] for one in idle if ast.dump(one) in known]
    marks = [SymbolReference(source=fresh, kind="import", node=one, line=one.lineno) for one in gone]
    return without(going.project, fresh, [], references=marks)


def replace_source(source: PythonFile, text: str) -> PythonFile:
    """The same file with another text."""
    return PythonFile(path=source.path, text=text, module=source.module, is_test=source.is_test)


def _imports_changed(
    going: _Move, source: PythonFile, found: Sequence[SymbolReference]
) -> tuple[list[Edit], list[ImportNeed]]:
    """`from old import name` becomes `from new import name`, beside what is still taken from the old module."""
    edits, needs = list[Edit](), list[ImportNeed]()
    names = source.names
    for statement, aliases in _direct(going, source, found):
        module = relative_or_whole(source, statement, going)
        said = ", ".join(f"{one.name} as {one.asname}" if one.asname else one.name for one in aliases)
        line = f"from {module} import {said}"
        start, end = span(source.text, statement)
        at_top = isinstance(names.parents.get(statement), ast.Module)
        if len(aliases) == len(statement.names):
            edits.append(Edit(start=start, end=end, text=line))
        elif at_top:
            edits += drop(source.text, statement.names, aliases)
            needs += [ImportNeed(module=module, name=one.name, alias=one.asname or "") for one in aliases]
        else:
            indent = " " * statement.col_offset
            edits += [*drop(source.text, statement.names, aliases), Edit(start=end, end=end, text=f"\n{indent}{line}")]
    return edits, needs


def _direct(
    going: _Move, source: PythonFile, found: Sequence[SymbolReference]
) -> Iterator[tuple[ast.ImportFrom, list[ast.alias]]]:
    rows: dict[ast.ImportFrom, list[ast.alias]] = {}
    for one in found:
        statement = source.names.imports.get(one.node) if isinstance(one.node, ast.alias) else None
        if isinstance(statement, ast.ImportFrom) and isinstance(one.node, ast.alias):
            dotted = going.project.imported_from(source, statement)
            if going.project.module_path(dotted) == going.source.path:
                rows.setdefault(statement, []).append(one.node)
    yield from rows.items()


def relative_or_whole(source: PythonFile, statement: ast.ImportFrom, going: _Move) -> str:
    """The new module in the form in which the statement names the old one."""
    return relative(going.target.module, source) if statement.level else going.target.module


def _parses(path: str, text: str) -> None:
    try:
        ast.parse(text)
    except SyntaxError as exc:
        raise Unclear(f"{path} would not parse afterwards (line {exc.lineno})") from exc
