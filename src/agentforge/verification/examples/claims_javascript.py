"""Claims about JavaScript and TypeScript: `slug("a b") -> "a-b"`, `add(1, 2) === 3`; the same shapes as in `claims.py`.

A call is kept as JavaScript. A result is kept as Python source of the same value: objects are dicts, arrays are lists, null and
undefined are None. What was written in Python's way (`True`, `None`, tuples) is understood, too.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentforge.languages.javascript.source import broken, replaced, span, unwrapped
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.prose import EXCEPTION, START, goes_on, said_in, unbroken
from agentforge.workspace.code.symbols import parse_tree

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_LIMIT = 4000
_GLOBALS = frozenset(
    {"Array", "Object", "JSON", "Math", "String", "Number", "Boolean", "Set", "Map", "Date", "Promise", "Symbol", "BigInt",
     "undefined", "NaN", "Infinity", "globalThis", "RegExp", "Error", "structuredClone", "parseInt", "parseFloat"}
)  # fmt: skip
_ERRORS = frozenset(
    {"Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError", "AggregateError"}
)
_NODES = frozenset(
    {"call_expression", "member_expression", "identifier", "property_identifier", "arguments", "new_expression", "string",
     "string_fragment", "escape_sequence", "number", "true", "false", "null", "undefined", "array", "object", "pair",
     "unary_expression", "await_expression", "template_string", "parenthesized_expression", "subscript_expression",
     "spread_element"}
)  # fmt: skip
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def claims_in(text: str) -> tuple[Claim, ...]:
    """Read the claims of one example as it stands in a request; () when it holds none that can be run."""
    if len(text) > _LIMIT:
        return ()
    return tuple(dict.fromkeys(claim for line in unbroken(text).splitlines() for claim in _of_line(line)))


def claim_of(value: Mapping[str, Any]) -> Claim:
    """Read one example of a specification.

    Raises:
        ValueError: it cannot be checked; says why and what to write.
    """
    said, raises = (str(value.get(name) or "").strip() for name in ("call", "raises"))
    given = value.get("returns", "")
    returns = given.strip() if isinstance(given, str) else repr(given)
    call = call_source(said)
    if call is None:
        raise ValueError(f"{said!r} is no call of literals: write it like name('text', 3)")
    if bool(returns) == bool(raises):
        raise ValueError(f"{said!r} needs either returns or raises")
    result = literal_source(returns) if returns else ""
    if result is None:
        raise ValueError(f"returns of {said!r} is no literal: write it as source, like 'text' with its quotes")
    if raises and not raises.isidentifier():
        raise ValueError(f"raises of {said!r} is no name of an error")
    if raises not in _ERRORS and isinstance(getattr(builtins, raises, None), type):
        raise ValueError(f"{raises} is no error of JavaScript: Error, TypeError, RangeError, or a class of the project")
    return Claim(call=call, returns=result, raises=raises, requirement=str(value.get("requirement") or ""))


def names_of(call: str) -> tuple[str, ...]:
    """The free names of a call that the language does not bring along, in order; what it binds as a parameter is not free."""
    root = _expression(call)
    nodes = root.find_all(kind="identifier") if root is not None else []
    bound = (
        {one.text() for kind in root.find_all(kind="formal_parameters") for one in kind.children()}
        if root is not None
        else set()
    )
    return tuple(dict.fromkeys(one.text() for one in nodes if one.text() not in _GLOBALS | bound))


def literal_source(text: str) -> str | None:
    """The value of a literal as Python source; None when it is none."""
    root = _expression(text)
    try:
        found = _value(root) if root is not None else _plain(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        try:
            found = _plain(ast.literal_eval(text.strip()))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    return repr(found).replace("inf", "1e999") if isinstance(found, float) else repr(found)


def _of_line(line: str) -> Iterator[Claim]:
    for call, result, beside in said_in(line, call_at_end=_call_at_end, may_be_given=_may_be_given):
        yield from (replace(claim, beside=beside) for claim in _made(call, result))


def _may_be_given(call: str) -> bool:
    """Whether `call = literal` can be an example: a call of one thing, with nothing but literals."""
    return len(names_of(call)) == 1


def _made(said: str, result: str) -> Iterator[Claim]:
    call = call_source(said)
    if call is None:
        return
    raised = EXCEPTION.match(result)
    if raised:
        yield Claim(call=call, raises=raised.group(1))
        return
    value = _literal_at_start(result.strip().removeprefix("the ").strip())
    if value is not None:
        yield Claim(call=call, returns=value)


def _call_at_end(text: str) -> str | None:
    """The longest end of a text that is a call: `e.g. calling f('x')` -> f('x')."""
    bare = text.rstrip().rstrip("`,:").rstrip()
    for match in START.finditer(bare):
        piece = bare[match.start() :]
        if call_source(piece) is not None and not re.search(r"\.\s", piece.partition("(")[0]):
            return piece
    return None


def _literal_at_start(text: str) -> str | None:
    """The literal with which a text begins, as Python source; None where there is none."""
    bare = text.removeprefix("`")
    if text.startswith("`") and "`" in bare:
        quoted = literal_source(bare.partition("`")[0])
        if quoted is not None:
            return quoted
    for end in range(len(bare), 0, -1):
        piece, after = bare[:end], bare[end : end + 1]
        if piece[-1] in " \t.,;" or after.isalnum() or after in ("_", "(", "["):
            continue
        value = literal_source(piece)
        if value is not None:
            return None if goes_on(bare[end:]) else value
    return None


def call_source(text: str) -> str | None:
    """A call of literals as JavaScript; None when it is none."""
    root = _expression(text)
    if root is None:
        return None
    nodes = list(_all(root))
    if not all(one.kind() in _NODES for one in nodes) or not names_of(text):
        return None
    if not any(one.kind() in ("call_expression", "new_expression") for one in nodes):
        return None
    start = span(root)[0]
    edits = [
        (span(one)[0] - start, span(one)[1] - start, _PYTHON[one.text()])
        for one in root.find_all(kind="identifier")
        if one.text() in _PYTHON
    ]
    source = replaced(root.text(), edits)
    return source if names_of(source) else None


def texts_of(call: str) -> list[str]:
    """The texts that stand in a call."""
    root = _expression(call)
    return [one.text() for one in root.find_all(kind="string_fragment")] if root is not None else []


def arguments_of(call: str) -> tuple[str, list[str]]:
    """A call with `given_0`, `given_1`, ... in the place of the arguments that it could change, and the sources of these."""
    root = _expression(call)
    given = root.field("arguments") if root is not None and root.kind() == "call_expression" else None
    if root is None or given is None:
        return call, []
    found = [
        one
        for one in given.children()
        if one.kind() in ("array", "object", "new_expression") and not names_of(one.text())
    ]
    start = span(root)[0]
    edits = [(span(one)[0] - start, span(one)[1] - start, f"given_{number}") for number, one in enumerate(found)]
    return replaced(root.text(), edits), [one.text() for one in found]


def _all(node: SgNode) -> Iterator[SgNode]:
    """A node and everything named in it."""
    if node.is_named():
        yield node
    for child in node.children():
        yield from _all(child)


def _expression(text: str) -> SgNode | None:
    """The one expression that a text is; None when it is anything else."""
    if not text.strip() or "\n" in text:
        return None
    root = parse_tree(f"({text.strip()})", "javascript")
    if root is None or broken(root) or len(root.children()) != 1:
        return None
    statement = root.child(0)
    outer = statement.child(0) if statement is not None and statement.kind() == "expression_statement" else None
    inner = unwrapped(outer) if outer is not None and outer.kind() == "parenthesized_expression" else None
    return inner if inner is not None and inner.kind() != "sequence_expression" else None


def _value(node: SgNode) -> Any:
    """The Python value of a literal.

    Raises:
        ValueError: it is none.
    """
    node = unwrapped(node)
    kind, text = node.kind(), node.text()
    inner = [child for child in node.children() if child.is_named() and child.kind() != "comment"]
    if kind in ("string", "template_string"):
        return "".join(piece_of(child) for child in inner)
    if kind == "number":
        return number_of(text)
    if kind in ("true", "false"):
        return kind == "true"
    if kind in ("null", "undefined") or text == "None":
        return None
    if kind == "identifier" and text in ("True", "False"):
        return text == "True"
    if kind == "identifier" and text == "Infinity":
        return float("inf")
    if kind == "unary_expression" and text[0] in "+-" and inner:
        value = _value(inner[0])
        return -value if text[0] == "-" else value
    if kind == "array":
        return [_value(child) for child in inner]
    if kind == "object":
        return dict(_entry(child) for child in inner)
    if kind == "new_expression":
        return _collection(node)
    raise ValueError(f"{text[:80]!r} is no literal")


def _collection(node: SgNode) -> Any:
    name, arguments = node.field("constructor"), node.field("arguments")
    given = [child for child in arguments.children() if child.is_named()] if arguments is not None else []
    items = _value(given[0]) if given else []
    if name is not None and name.text() == "Set":
        return set(items)
    if name is not None and name.text() == "Map":
        return dict(items)
    raise ValueError(f"{node.text()[:80]!r} is no literal")


def _entry(node: SgNode) -> tuple[object, object]:
    key, value = node.field("key"), node.field("value")
    if node.kind() != "pair" or key is None or value is None or key.kind() == "computed_property_name":
        raise ValueError(f"{node.text()[:80]!r} is no entry of literals")
    return (key.text() if key.kind() == "property_identifier" else str(_value(key))), _value(value)


def piece_of(node: SgNode) -> str:
    """Give the text of a part of a string, its escape undone.

    Raises:
        ValueError: the part is filled in when it runs.
    """
    text = node.text()
    if node.kind() == "string_fragment":
        return text
    if node.kind() != "escape_sequence":
        raise ValueError(f"{text[:80]!r} is filled in when it runs")
    if text[1] in "xu":
        return chr(int(text[2:].strip("{}"), 16))
    return "" if text[1] == "\n" else _ESCAPES.get(text[1], text[1:])


def number_of(text: str) -> int | float:
    """The value of a number as JavaScript writes it."""
    bare = text.replace("_", "").rstrip("n").lower()
    if bare.startswith(("0x", "0b", "0o")):
        return int(bare, 0)
    if text.endswith("n"):
        return int(bare)
    value = float(bare)
    return int(value) if value.is_integer() else value


def _plain(value: Any) -> Any:
    """A Python value as JavaScript would have it: no tuples, no whole numbers with a point."""
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (bytes, complex)) or value is ...:
        raise ValueError(f"{value!r} is no value of JavaScript")
    return value
