"""Claims: calls with the result that they must have, read from what people write: `f('x') -> 'y'`, doctests, tables."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentforge.verification.examples.prose import EXCEPTION, START, goes_on, said_in, unbroken

BUILTINS = frozenset(
    {
        "abs", "all", "any", "bool", "bytes", "complex", "dict", "enumerate", "float", "frozenset", "int", "isinstance",
        "len", "list", "max", "min", "next", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple",
        "type", "zip",
    }
)  # fmt: skip
_NODES = (
    ast.Expression, ast.Call, ast.Name, ast.Load, ast.Attribute, ast.Constant, ast.keyword, ast.List, ast.Tuple, ast.Set,
    ast.Dict, ast.Subscript, ast.Slice, ast.UnaryOp, ast.USub, ast.UAdd, ast.Starred, ast.Await,
)  # fmt: skip
_END_OF_DOCSTRING = re.compile(r"""(?m)^\s*(?:\"{3}|'{3}|`{3})""")
"""Where a docstring that was quoted with its signature ends: right behind the last result."""
_SPELT_SMALL = re.compile(r"(?:true|false|null|none)\b(?!\s*of\b)")
_SMALL = {"true": "True", "false": "False", "null": "None", "none": "None"}
_LIMIT = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A call and what must come of it.

    Attributes:
        call: source of an expression of calls and literals, in the language of the reader that read it.
        returns: the expected value as the source of a Python literal, whatever language the call is written in; empty when an
            exception is expected.
        raises: name of the expected exception or error, as that language calls it; empty when a value is expected.
        requirement: the requirement that it belongs to.
        hidden: shown to no stage after the specification.
        asked: it stands in the request, where it may also be a complaint about what the code does today.
        firm: a human said that it has to hold, or words that nobody else will read: that the base gave the same excuses nothing.
        insisted: it failed for the attempt before this one, too: whoever wrote the code may have read the request better.
        beside: code that stands beside it in the request and may be needed for it; where there is some, the claim is
            conditional: that it fails refuses nothing by itself.
        steps: an expression of the same language that makes the calls before it and then its own; empty where there are none.
    """

    call: str
    returns: str = ""
    raises: str = ""
    requirement: str = ""
    hidden: bool = False
    asked: bool = False
    firm: bool = False
    insisted: bool = False
    beside: tuple[str, ...] = ()
    steps: str = ""

    @property
    def text(self) -> str:
        """The claim as a person writes it."""
        return f"{self.call} raises {self.raises}" if self.raises else f"{self.call} -> {self.returns}"


def claims_in(text: str) -> tuple[Claim, ...]:
    """Read the claims of one example as it stands in a request; () when it holds none that can be run.

    Read are doctest lines, `call -> literal` with any arrow, `call == literal` with or without assert, `call = literal`, "call
    returns literal", "call raises E" and rows of a table whose first two cells are a call and its result. `true`, `false` and
    `null` count as results.
    """
    if len(text) > _LIMIT:
        return ()
    found = [*_doctests(text)] if ">>>" in text else []
    if not found:
        found = [claim for line in unbroken(text).splitlines() for claim in _of_line(line)]
    return tuple(dict.fromkeys(found))


def claim_of(value: Mapping[str, Any]) -> Claim:
    """Read one example of a specification.

    Raises:
        ValueError: it cannot be checked; says why and what to write.
    """
    call, raises = (str(value.get(name) or "").strip() for name in ("call", "raises"))
    given = value.get("returns", "")
    returns = given.strip() if isinstance(given, str) else repr(given)
    tree = _expression(call)
    if tree is None or not is_call(tree):
        raise ValueError(f"{call!r} is no call of literals: write it like name('text', 3)")
    if bool(returns) == bool(raises):
        raise ValueError(f"{call!r} needs either returns or raises")
    if returns and not is_literal(returns):
        raise ValueError(f"returns of {call!r} is no Python literal: write it as source, like 'text' with its quotes")
    if raises and not EXCEPTION.fullmatch(raises) and not raises.isidentifier():
        raise ValueError(f"raises of {call!r} is no name of an exception")
    return Claim(call=call, returns=returns, raises=raises, requirement=str(value.get("requirement") or ""))


def names_of(call: str) -> tuple[str, ...]:
    """The free names of a call that are no builtins, in order; what it binds itself by `:=` is not free."""
    tree = _expression(call)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)] if tree is not None else []
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return tuple(dict.fromkeys(node.id for node in names if node.id not in BUILTINS and node.id not in bound))


def attributes_of(call: str, name: str) -> tuple[str, ...]:
    """What a call takes of a free name: `("ljust",)` of `wcwidth` in `wcwidth.ljust('a', 4)`."""
    tree = _expression(call)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)] if tree is not None else []
    return tuple(dict.fromkeys(one.attr for one in nodes if isinstance(one.value, ast.Name) and one.value.id == name))


def is_call(tree: ast.Expression) -> bool:
    """Whether an expression holds a call of something that is no builtin, and nothing but calls and literals."""
    nodes = list(ast.walk(tree))
    if not all(isinstance(node, _NODES) for node in nodes) or any(map(_is_left_out, nodes)):
        return False
    return any(isinstance(node, ast.Call) for node in nodes) and any(
        isinstance(node, ast.Name) and node.id not in BUILTINS for node in nodes
    )


def call_source(text: str) -> str | None:
    """A call of literals; None when it is none."""
    tree = _expression(text.strip())
    return text.strip() if tree is not None and is_call(tree) else None


def _is_left_out(node: ast.AST) -> bool:
    """Whether a node is `...`: it stands for something that nobody wrote."""
    return isinstance(node, ast.Constant) and node.value is ...


def literal_source(text: str) -> str | None:
    """The value of a literal as Python source, however it is spelt; None when it is none."""
    try:
        return repr(literal(_SMALL.get(text.strip(), text)))
    except ValueError:
        return None


def is_literal(source: str) -> bool:
    """Whether a text is the source of a value that can be compared: numbers, texts, containers of them."""
    try:
        literal(source)
    except ValueError:
        return False
    return True


def literal(source: str) -> Any:
    """The value of a literal; `set()` and `frozenset({1})` count.

    Raises:
        ValueError: it is none.
    """
    text = source.strip()
    frozen = re.fullmatch(r"frozenset\((.*)\)", text, re.DOTALL)
    try:
        if frozen:
            return frozenset(literal(frozen.group(1)) if frozen.group(1).strip() else ())
        if "..." in text and any(map(_is_left_out, ast.walk(ast.parse(text, mode="eval")))):
            raise ValueError(f"{text[:80]!r} leaves something out")
        return set() if text == "set()" else ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as exc:
        raise ValueError(f"{text[:80]!r} is no literal") from exc


def _doctests(text: str) -> Iterator[Claim]:
    import doctest

    try:
        examples = doctest.DocTestParser().get_examples(textwrap.dedent(text))
    except ValueError:
        return
    for example in examples:
        call, want = example.source.strip(), _END_OF_DOCSTRING.split(example.want)[0].strip()
        tree = _expression(call)
        compared = _compared(tree) if not want or want == "True" else None
        if compared is not None:
            yield compared
        if tree is None or not is_call(tree):
            continue
        if example.exc_msg is not None:
            yield Claim(call=call, raises=example.exc_msg.partition(":")[0].strip())
        elif is_literal(want):
            yield Claim(call=call, returns=want)


def _compared(tree: ast.Expression | None) -> Claim | None:
    """`>>> f(1) == 2`, with `True` below it or nothing."""
    match tree:
        case ast.Expression(body=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            call, value = ast.unparse(left), ast.unparse(right)
            if is_call(ast.Expression(left)) and is_literal(value):
                return Claim(call=call, returns=value)
    return None


def _of_line(line: str) -> Iterator[Claim]:
    for call, result, beside in said_in(line, call_at_end=_call_at_end, may_be_given=_may_be_given):
        yield from (replace(claim, beside=beside) for claim in _made(call, result))


def _may_be_given(call: str) -> bool:
    """Whether `call = literal` can be an example: a call of one thing, with nothing but literals."""
    tree = _expression(call)
    return tree is not None and isinstance(tree.body, ast.Call) and len(names_of(call)) == 1


def _made(call: str, result: str) -> Iterator[Claim]:
    tree = _expression(call)
    if tree is None or not is_call(tree):
        return
    raised = EXCEPTION.match(result)
    value = "" if raised else literal_at_start(result.strip().removeprefix("the ").strip())
    if raised:
        yield Claim(call=call, raises=raised.group(1))
    elif value:
        yield Claim(call=call, returns=value)


def _call_at_end(text: str) -> str | None:
    """The longest end of a text that is a call: `e.g. calling f('x')` -> f('x')."""
    bare = text.rstrip().rstrip("`,:").rstrip()
    for match in START.finditer(bare):
        piece = bare[match.start() :]
        tree = _expression(piece)
        if tree is None or isinstance(tree.body, ast.Tuple):  # a comma of the sentence
            continue
        if is_call(tree) and not _broken_name(tree, piece):
            return piece
    return None


def _broken_name(tree: ast.Expression, source: str) -> bool:
    """Whether prose was read as an attribute: `e.g. f('x')`."""
    spoken = [node.value.end_col_offset for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    data = source.encode()
    return any(data[end + 1 : end + 2].isspace() for end in spoken if end is not None)


def literal_at_start(text: str) -> str:
    """The longest start of a text that is a literal and ends where a word could end; "" there is none."""
    quoted = text.startswith("`")
    bare = text.removeprefix("`")
    small = _SPELT_SMALL.match(bare)
    if small is not None:
        return "" if goes_on(bare[small.end() :]) else _SMALL[small.group()]
    if quoted and "`" in bare and is_literal(bare.partition("`")[0]):
        return bare.partition("`")[0].strip()
    for end in range(len(bare), 0, -1):
        piece, after = bare[:end], bare[end : end + 1]
        complete = piece[-1] not in " \t.," and not (after.isalnum() or after in ("_", "(", "["))
        if complete and is_literal(piece):
            return "" if goes_on(bare[end:]) else piece
    return ""


def _expression(source: str) -> ast.Expression | None:
    if not source or "\n" in source:
        return None
    try:
        return ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def distinct(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """One claim for each call; the first wins."""
    seen: dict[str, Claim] = {}
    for claim in claims:
        seen.setdefault(spelling(claim.call), claim)
    return tuple(seen.values())


def spelling(call: str) -> str:
    """A call without differences of spacing and quotes."""
    tree = _expression(call)
    return call if tree is None else ast.unparse(tree)


def contradictions(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Calls of which two different results are claimed."""
    first: dict[str, Claim] = {}
    wrong = []
    for claim in claims:
        known = first.setdefault(spelling(claim.call), claim)
        if outcome(claim) != outcome(known):
            wrong.append(claim.call)
    return tuple(dict.fromkeys(wrong))


def outcome(claim: Claim) -> tuple[str, str, str]:
    """What a claim says, without differences of spelling: its call, the exception, the value."""
    return spelling(claim.call), claim.raises, repr(literal(claim.returns)) if claim.returns else ""
