"""Helpers of tests in JavaScript and TypeScript that the specification changes: functions beside tests, or in files of tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from agentforge.languages.javascript.source import CLASSES, FUNCTIONS, is_javascript, parsed, unwrapped
from agentforge.languages.javascript.tests import group_or_test
from agentforge.verification.counterexamples.nearest_tests import imported_scripts
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Read

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_ALIAS = re.compile(r"([A-Za-z_$][\w$]*)\s+as\s+([A-Za-z_$][\w$]*)")
_TYPES = ("interface_declaration", "type_alias_declaration", "enum_declaration")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A statement of a file of tests; a group of tests is its head, followed by what stands in it.

    Attributes:
        kind: "test", "group", "function", "import", "type", "value" (a constant), or "other", which does something by itself.
        name: titles of a test, or the name that is bound; "" where there is none.
        group: titles of the groups around it.
    """

    kind: str
    name: str
    group: str
    text: str

    @property
    def shape(self) -> tuple[str, str, str]:
        """Equal for equal parts; an import is what it binds, from wherever."""
        bound = self.name if self.kind == "import" else " ".join(self.text.split())
        return (self.kind, self.group, bound)


def declared_helpers(superseded: Collection[str], *, before: Read, after: Read) -> frozenset[str]:
    """`path::name` of the declared helpers whose files changed in nothing else that acts by itself.

    Args:
        superseded: `path::name` of what the specification changes in files of tests.
    """
    by_file: dict[str, set[str]] = {}
    for one in superseded:
        path, _, name = one.partition("::")
        if is_javascript(path):
            by_file.setdefault(path, set()).add(name)
    found: set[str] = set()
    for path, names in by_file.items():
        old, new = _parts(before(path)), _parts(after(path))
        helpers = names & _functions(old).keys() & _functions(new).keys()
        if helpers and _nothing_else(old, new, helpers):
            found |= {f"{path}::{name}" for name in helpers}
    return frozenset(found)


def helpers_of(test: str, *, read: Read, present: Collection[str]) -> frozenset[str]:
    """`path::name` of the helpers that a test comes to, directly or through others."""
    return _reached(test, read, present)[0]


def words_of_script_test(test: str, *, read: Read, present: Collection[str]) -> frozenset[str]:
    """The names that a test uses, itself or through the helpers that it comes to."""
    return _reached(test, read, present)[1]


def _reached(test: str, read: Read, present: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    path, _, title = test.partition("::")
    there = frozenset(present)
    parts = {one: _parts(read(one)) for one in (path, *_support(path, read, there))}
    behind = {one: _support(one, read, there) for one in parts}
    known = {one: _functions(own) for one, own in parts.items()}
    aliases = {one: {alias: name for name, alias in _ALIAS.findall(_text(read(one)))} for one in parts}
    own = [one for one in parts[path] if one.kind in ("other", "value") or (one.kind == "test" and one.name == title)]
    left = [(path, one.text) for one in own]
    seen: set[tuple[str, str]] = set()
    words: set[str] = set()
    while left:
        here, text = left.pop()
        for word in {aliases[here].get(word, word) for word in _WORD.findall(text)}:
            words.add(word)
            homes = [here] if word in known[here] else [one for one in behind[here] if word in known[one]]
            new = {(home, word) for home in homes} - seen
            seen |= new
            left += [(home, known[home][word]) for home, _ in new]
    return frozenset(f"{home}::{name}" for home, name in seen), frozenset(words)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _support(path: str, read: Read, present: frozenset[str]) -> list[str]:
    """The files of tests that a file of tests imports, directly or through others."""
    found: list[str] = []
    left = [path]
    while left:
        here = left.pop()
        for one in sorted(imported_scripts(here, read(here) or b"", present)):
            if one not in found and one != path and is_test_path(one):
                found.append(one)
                left.append(one)
    return found


def _functions(parts: Sequence[_Part]) -> dict[str, str]:
    counted = Counter(one.name for one in parts if one.kind == "function")
    return {one.name: one.text for one in parts if one.kind == "function" and counted[one.name] == 1}


def _nothing_else(old: Sequence[_Part], new: Sequence[_Part], helpers: Collection[str]) -> bool:
    """Whether the old text stands but for the helpers, and what was added does nothing by itself.

    Tests with titles do not count: each is held to its own text.
    """
    kept = [
        [one for one in parts if one.kind != "test" and not (one.kind == "function" and one.name in helpers)]
        for parts in (old, new)
    ]
    before, after = (Counter(one.shape for one in parts) for parts in kept)
    if before - after:
        return False
    added = [one for one in kept[1] if after[one.shape] > before[one.shape]]
    known = {one.name for one in old if one.kind in ("function", "value", "import")}
    bound = Counter(one.name for one in new if one.kind in ("function", "value", "import"))
    return all(one.kind != "other" for one in added) and all(bound[name] <= 1 for name in known if name)


@lru_cache(maxsize=256)
def _parts(data: bytes | None) -> tuple[_Part, ...]:
    """The parts of a file; () where it cannot be read. TypeScript's grammar reads JavaScript, too."""
    text = _text(data)
    root = next(
        (one for name in ("a.ts", "a.tsx", "a.js") if (one := parsed(name, text)) and not one.find(kind="ERROR")), None
    )
    return tuple(_of_block(root, ())) if root is not None else ()


def _of_block(block: SgNode, titles: tuple[str, ...]) -> Iterator[_Part]:
    for node in block.children():
        if node.is_named() and node.kind() != "comment":
            yield from _of_statement(node, titles)


def _of_statement(node: SgNode, titles: tuple[str, ...]) -> Iterator[_Part]:
    group, kind = " > ".join(titles), node.kind()
    if kind == "export_statement" and (inner := node.field("declaration")) is not None:
        node, kind = inner, inner.kind()
    if kind == "import_statement":
        yield from (_Part(kind="import", name=name, group=group, text=node.text()) for name in _imported(node))
    elif kind == "expression_statement" and (call := node.child(0)) is not None and call.kind() == "call_expression":
        yield from _of_call(call, titles)
    elif kind in _TYPES:
        yield _Part(kind="type", name="", group=group, text=node.text())
    elif kind in CLASSES or kind.endswith("function_declaration"):
        name = node.field("name")
        what = "function" if kind not in CLASSES else "value"
        yield _Part(kind=what, name=name.text() if name else "", group=group, text=node.text())
    elif kind in ("lexical_declaration", "variable_declaration"):
        yield _of_declaration(node, group)
    else:
        yield _Part(kind="other", name="", group=group, text=node.text())


def _of_call(call: SgNode, titles: tuple[str, ...]) -> Iterator[_Part]:
    what, title = group_or_test(call)
    group, named = " > ".join(titles), " > ".join((*titles, title))
    if what == "test":
        yield _Part(kind="test", name=named, group=group, text=call.text())
        return
    arguments = call.field("arguments") if what == "group" else None
    function = next((one for one in arguments.children() if one.kind() in FUNCTIONS), None) if arguments else None
    body = function.field("body") if function is not None else None
    if body is None or body.kind() != "statement_block":
        yield _Part(kind="other", name="", group=group, text=call.text())
        return
    yield _Part(kind="group", name=named, group=group, text=title)
    yield from _of_block(body, (*titles, title))


def _of_declaration(node: SgNode, group: str) -> _Part:
    """A function under a name, a value that is there without a call, or something that acts."""
    declared = [one for one in node.children() if one.kind() == "variable_declarator"]
    value = declared[0].field("value") if len(declared) == 1 else None
    name = declared[0].field("name") if declared else None
    plain = name.text() if name is not None and name.kind() == "identifier" else ""
    if plain and value is not None and unwrapped(value).kind() in FUNCTIONS:
        return _Part(kind="function", name=plain, group=group, text=node.text())
    acts = node.find(kind="call_expression") is not None or node.find(kind="new_expression") is not None
    return _Part(kind="other" if acts else "value", name=plain, group=group, text=node.text())


def _imported(node: SgNode) -> list[str]:
    """The names that an import binds; its own text where it binds none."""
    clause = next((one for one in node.children() if one.kind() == "import_clause"), None)
    if clause is None:
        return [node.text()]
    bound: list[str] = []
    for one in clause.find_all(kind="identifier"):
        around = next(iter(one.ancestors()))
        alias = around.field("alias") if around.kind() == "import_specifier" else None
        if alias is None or alias.text() == one.text():
            bound.append(one.text())
    return bound
