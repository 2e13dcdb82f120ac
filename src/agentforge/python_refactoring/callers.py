"""Where a function is called, and where it is only passed on: what a change of its signature has to look at. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from agentforge.python_refactoring.edits import Unclear
from agentforge.python_refactoring.parameters import Function
from agentforge.python_refactoring.plan import Target, shown_places
from agentforge.python_refactoring.project import PythonFile, PythonProject, member_references, references
from agentforge.python_refactoring.removal import definitions


@dataclass(frozen=True, kw_only=True, eq=False)
class CallSite:
    """One call of the function; `bound`: its first parameter is given by the object, not by an argument."""

    source: PythonFile
    node: ast.Call
    bound: bool

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.source.path}:{self.node.lineno}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Called:
    """A function and its uses.

    Attributes:
        passed: places where it is used without being called: `path:line`.
        is_member: it stands in a class.
    """

    source: PythonFile
    node: Function
    name: str
    calls: tuple[CallSite, ...]
    passed: tuple[str, ...]
    is_member: bool


def called(project: PythonProject, target: Target) -> Called:
    """Find a function and every place that speaks of it.

    Raises:
        Unclear: it is no function, is defined several times, or another class has a method of its name.
    """
    rows = definitions(target.source, target.name)
    name, constructor = target.name, False
    if rows and isinstance(rows[0], ast.ClassDef):
        name, constructor = f"{target.name}.__init__", True
        rows = definitions(target.source, name)
        if not rows:
            raise Unclear(f"{target.name} has no __init__ of its own")
    node = rows[0]
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise Unclear(f"{target.shown} is no function")
    if len(rows) > 1:
        raise Unclear(f"{name} has several definitions in {target.source.path} (overloads?): change it by hand")
    is_member = "." in name
    if is_member and not constructor:
        _refuse_namesakes(project, target, name)
    found = (
        _member_uses(project, target)
        if is_member and not constructor
        else _uses(project, target, constructor=constructor)
    )
    calls, passed = list[CallSite](), list[str]()
    static = any(ast.unparse(one).endswith("staticmethod") for one in node.decorator_list)
    for source, use, line in found:
        parent = source.names.parents.get(use)
        if isinstance(parent, ast.Call) and parent.func is use:
            calls.append(CallSite(source=source, node=parent, bound=is_member and not static))
        else:
            passed.append(f"{source.path}:{line}")
    return Called(
        source=target.source, node=node, name=name, calls=tuple(calls), passed=tuple(passed), is_member=is_member
    )


_Use = tuple[PythonFile, ast.AST, int]


def _uses(project: PythonProject, target: Target, *, constructor: bool) -> list[_Use]:
    out: list[_Use] = []
    for one in references(project, target.source.path, target.name):
        if one.kind in ("import", "export"):
            continue
        quoted = one.name is not None and one.name.text is not None
        if constructor and (quoted or not _is_base(one.source, one.node)):
            parent = one.source.names.parents.get(one.node)
            if quoted or not (isinstance(parent, ast.Call) and parent.func is one.node):
                continue  # an annotation, isinstance: the signature does not matter there
        out.append((one.source, one.node, one.line))
    return out


def _is_base(source: PythonFile, node: ast.AST) -> bool:
    parent = source.names.parents.get(node)
    return isinstance(parent, ast.ClassDef) and node in parent.bases


def _member_uses(project: PythonProject, target: Target) -> list[_Use]:
    last = target.name.rpartition(".")[2]
    return [(one.source, one.node, one.line) for one in member_references(project, last)]


def _refuse_namesakes(project: PythonProject, target: Target, name: str) -> None:
    """Calls of a method are told by its name alone: no other class may have one."""
    last = name.rpartition(".")[2]
    others = [
        f"{source.path}:{node.lineno}"
        for source in project.sources.values()
        if last in source.text
        for owner in ast.walk(source.tree)
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == last
    ]
    if len(others) > 1:
        raise Unclear(
            f"several classes have a method {last} ({shown_places(others)}): the tree cannot tell which one is called where"
        )
