"""Does a sample compute, or does it know the numbers of the examples? Told by what it gives for calls near them. Pure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

from agentforge.verification.examples.claims import Claim, literal, spelling

_LEAST = 3
_PLAIN = (-1, 0, 1)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")


def holds_number(definition: ast.AST, claims: Sequence[Claim], *, request: str) -> bool:
    """Whether a definition holds a number that an example expects.

    A number that the request speaks of outside of the examples is a rule, not an answer.
    """
    numbers = {one for one in _told(claims) if type(one) in (int, float) and one not in _PLAIN}
    rules = Counter(_NUMBER.findall(request)) - Counter(_NUMBER.findall(" ".join(claim.text for claim in claims)))
    constants = [node.value for node in ast.walk(definition) if isinstance(node, ast.Constant)]
    return any(type(one) in (int, float) and one in numbers and repr(one) not in rules for one in constants)


def remembers(claims: Sequence[Claim], answers: Sequence[str]) -> bool:
    """Whether nothing is given near the examples but what they expect.

    Args:
        answers: for calls near the examples, in words.
    """
    given = [one for one in answers if not one.startswith("raises")]
    return len(given) >= _LEAST and set(given) <= {repr(one) for one in _told(claims)}


def without_and_twice(call: str) -> tuple[str, ...]:
    """A scene with each of its steps left out, and done twice; nothing for a plain call."""
    tree = ast.parse(call, mode="eval")
    parts = tree.body.value if isinstance(tree.body, ast.Subscript) else None
    if not isinstance(parts, ast.Tuple) or not isinstance(parts.elts[0], ast.NamedExpr):
        return ()
    rows, found = list(parts.elts), []
    for place in range(1, len(rows) - 1):
        for changed in ([*rows[:place], *rows[place + 1 :]], [*rows[: place + 1], *rows[place:]]):
            parts.elts = changed
            found.append(spelling(ast.unparse(tree)))
    return tuple(dict.fromkeys(found))


def _told(claims: Sequence[Claim]) -> set[object]:
    """The plain values that examples expect."""
    values = [literal(claim.returns) for claim in claims if claim.returns]
    return {one for one in values if isinstance(one, (int, float, str, bool))}
