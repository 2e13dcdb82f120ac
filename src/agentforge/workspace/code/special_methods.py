"""What a language gives a name to: built-in names, which tell nothing of a project, and the methods behind Python's operators."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

_JAVASCRIPT = (
    "Array ArrayBuffer Boolean Date Error EvalError Function JSON Map Math Number Object Promise Proxy RangeError "
    "ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError URIError WeakMap WeakSet undefined"
)
BUILT_IN = frozenset({*(name for name in dir(builtins) if name[0].isalpha()), *_JAVASCRIPT.split()})
"""Names that every program of Python or JavaScript has."""

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "lshift",
    ast.RShift: "rshift", ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Eq: "eq", ast.NotEq: "ne",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.In: "contains", ast.NotIn: "contains",
}  # fmt: skip
_CONTEXTS: dict[type[ast.AST], str] = {ast.Load: "get", ast.Store: "set", ast.Del: "del"}
_CALLED = {
    "len": "len", "str": "str", "repr": "repr", "iter": "iter", "next": "next", "hash": "hash", "bool": "bool",
    "int": "int", "float": "float", "abs": "abs", "round": "round", "reversed": "reversed", "dir": "dir",
    "bytes": "bytes", "format": "format", "copy": "copy", "deepcopy": "deepcopy", "list": "iter", "tuple": "iter",
    "sorted": "iter", "divmod": "divmod", "isinstance": "instancecheck", "getattr": "getattr", "setattr": "setattr",
    "delattr": "delattr",
}  # fmt: skip
_SPAN = re.compile(r"```[^\n]*\n(.*?)```|``?([^`\n]+)``?", re.DOTALL)
_INDENTED = re.compile(r"(?m)^(?: {4}|\t)\s*(?:>>> |\.\.\. )?(\S.*)$|^\s*>>> (.*)$")


def special_methods(text: str) -> frozenset[str]:
    """Name the special methods that run where the code in a text does what it says: `del x[1]` is `__delitem__`.

    Code is what stands between backticks, in indented lines and behind `>>>`; what cannot be parsed is left out.
    """
    return frozenset(f"__{name}__" for line in _lines(text) for tree in _parsed(line) for name in _methods(tree))


def _lines(text: str) -> Iterator[str]:
    for span in _SPAN.finditer(text):
        yield from (span[1] or span[2] or "").split("\n")
    for line in _INDENTED.finditer(text):
        yield line[1] or line[2]


def _parsed(line: str) -> Iterator[ast.AST]:
    line = line.strip().removeprefix(">>> ")
    try:
        yield ast.parse(f"{line} pass" if line.endswith(":") else line)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _methods(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            yield f"{_CONTEXTS[type(node.ctx)]}item"
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield f"{_CONTEXTS[type(node.ctx)]}attr"
        elif isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in _OPERATORS:
            yield _OPERATORS[type(node.op)]
        elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
            yield from (f"i{_OPERATORS[type(node.op)]}", _OPERATORS[type(node.op)])
        elif isinstance(node, ast.Compare):
            yield from (_OPERATORS[type(one)] for one in node.ops if type(one) in _OPERATORS)
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield from [_CALLED[called]] if called in _CALLED else ["call"] if isinstance(node.func, ast.Call) else []
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from ("iter", "next")
        elif isinstance(node, ast.With | ast.AsyncWith):
            yield from ("enter", "exit", "aenter", "aexit")
        elif isinstance(node, ast.Await):
            yield "await"
