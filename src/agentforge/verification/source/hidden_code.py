"""Finds new code that hides what it does from a reader: code out of texts, and names that are put together from constants."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from agentforge.languages.python.imports import imported_names

_OF_CODE = re.compile(
    r"(?i)\b(?:eval\w*|exec\w*|expressions?|formula\w*|interpret\w*|plugins?|dynamic\w*|scripts?|calculat\w*|code\w*|compil\w*"
    r"|templat\w*|macros?|sandbox\w*|repl|python|syntax|ast"
    r"|marshal\w*|pickl\w*|serializ\w*|bytecode|functions? from|source|config\w*|rules?)\b"
)
_RUNNING = frozenset({"eval", "exec", "compile"})
_MAKING = frozenset({"marshal.loads", "types.CodeType", "types.FunctionType"})
_BY_NAME = frozenset({"getattr", "setattr", "delattr", "__import__", "importlib.import_module", "os.getenv"})
_TABLES = frozenset({"sys.modules", "os.environ"})
_DECODERS = frozenset({"base64", "codecs", "binascii", "zlib"})


def hidden_code(tree: ast.Module, *, told: str) -> Iterator[tuple[int, str]]:
    """List (line, text) of the places that run code out of a text of which nobody spoke, or that hide a name.

    Args:
        told: the words of request and specification.
    """
    meaning = imported_names(tree)
    for node in ast.walk(tree):
        name = _dotted(node.func, meaning) if isinstance(node, ast.Call) else ""
        first = node.args[0] if isinstance(node, ast.Call) and node.args else None
        if name in _RUNNING and first is not None:
            if _is_constant(first, meaning) or not _OF_CODE.search(told):
                yield node.lineno, f"runs code out of a text: {ast.unparse(node)[:80]}"  # type: ignore[attr-defined]  # a call
        elif name in _MAKING and not _OF_CODE.search(told):
            yield node.lineno, f"makes code at run time: {name}"  # type: ignore[attr-defined]  # a call
        for key in _keys(node, name, meaning):
            if not isinstance(key, ast.Constant) and _is_constant(key, meaning):
                yield key.lineno, f"hides the name that it asks for: {ast.unparse(key)[:80]}"


def _keys(node: ast.AST, name: str, meaning: dict[str, str]) -> Iterator[ast.expr]:
    """The expressions by which something is looked up by its name."""
    if isinstance(node, ast.Call) and name in _BY_NAME:
        yield from node.args[-2:-1] if name == "setattr" else node.args[1:2] if name.endswith("attr") else node.args[:1]
    elif isinstance(node, ast.Call) and name.rpartition(".")[0] in _TABLES:
        yield from node.args[:1]
    elif isinstance(node, ast.Subscript) and _dotted(node.value, meaning) in _TABLES:
        yield node.slice
    elif isinstance(node, ast.Compare) and _dotted(node.comparators[0], meaning) in _TABLES:
        yield node.left


def _is_constant(node: ast.expr, meaning: dict[str, str]) -> bool:
    """Whether an expression consists of constants, built-in functions and decoders alone."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    bound = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    known = {name for name, full in meaning.items() if full.split(".")[0] in _DECODERS}
    free = {one.id for one in names} - bound - known
    return any(isinstance(one, ast.Constant) for one in ast.walk(node)) and all(hasattr(builtins, one) for one in free)


def _dotted(node: ast.expr, meaning: dict[str, str]) -> str:
    """The full name of what is read; a name that nothing imports is itself."""
    if isinstance(node, ast.Name):
        return meaning.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, meaning)
        return f"{owner}.{node.attr}" if owner else ""
    return ""
