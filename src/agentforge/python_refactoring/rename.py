"""The plan of another name: the definition and every place that means it, followed through imports. Pure."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator, Sequence

from agentforge.python_refactoring.edits import Edit, Unclear, edited, segment, span
from agentforge.python_refactoring.plan import RefactoringPlan, Target, shown_places
from agentforge.python_refactoring.project import (
    PythonFile,
    PythonProject,
    SymbolReference,
    member_references,
    references,
    spellings_of,
)
from agentforge.python_refactoring.removal import definitions

_Placed = tuple[str, Edit]
_OPEN_BASES = ("object", "ABC", "Protocol", "Generic", "NamedTuple", "TypedDict", "Enum", "StrEnum", "IntEnum")
"""Bases that call no method of their subclasses by a name of the project's own."""
_BUILTIN_TYPES = (str, bytes, int, float, list, dict, set, tuple, type(None), BaseException)


def renamed(project: PythonProject, target: Target, new: str) -> RefactoringPlan:
    """Give a definition at the top of a file, or a member of a class, another name.

    Args:
        new: the last part of the new name.
    Raises:
        Unclear: the new name is taken or is none, or the tree cannot tell every place that means the old one.
    """
    last = target.name.rpartition(".")[2]
    if not new.isidentifier() or keyword.iskeyword(new):
        raise Unclear(f"{new} is no name that Python accepts")
    if new == last:
        raise Unclear(f"{target.shown} has this name already")
    is_member = "." in target.name
    found = _member_uses(project, target) if is_member else references(project, target.source.path, last)
    placed = [*_heads(target, last, new), *(edit for one in found for edit in _changed(project, target, one, new))]
    files: dict[str, str | None] = {}
    for path in sorted({path for path, _ in placed}):
        source = project.sources[path]
        _refuse_taken(source, new, member=is_member)
        files[path] = edited(source.text, [edit for place, edit in placed if place == path])
        ast.parse(files[path] or "")
    if not is_member:
        files |= _plain_files(project, target, last, new)
    owner = target.name.rpartition(".")[0]
    name = f"{owner}.{new}" if owner else new
    symbols = (
        (name, target.source.path, target.kind, "new"),
        (target.name, target.source.path, target.kind, "removed"),
    )
    return RefactoringPlan(files=files, symbols=symbols, told=f"{target.name} is called {name}", targets=(target,))


def _heads(target: Target, old: str, new: str) -> Iterator[_Placed]:
    """The name in the statements that define it."""
    source = target.source
    for node in definitions(source, target.name):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            place = node.targets[0] if isinstance(node, ast.Assign) else node.target
            start = span(source.text, place)[0]
        else:
            start, end = span(source.text, node)
            match = re.compile(rf"\s*(?:async\s+def|def|class)\s+({re.escape(old)})\b").match(source.text, start, end)
            if match is None:
                raise Unclear(f"the head of {target.shown} cannot be read")
            start = match.start(1)
        yield source.path, Edit(start=start, end=start + len(old), text=new)
    for inner in ast.walk(source.tree):
        if isinstance(inner, ast.Global) and old in inner.names and "." not in target.name:
            raise Unclear(f"line {inner.lineno} of {source.path} changes {old} as a global")


def _changed(project: PythonProject, target: Target, reference: SymbolReference, new: str) -> Iterator[_Placed]:
    """One place with the new name; nothing where another name stands for it (`import ... as`)."""
    source, node, old = reference.source, reference.node, target.name.rpartition(".")[2]
    text = source.text
    if isinstance(node, ast.Attribute):
        end = span(text, node)[1]
        yield source.path, Edit(start=end - len(old), end=end, text=new)
    elif isinstance(node, ast.alias):
        if node.name == old:
            start = span(text, node)[0]
            yield source.path, Edit(start=start, end=start + len(old), text=new)
    elif isinstance(node, ast.Constant):
        yield source.path, _in_text(project, target, reference, new)
    elif isinstance(node, ast.Name):
        if node.id == old:
            start = span(text, node)[0]
            yield source.path, Edit(start=start, end=start + len(old), text=new)
    else:
        raise Unclear(f"{target.shown} is looked up by its text at {reference.place}")


def _in_text(project: PythonProject, target: Target, reference: SymbolReference, new: str) -> Edit:
    """A text that holds the name: an entry of `__all__`, a quoted annotation, `"module.name"`."""
    source, node, old = reference.source, reference.node, target.name.rpartition(".")[2]
    assert isinstance(node, ast.Constant)
    start = span(source.text, node)[0]
    piece = segment(source.text, node)
    count = len(re.findall(rf"(?<!\w){re.escape(old)}(?!\w)", piece))
    dotted = [f"{module}{sign}{old}" for module in spellings_of(project, target.source.path) for sign in ".:"]
    whole = piece[1:-1] in (old, *dotted)
    if not whole and (reference.kind == "text" or count != 1):
        raise Unclear(f"{target.shown} stands in a text at {reference.place}")
    place = start + (len(piece) - 1 - len(old) if whole else _word(piece, old))
    return Edit(start=place, end=place + len(old), text=new)


def _word(piece: str, word: str) -> int:
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", piece)
    assert match is not None
    return match.start()


def _plain_files(project: PythonProject, target: Target, old: str, new: str) -> dict[str, str | None]:
    """Configuration files that name it as `module:name`, such as an entry point."""
    files: dict[str, str | None] = {}
    for path, text in project.plain.items():
        changed = text
        for module in spellings_of(project, target.source.path):
            word = re.escape(f"{module}:{old}")
            changed = re.sub(rf"(?<![\w.]){word}(?!\w)", f"{module}:{new}", changed)
        if changed != text:
            files[path] = changed
    return files


def _member_uses(project: PythonProject, target: Target) -> list[SymbolReference]:
    """Every place that means a member of a class: `.name`, and its bare name in the body of the class."""
    owner, _, last = target.name.rpartition(".")
    if last.startswith("__") and last.endswith("__"):
        raise Unclear(f"{target.name} is called by Python itself under this name")
    _refuse_other_owners(project, target, owner, last)
    found = member_references(project, last)
    foreign = [one.place for one in found if _is_foreign(project, one)]
    if foreign:
        raise Unclear(f"{shown_places(foreign)} takes a {last} from another module")
    names, out = target.source.names, list(found)
    for scope in names.scopes:
        if isinstance(scope.node, ast.ClassDef) and scope.node.name == owner.rpartition(".")[2]:
            uses = [one for one in names.of(scope, last) if isinstance(one.node.ctx, ast.Load)]
            out += [SymbolReference(source=target.source, kind="name", node=one.node, line=one.line) for one in uses]
    return out


def _refuse_other_owners(project: PythonProject, target: Target, owner: str, last: str) -> None:
    """A member is known by its name alone: nothing else may have one, and no foreign base may call it."""
    mine = {id(node) for node in definitions(target.source, target.name)}
    others = [
        f"{source.path}:{node.lineno}"
        for source in project.sources.values()
        if last in source.text
        for one in ast.walk(source.tree)
        if isinstance(one, ast.ClassDef)
        for node in one.body
        if id(node) not in mine and last in _bound_by(node)
    ]
    stored = [one.place for one in member_references(project, last) if _is_stored(one.node)]
    if others or stored:
        places = shown_places([*others, *stored])
        raise Unclear(f"something else is called {last}, too ({places}): the tree cannot tell which one is meant where")
    builtin = next((one.__name__ for one in _BUILTIN_TYPES if hasattr(one, last)), "")
    if builtin:
        raise Unclear(f"{builtin} has a {last}, too: the tree cannot tell which one is meant where")
    node = definitions(target.source, owner)[0]
    bases = [ast.unparse(one).partition("[")[0].rpartition(".")[2] for one in getattr(node, "bases", [])]
    known = {
        one.name for source in project.sources.values() for one in source.tree.body if isinstance(one, ast.ClassDef)
    }
    foreign = [one for one in bases if one not in known and one not in _OPEN_BASES and not hasattr(builtins, one)]
    if foreign:
        raise Unclear(f"{foreign[0]}, from which {owner} inherits, may call {last} by its name")


def _bound_by(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (node.name,)
    targets: Sequence[ast.expr] = (
        node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    )
    return tuple(one.id for one in targets if isinstance(one, ast.Name))


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)


def _is_foreign(project: PythonProject, reference: SymbolReference) -> bool:
    """Whether an attribute is taken from a module that is none of the project's: `math.total`."""
    node, source = reference.node, reference.source
    value = node.value if isinstance(node, ast.Attribute) else None
    while isinstance(value, ast.Attribute):
        value = value.value
    if not isinstance(value, ast.Name):
        return False
    bound = source.names.module.bound.get(value.id, [])
    aliases = [one for one in bound if isinstance(one, ast.alias)]
    return any(project.meaning(source, one) == ("", "") and _is_module(source, one) for one in aliases)


def _is_module(source: PythonFile, alias: ast.alias) -> bool:
    return isinstance(source.names.imports.get(alias), ast.Import)


def _refuse_taken(source: PythonFile, new: str, *, member: bool) -> None:
    """The new name must not mean anything yet in a file that is to hold it."""
    if member:
        lines = [node.lineno for node in ast.walk(source.tree) if isinstance(node, ast.Attribute) and node.attr == new]
        bodies = [one.body for one in ast.walk(source.tree) if isinstance(one, ast.ClassDef)]
        lines += [node.lineno for body in bodies for node in body if new in _bound_by(node)]
    else:
        lines = [one.line for one in source.names.names if one.word == new]
        bound = [node for scope in source.names.scopes for node in scope.bound.get(new, [])]
        lines += [getattr(node, "lineno", 1) for node in bound]
    if lines:
        raise Unclear(f"{source.path} has a {new} already (line {min(lines)})")
