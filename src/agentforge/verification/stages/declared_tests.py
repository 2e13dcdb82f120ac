"""Whether a definition keeps the types and parameters that the specification declares for it."""

from __future__ import annotations

import ast

from agentforge.languages.python.stubs import declaration
from agentforge.languages.symbols import Symbol

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NOTHING_SAID = frozenset({"Any", "object"})


def weakened(symbol: Symbol, data: bytes | None) -> str:
    """What of a declared signature a definition gives up; empty when it keeps it, and where nothing can be told.

    A parameter that `*args` takes now, and a declared type that is `Any` or `object` now. Other spellings of a type, further
    parameters with defaults and missing annotations are a matter of taste.
    """
    told, there = declaration(symbol), _definition(symbol, data)
    if not isinstance(told, _Function) or there is None:
        return ""
    before, after = _annotations(told), _annotations(there)
    swallowed = there.args.vararg is not None or there.args.kwarg is not None
    given_up = [name for name in before if name not in after and name not in ("self", "cls")]
    if swallowed and given_up and told.args.vararg is None and told.args.kwarg is None:
        return f"takes *args or **kwargs instead of the declared {', '.join(given_up)}"
    loose = [
        name for name, kind in before.items() if kind and kind not in _NOTHING_SAID and after.get(name) in _NOTHING_SAID
    ]
    return f"gives up the declared type of {', '.join(loose)}" if loose else ""


def _definition(symbol: Symbol, data: bytes | None) -> _Function | None:
    try:
        body = ast.parse(data or b"").body
    except (SyntaxError, ValueError):
        return None
    for part in symbol.owner.split(".") if symbol.owner else []:
        body = next((one.body for one in body if isinstance(one, ast.ClassDef) and one.name == part), [])
    found = [one for one in body if isinstance(one, _Function) and one.name == symbol.last]
    return found[0] if len(found) == 1 and not found[0].decorator_list else None


def _annotations(node: _Function) -> dict[str, str]:
    """Parameter -> last name of its type, and `the result`; empty without one."""
    plain = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    kinds = {one.arg: one.annotation for one in plain} | {"the result": node.returns}
    return {name: ast.unparse(kind).rpartition(".")[2] if kind is not None else "" for name, kind in kinds.items()}
