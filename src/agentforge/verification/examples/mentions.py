"""Calls that prose only names: `Kit.run()` for a method of an object, `run()` for a function that needs arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from agentforge.languages.python.source import module_of
from agentforge.languages.symbols import Symbol
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.plain_answers import CallResult

MENTION = "it names what is called, and passes nothing of what that needs"
_MISSING = re.compile(
    r"(?:.*\.)?(\w+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.*)", re.DOTALL
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def mentioned(
    claim: Claim,
    answer: CallResult,
    before: Sequence[CallResult],
    *,
    symbols: Sequence[Symbol],
    read: Callable[[str], bytes | None],
) -> bool:
    """Whether a claim whose call could not be made names a function or method, and is no example of a call.

    It is none when a method of objects is called on its class, and when a call without arguments is refused by the very same
    TypeError about missing arguments as at the base, unless the specification declares that it can be called so.

    Args:
        before: what the base gives for the call.
        read: a file of the tree.
    """
    if claim.raises or not answer.raised or answer.raised[0] not in (("TypeError", True), ("AttributeError", True)):
        return False
    try:
        call = ast.parse(claim.call, mode="eval").body
    except SyntaxError:
        return False
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    missing = _missing(call.func, answer)
    wanted = _declared(call.func, symbols)
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, (ast.Name, ast.Attribute)):
        instance = "'self'" in missing or _takes_self(call.func, [read(one.file) for one in symbols])
        passed = len(call.args) + len(call.keywords)
        other = wanted is not None and _names(wanted)[:1] != ["self"] and len(_required(wanted)) <= passed
        if instance and not other and all(one.raised for one in before):
            return True
    same = any((one.raised, one.message) == (answer.raised, answer.message) for one in before)
    free = wanted is not None and not _required(wanted)
    return bool(missing) and same and not free and not call.args and not call.keywords


def _missing(called: ast.Name | ast.Attribute, answer: CallResult) -> str:
    """The arguments that a call was refused for; "" when it was refused for something else."""
    match = _MISSING.fullmatch(answer.message) if answer.raised[0][0] == "TypeError" else None
    return match[2] if match is not None and match[1] in (_last(called), "__init__", "__new__") else ""


def _last(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _declared(called: ast.Name | ast.Attribute, symbols: Sequence[Symbol]) -> ast.arguments | None:
    """The parameters that a specification declares for what is called; None when it declares none that can be read."""
    owner = _last(called.value) if isinstance(called, ast.Attribute) else ""
    for symbol in symbols:
        if symbol.signature and symbol.last == _last(called) and symbol.owner.rpartition(".")[2] in ("", owner):
            head = symbol.signature[symbol.signature.find("(") :].rstrip(": ")
            try:
                node = ast.parse(f"def called{head}: ...").body[0]
            except SyntaxError:
                continue
            return node.args if isinstance(node, ast.FunctionDef) else None
    return None


def _names(parameters: ast.arguments) -> list[str]:
    return [one.arg for one in (*parameters.posonlyargs, *parameters.args)]


def _required(parameters: ast.arguments) -> list[str]:
    """The parameters without a default that a caller passes."""
    names = _names(parameters)
    first = [name for name in names[: len(names) - len(parameters.defaults)] if name not in ("self", "cls")]
    return first + [
        one.arg for one, value in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True) if not value
    ]


def _takes_self(called: ast.Attribute, sources: Sequence[bytes | None]) -> bool:
    """Whether what is called on a class is a method of its objects."""
    for source in sources:
        owners = [
            one for one in module_of(source).body if isinstance(one, ast.ClassDef) and one.name == _last(called.value)
        ]
        methods = [
            one for owner in owners for one in owner.body if isinstance(one, _Function) and one.name == called.attr
        ]
        if methods:
            return _names(methods[-1].args)[:1] == ["self"]
    return False
