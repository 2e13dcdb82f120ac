"""House rules about size, names, documentation and errors. Each reports every place that breaks it."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.events import kinds
from agentforge.events.state import attempt, run_state

if TYPE_CHECKING:
    from tests.meta.conftest import Source

Sources = tuple["Source", ...]

_BANNED = re.compile(r"(?i)^(?:.*_)?(?:manager|helpers?|utils?|common|misc|mixin|core)(?:_.*)?$")
_BANNED_CLASS = re.compile(r"(?:Manager|Helpers?|Utils?|Mixin|Handler|Core)$")
_NESTING = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith)
_BROAD = {
    "src/agentforge/agent/": "around a tool call, where it becomes an event",
    "src/agentforge/tools/dispatch/invocation.py": "around a tool call, where it becomes an observation",
    "src/agentforge/tools/custom/definition.py": "in the thread of a stranger's tool; who waits for it raises it again",
    "src/agentforge/tools/mcp/connection.py": "around a server's connection, where it becomes the reason why it is not there",
    "src/agentforge/cli/startup/entry.py": "the last place before the user's eyes",
    "src/agentforge/testing/programs/": "inside the target's interpreter, where the code under test may raise anything",
}


def test_no_file_is_longer_than_400_lines(sources: Sources) -> None:
    assert [source.path for source in sources if source.text.count("\n") > 400] == []


def test_no_function_is_longer_than_60_lines(sources: Sources) -> None:
    assert [
        f"{source.path}:{node.lineno} {name}"
        for source in sources
        for name, node in source.functions
        if (node.end_lineno or 0) - node.lineno + 1 > 60
    ] == []


def test_no_class_is_longer_than_300_lines(sources: Sources) -> None:
    assert [
        f"{source.path}:{node.lineno} {node.name}"
        for source in sources
        for node in source.classes
        if (node.end_lineno or 0) - node.lineno + 1 > 300
    ] == []


def test_no_function_nests_deeper_than_four(sources: Sources) -> None:
    assert [
        f"{source.path}:{node.lineno} {name}"
        for source in sources
        for name, node in source.functions
        if _depth(node.body) > 4
    ] == []


def test_no_name_hides_what_lives_there(sources: Sources) -> None:
    modules = [source.path for source in sources if any(_BANNED.match(part) for part in _parts(source.path))]
    classes = [
        f"{source.path}:{node.lineno} {node.name}"
        for source in sources
        for node in source.classes
        if _BANNED_CLASS.search(node.name)
    ]
    assert modules + classes == []


def test_every_module_says_what_lives_there(sources: Sources) -> None:
    assert [source.path for source in sources if not ast.get_docstring(source.tree)] == []


def test_every_public_thing_is_documented(sources: Sources) -> None:
    functions = [
        f"{source.path}:{node.lineno} {name}"
        for source in sources
        for name, node in source.public_functions
        if not ast.get_docstring(node) and not _is_overload(node)
    ]
    classes = [
        f"{source.path}:{node.lineno} {node.name}"
        for source in sources
        for node in source.classes
        if not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert functions + classes == []


def test_no_public_function_takes_a_positional_boolean(sources: Sources) -> None:
    assert [
        f"{source.path}:{node.lineno} {name}({argument.arg})"
        for source in sources
        if "/cli/commands/" not in source.path  # click passes everything by name
        for name, node in source.public_functions
        for argument in (*node.args.posonlyargs, *node.args.args)
        if argument.annotation is not None and ast.unparse(argument.annotation) == "bool" and not _is_command(node)
    ] == []


def test_no_exception_is_swallowed(sources: Sources) -> None:
    assert [
        f"{source.path}:{node.lineno}"
        for source in sources
        for node in source.nodes
        if isinstance(node, ast.ExceptHandler) and all(_does_nothing(statement) for statement in node.body)
    ] == []


def test_exceptions_are_caught_broadly_only_where_they_become_something(sources: Sources) -> None:
    assert [
        f"{source.path}:{node.lineno}"
        for source in sources
        if not any(source.path.startswith(place) for place in _BROAD)
        for node in source.nodes
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises_again(node)
    ] == []


def test_only_faces_print(sources: Sources) -> None:
    assert [
        f"{source.path}:{node.lineno}"
        for source in sources
        if not source.path.startswith(("src/agentforge/cli/", "src/agentforge/demo/"))
        for node in source.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ] == []


def test_every_file_postpones_annotations(sources: Sources) -> None:
    wanted = "from __future__ import annotations"
    assert [
        source.path for source in sources if wanted not in source.text and (source.functions or source.classes)
    ] == []


def test_events_and_states_are_frozen_slotted_and_keyword_only() -> None:
    records = [
        value
        for module in (kinds, attempt, run_state)
        for value in vars(module).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value)
    ]
    assert len(records) > 25
    for record in records:
        parameters = record.__dataclass_params__  # type: ignore[attr-defined] # set by every dataclass
        assert parameters.frozen, record
        assert "__slots__" in vars(record), record
        assert all(field.kw_only for field in dataclasses.fields(record)), record


def _parts(path: str) -> list[str]:
    return path.removesuffix(".py").split("/")


def _depth(body: list[ast.stmt]) -> int:
    """How deep statements nest; `elif` and `else` stand on the level of their `if`."""
    return max((_depth_of(statement) for statement in body), default=0)


def _depth_of(statement: ast.stmt) -> int:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return 0
    if not isinstance(statement, _NESTING):
        return 0
    if isinstance(statement, ast.If) and len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        return max(1 + _depth(statement.body), _depth_of(statement.orelse[0]))
    return 1 + max((_depth(body) for body in _bodies(statement)), default=0)


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for inner in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        yield inner.body


def _is_overload(node: ast.AST) -> bool:
    return any("overload" in ast.unparse(item) for item in getattr(node, "decorator_list", []))


def _is_command(node: ast.AST) -> bool:
    """A click command: its parameters arrive by name."""
    return any(
        "command" in ast.unparse(item) or "group" in ast.unparse(item) for item in getattr(node, "decorator_list", [])
    )


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _is_broad(node: ast.ExceptHandler) -> bool:
    return node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")


def _raises_again(node: ast.ExceptHandler) -> bool:
    return any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
