"""The plan of another signature: a parameter added, renamed or dropped, keyword-only ones in another order. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from agentforge.python_refactoring.callers import Called, CallSite, called
from agentforge.python_refactoring.edits import Edit, Unclear, edited, segment, span
from agentforge.python_refactoring.names import Name, NameScope
from agentforge.python_refactoring.parameters import Parameter, ParameterList, listed
from agentforge.python_refactoring.plan import RefactoringPlan, Target, shown_places
from agentforge.python_refactoring.project import PythonProject
from agentforge.python_refactoring.removal import lines_of, within
from agentforge.python_refactoring.request import RefactoringRequest

_NEUTRAL = (
    *(
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "override",
        "final",
        "cache",
        "lru_cache",
        "wraps",
        "contextmanager",
    ),
    *("asynccontextmanager", "deprecated", "total_ordering"),
)
_Edits = list[tuple[str, Edit]]


def new_signature(project: PythonProject, wanted: RefactoringRequest, target: Target) -> RefactoringPlan:
    """Change the parameters of a function, and every call that this concerns.

    Raises:
        Unclear: the tree alone cannot tell what becomes of a call.
    """
    function = called(project, target)
    known = listed(function.source.text, function.node)
    edits = {"add": _added, "rename": _renamed, "drop": _dropped, "order": _ordered}[wanted.what](
        wanted, function, known
    )
    files: dict[str, str | None] = {}
    for path in dict.fromkeys(path for path, _ in edits):
        text = edited(project.sources[path].text, [edit for place, edit in edits if place == path])
        ast.parse(text)
        files[path] = text
    symbols = ((function.name, function.source.path, "method" if function.is_member else "function", "changed"),)
    return RefactoringPlan(files=files, symbols=symbols, told=_told(wanted, function), targets=(target,))


def _told(wanted: RefactoringRequest, function: Called) -> str:
    name = function.name
    return {
        "add": f"{name} takes {wanted.parameter}={wanted.default}",
        "rename": f"parameter {wanted.parameter} of {name} is called {wanted.new}",
        "drop": f"{name} takes {wanted.parameter} no more",
        "order": f"the keyword-only parameters of {name} stand in another order",
    }[wanted.what]


def _added(wanted: RefactoringRequest, function: Called, known: ParameterList) -> _Edits:
    name, path = wanted.parameter, function.source.path
    if not wanted.default:
        raise Unclear(f"which default does {name} have? Without one every call of {function.name} would break")
    if any(one.name == name for one in known.parameters):
        raise Unclear(f"{function.name} has a parameter {name} already")
    _refuse_word(function, name)
    given = [call.place for call in function.calls if any(one.arg == name for one in call.node.keywords)]
    if given:
        raise Unclear(
            f"{name} is passed already, into **{function.node.args.kwarg and function.node.args.kwarg.arg}: {shown_places(given)}"
        )
    text = f"{name}: {wanted.annotation} = {wanted.default}" if wanted.annotation else f"{name}={wanted.default}"
    new, rows = Parameter(name=name, text=text, sort="keyword"), list(known.parameters)
    tail = [one for one in rows if one.sort == "kwarg"]
    head = [one for one in rows if one.sort != "kwarg"]
    behind_star = any(one.name == "*" or one.sort == "vararg" for one in head)
    if wanted.keyword_only or behind_star:
        mark = [] if behind_star else [Parameter(name="*", text="*", sort="mark")]
        head = [*head, *mark, new]
    else:
        head = [*head, new]
    return [(path, known.written([*head, *tail]))]


def _renamed(wanted: RefactoringRequest, function: Called, known: ParameterList) -> _Edits:
    old, new, source = wanted.parameter, wanted.new, function.source
    one = _parameter(known, function, old)
    if any(other.name == new for other in known.parameters):
        raise Unclear(f"{function.name} has a parameter {new} already")
    _refuse_word(function, new)
    _refuse_framework(function, old)
    scope = _scope(function)
    out: _Edits = []
    argument = next(node for node in scope.bound[old] if isinstance(node, ast.arg))
    start = span(source.text, argument)[0]
    out.append((source.path, Edit(start=start, end=start + len(old), text=new)))
    for name in _uses(function, scope, old):
        start, end = span(source.text, name.node)
        out.append((source.path, Edit(start=start, end=end, text=new)))
    out += [(source.path, edit) for edit in _documented(function, old, new)]
    if one.sort in ("vararg", "kwarg") or _is_positional_only(function, old):
        return out
    _refuse_passing(function, old)
    for call in function.calls:
        for keyword in call.node.keywords:
            if keyword.arg == old:
                start = span(call.source.text, keyword)[0]
                out.append((call.source.path, Edit(start=start, end=start + len(old), text=new)))
    return out


def _dropped(wanted: RefactoringRequest, function: Called, known: ParameterList) -> _Edits:
    name, source = wanted.parameter, function.source
    one = _parameter(known, function, name)
    scope = _scope(function)
    used = [f"{source.path}:{use.line}" for use in _uses(function, scope, name)]
    if used:
        raise Unclear(f"{name} is used in {function.name}: {shown_places(used)}")
    if one.sort in ("vararg", "kwarg"):
        raise Unclear(
            f"{name} of {function.name} takes all further arguments: the tree cannot tell what becomes of them"
        )
    _refuse_framework(function, name)
    _refuse_passing(function, name)
    rows = [other for other in known.parameters if other is not one]
    if rows and rows[-1].name == "*":
        rows = rows[:-1]
    rows = [
        other for number, other in enumerate(rows) if not (other.name == "*" and rows[number + 1].sort != "keyword")
    ]
    if rows and rows[0].name == "/":
        rows = rows[1:]
    out: _Edits = [(source.path, known.written(rows))]
    arguments = [*function.node.args.posonlyargs, *function.node.args.args]
    index = next((number for number, other in enumerate(arguments) if other.arg == name), -1)
    out += [(call.source.path, edit) for call in function.calls for edit in _argument_out(call, name, index)]
    return out


def _ordered(wanted: RefactoringRequest, function: Called, known: ParameterList) -> _Edits:
    mine = {one.name: one for one in known.parameters if one.sort == "keyword"}
    order = wanted.order or tuple(sorted(mine))
    if len(mine) < 2 or sorted(order) != sorted(mine):
        raise Unclear(
            f"the keyword-only parameters of {function.name} are {', '.join(mine) or 'none'}: name each of them once"
        )
    rest = iter(order)
    rows = [mine[next(rest)] if one.sort == "keyword" else one for one in known.parameters]
    if rows == list(known.parameters):
        raise Unclear(f"the keyword-only parameters of {function.name} stand in this order already")
    return [(function.source.path, known.written(rows))]


def _argument_out(call: CallSite, name: str, index: int) -> Iterator[Edit]:
    """Take an argument out of a call."""
    node, text = call.node, call.source.text
    place = index - 1 if call.bound else index
    star = next((number for number, one in enumerate(node.args) if isinstance(one, ast.Starred)), len(node.args))
    given = next((one for one in node.keywords if one.arg == name), None)
    if given is None and 0 <= place < len(node.args) and place < star:
        chosen: ast.expr | ast.keyword = node.args[place]
    elif given is not None:
        chosen = given
    elif star <= place and star < len(node.args):
        raise Unclear(f"{call.place} passes *arguments: the tree cannot tell which one is {name}")
    else:
        return
    value = chosen.value if isinstance(chosen, ast.keyword) else chosen
    if any(isinstance(one, (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)) for one in ast.walk(value)):
        raise Unclear(f"{call.place} passes {segment(text, value)} as {name}: without it something would no longer run")
    every: list[ast.expr | ast.keyword] = sorted([*node.args, *node.keywords], key=lambda one: span(text, one)[0])
    number = every.index(chosen)
    start, end = _with_brackets(text, chosen)
    if number + 1 < len(every):
        yield Edit(start=start, end=_with_brackets(text, every[number + 1])[0])
    elif number:
        yield Edit(start=_with_brackets(text, every[number - 1])[1], end=end)
    else:
        yield Edit(start=start, end=_comma(text, end))


def _with_brackets(text: str, node: ast.expr | ast.keyword) -> tuple[int, int]:
    """The place of an argument with brackets that only group it: `f((1))`."""
    start, end = span(text, node)
    while text[:start].rstrip().endswith("(") and text[end:].lstrip().startswith(")"):
        before = len(text[:start].rstrip()) - 1
        if text[:before].rstrip()[-1:].isidentifier() or text[:before].rstrip()[-1:] in ")]":
            break  # the brackets of the call itself
        start, end = before, end + text[end:].index(")") + 1
    return start, end


def _comma(text: str, end: int) -> int:
    rest = text[end:]
    return end + len(rest) - len(rest.lstrip()) + 1 if rest.lstrip().startswith(",") else end


def _parameter(known: ParameterList, function: Called, name: str) -> Parameter:
    found = next((one for one in known.parameters if one.name == name and one.sort != "mark"), None)
    if found is None:
        names = ", ".join(one.name for one in known.parameters if one.sort != "mark")
        raise Unclear(f"{function.name} has no parameter {name} (it has {names or 'none'})")
    if function.is_member and name in ("self", "cls") and known.parameters[0] is found:
        raise Unclear(f"{name} of {function.name} is given by Python itself")
    return found


def _is_positional_only(function: Called, name: str) -> bool:
    return any(one.arg == name for one in function.node.args.posonlyargs)


def _scope(function: Called) -> NameScope:
    return next(one for one in function.source.names.scopes if one.node is function.node)


def _uses(function: Called, scope: NameScope, name: str) -> list[Name]:
    """The places inside of the function that mean its parameter."""
    spans = lines_of([function.node])
    calls = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("locals", "vars", "eval", "exec")
    ]
    if calls:
        raise Unclear(
            f"line {calls[0].lineno} of {function.source.path} looks at all names of {function.name} by their texts"
        )
    found = [one for one in function.source.names.of(scope, name) if within(one.line, spans)]
    quoted = [one for one in found if one.text is not None]
    if quoted:
        raise Unclear(f"line {quoted[0].line} of {function.source.path} holds {name} in a text")
    again = [
        node for node in ast.walk(function.node) if isinstance(node, (ast.Nonlocal, ast.Global)) and name in node.names
    ]
    if again or any(isinstance(node, ast.alias) for node in scope.bound.get(name, [])):
        raise Unclear(f"{name} is bound again inside of {function.name}")
    return found


def _refuse_word(function: Called, word: str) -> None:
    """A new name must not mean anything inside of the function yet."""
    spans = lines_of([function.node])
    taken = [one.line for one in function.source.names.names if one.word == word and within(one.line, spans)]
    inner = [
        scope
        for scope in function.source.names.scopes
        if word in scope.bound and within(getattr(scope.node, "lineno", 0), spans)
    ]
    if taken or inner:
        where = f"{function.source.path}:{taken[0]}" if taken else function.source.path
        raise Unclear(f"{word} means something else inside of {function.name} already ({where})")


def _refuse_framework(function: Called, name: str) -> None:
    """A decorator may give a meaning to the names of parameters."""
    for one in function.node.decorator_list:
        word = ast.unparse(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2]
        if word not in _NEUTRAL:
            raise Unclear(
                f"@{ast.unparse(one)} may look at the names of the parameters of {function.name}, {name} among them"
            )


def _refuse_passing(function: Called, name: str) -> None:
    """A function that is passed on may be called by anybody with anything; `**values` may hold the name."""
    if function.passed:
        raise Unclear(f"{function.name} is passed on without being called: {shown_places(function.passed)}")
    open_ = [
        call.place
        for call in function.calls
        if any(one.arg is None for one in call.node.keywords) and not any(one.arg == name for one in call.node.keywords)
    ]
    if open_:
        raise Unclear(f"calls with **values may pass {name}: {shown_places(open_)}")
    if function.name.endswith(".__init__"):
        again = [
            f"{function.source.path}:{node.lineno}"
            for node in ast.walk(function.source.tree)
            if isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("cls", "super().__init__", "type(self)", "replace", "dataclasses.replace")
        ]
        if again:
            raise Unclear(f"{function.name} may be called at {shown_places(again)}, and the tree cannot tell")


def _documented(function: Called, old: str, new: str) -> Iterator[Edit]:
    """The name of the parameter where the docstring lists it."""
    first = function.node.body[0]
    if ast.get_docstring(function.node, clean=False) is None or not isinstance(first, ast.Expr):
        return
    start, end = span(function.source.text, first)
    text, word = function.source.text[start:end], re.escape(old)
    for match in _listings(text, word):
        place = start + match.start("name")
        yield Edit(start=place, end=place + len(old), text=new)


def _listings(text: str, word: str) -> Iterable[re.Match[str]]:
    patterns: Sequence[str] = (
        rf"(?m)^[ \t]*(?P<name>{word})(?=[ \t]*(?:\([^)\n]*\))?[ \t]*:)",
        rf":(?:param|type|keyword|arg)\b[^:\n]*?\b(?P<name>{word})(?=:)",
        rf"`(?P<name>{word})(?=`)",
    )
    for pattern in patterns:
        yield from re.finditer(pattern, text)
