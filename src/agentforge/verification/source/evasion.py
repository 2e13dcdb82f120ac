"""Finds new product code that can only deceive a verifier or its reader: patched clocks and built-ins, and what its parts find.

It sees what stands in the source: assignments to clock, chance and built-ins. Objects that claim to be others are seen through
where results are compared (`typed.py`); what a result depends on is measured (`dependencies.py`). What is done behind the
caller's back: `side_effects.py`; code in texts: `hidden_code.py`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from agentforge.verification.effects.undeclared_effects import REACHING, effects
from agentforge.verification.source.hidden_code import hidden_code
from agentforge.verification.source.mentions import with_parts_of_names

Read = Callable[[str], bytes | None]

_PATCHED = frozenset(
    {"time", "random", "datetime", "builtins", "math", "operator", "json", "unittest", "pytest", "_pytest"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deception:
    """One place that the base does not have."""

    path: str
    line: int
    text: str


def new_deceptions(changed: Iterable[str], *, before: Read, after: Read, told: str = "") -> tuple[Deception, ...]:
    """List the suspicious places of the changed product files that the base does not have; one that only moved is not new.

    Files that reached for the network or other programs before may do more of it.

    Args:
        changed: product files; see `runners.product`.
        told: the words of the request and of people's answers: what they speak of by name is no deception.
    """
    found: list[Deception] = []
    told = with_parts_of_names(told)
    modules = [path for path in changed if path.endswith(".py")]
    known = Counter(text for path in modules for _, text in _places(before(path) or b"", told))
    habits = tuple(kind for kind in REACHING if any(text.startswith(kind) for text in known))
    for path in modules:
        data = after(path)
        if data is None:
            continue
        for line, text in _places(data, told):
            if known[text] > 0:
                known[text] -= 1
            elif not text.startswith(habits):
                found.append(Deception(path=path, line=line, text=text))
    return tuple(found)


def _places(data: bytes, told: str) -> list[tuple[int, str]]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return []
    return sorted({*_patches(tree), *effects(tree, told=told), *hidden_code(tree, told=told)})


def _patches(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Assignments to clock, chance and built-ins."""
    modules = {
        alias.asname or alias.name: alias.name for alias in _imports(tree) if alias.name.split(".")[0] in _PATCHED
    }
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        named = [one for one in targets if isinstance(one, ast.Attribute)]
        owners = [(one.value, one.attr) for one in named]
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("setattr", "builtins.setattr")
            and len(node.args) == 3
        ):
            owners = [(node.args[0], ast.unparse(node.args[1]))]
        for owner, attribute in owners:
            name = ast.unparse(owner)
            if name in modules:
                yield node.lineno, f"{name}.{attribute.strip(chr(39))} is replaced"  # type: ignore[attr-defined]  # statement or call


def _imports(tree: ast.Module) -> Iterator[ast.alias]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from node.names
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield ast.alias(name=node.module, lineno=node.lineno, col_offset=0)
