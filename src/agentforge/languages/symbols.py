"""The symbols that a specification declares, and what refers to them."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from agentforge.languages.javascript.source import defines, is_javascript
from agentforge.workspace.code.symbols import language_of, outline_of

Change = Literal["new", "changed", "removed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One declared symbol. `name` may be dotted: `Class.method`."""

    name: str
    file: str
    kind: str
    signature: str = ""
    change: str = "new"

    @property
    def owner(self) -> str:
        """The class that a dotted name belongs to; empty for a module-level name."""
        return _owner_and_last(self.name)[0]

    @property
    def last(self) -> str:
        """The name without its class."""
        return _owner_and_last(self.name)[1]


def _owner_and_last(name: str) -> tuple[str, str]:
    """`Class` and `method`; a computed name of JavaScript, `Class.[Symbol.iterator]`, is one part."""
    owner, computed, rest = name.partition("[Symbol.")
    if computed and rest.endswith("]"):
        return owner.rstrip("."), computed + rest
    owner, _, last = name.rpartition(".")
    return owner, last


def symbols_of(values: Iterable[Mapping[str, Any]]) -> tuple[Symbol, ...]:
    """Read the `symbols` of a specification; entries without name or file are left out."""
    return tuple(
        Symbol(
            name=str(one["name"]).removesuffix("()").replace("::", "."),
            file=str(one["file"]),
            kind=str(one.get("kind") or "function"),
            signature=str(one.get("signature") or ""),
            change=str(one.get("change") or "new"),
        )
        for one in values
        if one.get("name") and one.get("file")
    )


def concerned(names: Sequence[str], symbols: Iterable[Symbol]) -> Symbol | None:
    """The declared symbol that one of `names` (as an exception tells them) refers to."""
    for name in names:
        for symbol in symbols:
            if symbol.change != "removed" and name in _spellings(symbol):
                return symbol
    return None


def concerned_module(names: Sequence[str], symbols: Iterable[Symbol]) -> Symbol | None:
    """The declared symbol whose module, or a package above it, is one of `names`."""
    for name in names:
        for symbol in symbols:
            for module in modules(symbol.file):
                if module == name or module.startswith(name + "."):
                    return symbol
    return None


def nearest(name: str, symbols: Iterable[Symbol]) -> str:
    """The declared name that looks most like `name`; empty when none does."""
    found = difflib.get_close_matches(name.rpartition(".")[2], [symbol.last for symbol in symbols], n=1)
    return found[0] if found else ""


def slip_of(name: str, symbols: Iterable[Symbol], *, others: Iterable[str] = ()) -> str:
    """The declared name of which `name` is a slip of the pen: one letter too many, one missing, or two exchanged; "" for none.

    Args:
        others: names that exist; of these only two exchanged letters are a slip, as `values` beside `value` is none.
    """
    last = name.rpartition(".")[2]
    for one in (symbol.last for symbol in symbols):
        if one != last and len(last) > 2 and (_exchanged(last, one) or _one_more(last, one) or _one_more(one, last)):
            return one
    return next((one for one in others if one != last and len(last) > 2 and _exchanged(last, one)), "")


def _exchanged(one: str, other: str) -> bool:
    """Whether two names differ in two letters that stand in each other's place."""
    apart = [at for at in range(min(len(one), len(other))) if one[at] != other[at]]
    if len(one) != len(other) or len(apart) != 2:
        return False
    first, second = apart
    return one[first] == other[second] and one[second] == other[first]


def _one_more(longer: str, shorter: str) -> bool:
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


def exists(symbol: Symbol, source: bytes | None) -> bool:
    """Whether a file defines the symbol; a language without a grammar says no."""
    if source is None:
        return False
    if not symbol.file.endswith(".py"):
        return _outlined(symbol, source.decode("utf-8", "replace"))
    try:
        body: Sequence[ast.stmt] = ast.parse(source).body
    except (SyntaxError, ValueError):
        return False
    for part in symbol.name.split("."):
        found = [node for node in body if part in _defined(node)]
        if not found:
            return False
        body = getattr(found[-1], "body", [])
    return True


def modules(file: str) -> tuple[str, ...]:
    """The dotted names under which a file may be imported: `src/a/b.py` -> `src.a.b`, `a.b`."""
    stem = str(PurePosixPath(file).with_suffix("")).removesuffix("/__init__").removesuffix("/index")
    parts = stem.split("/")
    return tuple(".".join(parts[start:]) for start in range(len(parts) if parts[0] in ("src", "lib", "python") else 1))


def _outlined(symbol: Symbol, text: str) -> bool:
    if is_javascript(symbol.file) and defines(symbol.file, text, symbol.name):
        return True
    outlined = outline_of(symbol.file, text).symbols if language_of(symbol.file) else ()
    known = [one for one in outlined if not one.in_tests]
    return any(
        symbol.name in (one.qualified, one.name) or (one.name == symbol.last and one.parent == symbol.owner)
        for one in known
    )


def _spellings(symbol: Symbol) -> set[str]:
    spellings = {symbol.name, symbol.last, f"{symbol.name}.__init__"}
    if symbol.owner and symbol.last == "__init__":
        spellings.add(symbol.owner)
    return spellings


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return set()
