"""Examples that name inputs and the output, and leave the call to the reader: `For s = 'ab', n = 2 the result should be 'abab'`.

The call is made where the request tells one function with its parameters, and the inputs are all of them. Pure text work.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from agentforge.frozen import dataclass
from agentforge.pipeline.facts.examples import literals
from agentforge.verification.examples.claims import Claim, is_literal, literal_at_start

_DEF = re.compile(r"(?m)^\s*(?:async\s+)?def\s+([A-Za-z_]\w*)\s*\(")
_SPOKEN = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\((\s*[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*)\)")
_BOUND = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w*)\s*(?:=|:)\s*(?=[-\[({'\"\d]|True|False|None|true|false)")
_INPUT = re.compile(r"(?i)^\s*(?:[-*]\s*)?(?:sample |example )?inputs?\s*(?:\d+\s*)?:\s*(.*)$")
_OUTPUT = re.compile(r"(?i)^\s*(?:[-*]\s*)?(?:sample |example |expected )?outputs?\s*(?:\d+\s*)?:\s*(.*)$")
_RESULT = re.compile(
    r"(?i)\b(?:output|result|answer|(?:return )?value|function|it)\s+(?:should|must|will|shall)\s+"
    r"(?:be|return|give|equal)\s*:?\s*"
    r"|\b(?:output|result|answer|return value)\s+is\s*:?\s*|\b(?:returns?|gives?|yields?|outputs?)\s*[:=]?\s*"
    r"|(?:-{1,3}>|={1,3}>|→|⇒|➞)\s*"
)
_RETURNED = re.compile(r"(?i)^\s*(?:=>\s*)?(?:returns?|results?|outputs?)\s*[:=]?\s*(?=\S)")
_NEAR = 5
_MOST_LINES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class _Function:
    """What is called.

    Attributes:
        needed: parameters without a default.
    """

    name: str
    parameters: tuple[str, ...]
    needed: int


def claims_by_inputs(request: str) -> Iterator[tuple[str, Claim]]:
    """Each example of this kind as it stands in the request, with the call that it speaks of."""
    function = _told_function(request)
    if function is None or not function.parameters:
        return
    lines = request.splitlines()[:_MOST_LINES]
    for number, line in enumerate(lines):
        if _INPUT.match(line):
            found = _in_block(function, lines[number:])
        elif not _OUTPUT.match(line):
            found = _in_sentence(function, lines[number : number + _NEAR])
        else:
            continue
        for text, claim in found:
            yield _without_remarks(text, claim), claim


def _without_remarks(text: str, claim: Claim) -> str:
    """The example, or its result alone where values stand between that are no part of it: no test would assert them."""
    known = set(literals(claim.text))
    if set(literals(text)) <= known:
        return text
    results = [*(text[match.start() :] for match in _RESULT.finditer(text)), text.splitlines()[-1], claim.returns]
    return next((part for part in results if part in text and set(literals(part)) <= known), text)


def _told_function(request: str) -> _Function | None:
    """The one function that the request gives a signature of."""
    found = dict[str, _Function]()
    for match in _DEF.finditer(request):
        one = _declared(request[match.start() :])
        if one is not None:
            found[one.name] = one
    if not found:
        for name, listed in _SPOKEN.findall(request):
            names = tuple(part.strip() for part in listed.split(","))
            found.setdefault(name, _Function(name=name, parameters=names, needed=len(names)))
    return next(iter(found.values())) if len(found) == 1 else None


def _declared(text: str) -> _Function | None:
    """The signature that a text begins with."""
    head = re.match(r"[^:]*?\)[^:\n]*:(?=\s*(?:\n|$|\"|\'))|.*?\)\s*(?:->[^:\n]+)?:", text.lstrip(), re.DOTALL)
    if head is None:
        return None
    try:
        node = ast.parse(f"{head.group()} ...").body[0]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.args.vararg or node.args.kwonlyargs:
        return None
    names = tuple(one.arg for one in [*node.args.posonlyargs, *node.args.args])
    return _Function(name=node.name, parameters=names, needed=len(names) - len(node.args.defaults))


def _in_block(function: _Function, lines: Sequence[str]) -> Iterator[tuple[str, Claim]]:
    """`Input: ...` and the `Output: ...` below it."""
    given = list[str]()
    for number, line in enumerate(lines[: 2 * _NEAR]):
        out = _OUTPUT.match(line)
        if out is not None:
            told = out.group(1).strip() or (lines[number + 1].strip() if number + 1 < len(lines) else "")
            claim = _claim(function, " ".join(given).strip(), told)
            if claim is not None:
                last = number if out.group(1).strip() else number + 1
                yield "\n".join(part.strip() for part in lines[: last + 1]), claim
            return
        opened = _INPUT.match(line)
        if opened is not None and number:
            return
        given.append(opened.group(1) if opened is not None else line.strip())


def _in_sentence(function: _Function, lines: Sequence[str]) -> Iterator[tuple[str, Claim]]:
    """`For a = 1, b = 2 the output should be 3`, or the inputs on one line and `return 3` on one of the next."""
    bound = list(_BOUND.finditer(lines[0]))
    if not bound:
        return
    values = _bindings(lines[0])
    behind = lines[0][_end_of(lines[0], bound[-1]) :]
    for match in reversed(list(_RESULT.finditer(behind))):
        claim = _called(function, values, behind[match.end() :])
        if claim is not None:
            text = lines[0][bound[0].start() : len(lines[0]) - len(behind) + match.end()]
            yield f"{text}{_told(behind[match.end() :])}".strip(), claim
            return
    for number, line in enumerate(lines[1:], 1):
        if _BOUND.search(line):
            return
        returned = _RETURNED.match(line)
        claim = _called(function, values, line[returned.end() :]) if returned is not None else None
        if claim is not None:
            yield "\n".join(part.strip() for part in lines[: number + 1]), claim
            return


def _told(text: str) -> str:
    """The text of the literal that a text begins with."""
    bare = text.lstrip()
    value = literal_at_start(bare.removeprefix("the "))
    at = bare.find(value) if value else -1
    return text[: len(text) - len(bare)] + (bare[: at + len(value)] if at >= 0 else bare)


def _end_of(line: str, bound: re.Match[str]) -> int:
    value = literal_at_start(line[bound.end() :])
    return bound.end() + (len(value) if value else 0)


def _bindings(text: str) -> dict[str, str]:
    """`a = 1, b: [2]` -> {a: "1", b: "[2]"}; {} when one of them is no literal."""
    out, after = dict[str, str](), 0
    for match in _BOUND.finditer(text):
        if match.start() < after:  # within a value
            continue
        value = _value(text[match.end() :])
        if not value:
            return {}
        out.setdefault(match.group(1), value)
        after = match.end() + len(value)
    return out


def _value(text: str) -> str:
    """The shortest start that is a whole literal and ends where a value can end."""
    for end in range(1, len(text) + 1):
        if re.match(r"[\s,;]|$|\.(?!\d)", text[end:]) and is_literal(text[:end]):
            return text[:end]
    return literal_at_start(text)


def _claim(function: _Function, given: str, result: str) -> Claim | None:
    """A claim of what stands behind Input: names with values, or the values alone."""
    values = _bindings(given)
    if values:
        return _called(function, values, result)
    try:
        node = ast.parse(f"f({given})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    parts = [ast.unparse(one) for one in node.args]
    named = dict(zip(function.parameters, parts, strict=False))
    return _called(function, named, result) if len(named) == len(parts) and all(map(is_literal, parts)) else None


def _called(function: _Function, values: dict[str, str], result: str) -> Claim | None:
    """The call with these values and the result that a text begins with."""
    names = list(values)
    in_order = len(names) <= len(function.parameters) and all(
        set(name.split("_")) & set(parameter.split("_"))
        for name, parameter in zip(names, function.parameters, strict=False)
    )
    if set(names) <= set(function.parameters):
        given = [values[name] for name in function.parameters if name in values]
        whole = all(name in values for name in function.parameters[: len(given)])
    else:
        given, whole = list(values.values()), in_order
    returns = literal_at_start(result.strip().removeprefix("the ").strip())
    if not whole or len(given) < function.needed or not returns:
        return None
    return Claim(call=f"{function.name}({', '.join(given)})", returns=returns)
