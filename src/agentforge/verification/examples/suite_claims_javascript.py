"""Claims that a JavaScript test file makes in plain words: `expect(slug("a")).toBe("b")` on imported names. Read, never run.

A file with set-up, mocks or fake timers gives nothing, and so does a call of anything but imported names and literals.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.languages.javascript.source import FUNCTIONS, parsed, unwrapped
from agentforge.languages.javascript.tests import javascript_tests
from agentforge.verification.examples.claims_javascript import call_source, literal_source, names_of

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_EQUAL = frozenset(
    {"assert.equal", "assert.strictEqual", "assert.deepEqual", "assert.deepStrictEqual", "t.is", "t.equal", "t.deepEqual"}
)  # fmt: skip
_MATCHERS = frozenset({"toBe", "toEqual", "toStrictEqual", "equal", "eql", "equals"})
_STIRRING = (
    "beforeEach", "beforeAll", "before(", "setUp", ".mock", "mock.", "spyOn", "useFakeTimers", "fakeTimers", "sinon",
    "process.env", "globalThis", "global.", "window.", "document.", "@jest-environment", "@vitest-environment", "nock(",
)  # fmt: skip
_ASSERTING = ("assert", "expect(", "t.", "await assert", "await expect(")
_ENDINGS = ("", ".js", ".ts", ".mjs", ".cjs", ".mts", ".tsx", ".jsx", "/index.js", "/index.ts")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClaim:
    """One assertion of a test.

    Attributes:
        test: id.
        returns: the literal as Python source.
        names: each free name of the call -> (file, its name there, whether it is the whole module).
    """

    test: str
    call: str
    returns: str
    names: tuple[tuple[str, str, bool], ...]


def asserted_in_javascript(path: str, data: bytes, *, present: Collection[str]) -> tuple[NodeClaim, ...]:
    """List what the straight-line tests of a file assert of the project's own functions.

    Args:
        present: paths of the repository.
    """
    text = data.decode("utf-8", "replace")
    root = parsed(path, text)
    if root is None or any(word in text for word in _STIRRING):
        return ()
    imported = dict(_imports(root, path, lambda one: _file(one, path, present)))
    found: list[NodeClaim] = []
    for title, call in javascript_tests(root):
        for said, literal in _assertions(call):
            names = names_of(said)
            known = [(name, *imported[name]) for name in names if name in imported]
            if names and len(known) == len(names):
                given = tuple((name, file, whole) for name, file, own, whole in known if own in ("", name))
                if len(given) == len(names):
                    found.append(NodeClaim(test=f"{path}::{title}", call=said, returns=literal, names=given))
    return tuple(found)


def _assertions(call: SgNode) -> Iterator[tuple[str, str]]:
    """(call, literal) of the statements of a test; () when one of its statements is anything but an assertion."""
    arguments = call.field("arguments")
    given = [unwrapped(one) for one in arguments.children() if one.is_named()] if arguments is not None else []
    body = given[-1].field("body") if given and given[-1].kind() in FUNCTIONS else None
    if body is None or any(one.text().startswith(".each") for one in call.find_all(kind="property_identifier")):
        return
    statements = [one for one in body.children() if one.is_named() and one.kind() != "comment"]
    nodes = [one.child(0) for one in statements] if body.kind() == "statement_block" else [body]
    if all(one is not None and one.text().startswith(_ASSERTING) for one in nodes):
        yield from (pair for one in nodes if one is not None and (pair := _pair(one)) is not None)


def _pair(node: SgNode) -> tuple[str, str] | None:
    """The call and the literal of `assert.equal(call, literal)` and of `expect(call).toBe(literal)`."""
    node = unwrapped(node)
    function = node.field("function") if node.kind() == "call_expression" else None
    if function is None:
        return None
    values = _values(node)
    if function.text() in _EQUAL and len(values) >= 2:
        return _read(values[0], values[1])
    owner, member = function.field("object"), function.field("property")
    if (
        owner is None
        or member is None
        or member.text() not in _MATCHERS
        or len(values) != 1
        or ".not" in owner.text()[-5:]
    ):
        return None
    while owner.kind() == "member_expression" and (inner := owner.field("object")) is not None:
        owner = inner
    started = owner.field("function") if owner.kind() == "call_expression" else None
    subjects = _values(owner) if started is not None and started.text() == "expect" else []
    return _read(subjects[0], values[0]) if subjects and ".not." not in function.text() else None


def _read(call: SgNode, literal: SgNode) -> tuple[str, str] | None:
    said, returns = call_source(call.text()), literal_source(literal.text())
    return (said, returns) if said is not None and returns is not None else None


def _values(call: SgNode) -> list[SgNode]:
    arguments = call.field("arguments")
    return (
        [one for one in arguments.children() if one.is_named() and one.kind() != "comment"]
        if arguments is not None
        else []
    )


def _imports(root: SgNode, path: str, find: Callable[[str], str]) -> Iterator[tuple[str, tuple[str, str, bool]]]:
    """Local name -> (file, name there; "" for the default or the whole, whether it may be the whole module)."""
    for node in root.find_all(kind="import_statement"):
        source = node.field("source")
        file = find(source.text()[1:-1]) if source is not None else ""
        clause = next((one for one in node.children() if one.kind() == "import_clause"), None)
        for one in clause.children() if file and clause is not None else ():
            if one.kind() in ("identifier", "namespace_import"):
                yield one.text().rpartition(" ")[2], (file, "", True)
            for specifier in one.children() if one.kind() == "named_imports" else ():
                name, alias = specifier.field("name"), specifier.field("alias")
                if name is not None:
                    yield (alias or name).text(), (file, name.text(), False)
    for node in root.find_all(kind="variable_declarator"):
        yield from _required(node, find)


def _required(node: SgNode, find: Callable[[str], str]) -> Iterator[tuple[str, tuple[str, str, bool]]]:
    """`const { slug } = require("../kit")`, `const kit = require("../kit")`."""
    name, value = node.field("name"), node.field("value")
    if name is None or value is None or not value.text().startswith("require(") or value.kind() != "call_expression":
        return
    given = _values(value)
    file = find(given[0].text()[1:-1]) if given and given[0].kind() == "string" else ""
    if file and name.kind() == "identifier":
        yield name.text(), (file, "", True)
    for one in name.children() if file and name.kind() == "object_pattern" else ():
        if one.kind() == "shorthand_property_identifier_pattern":
            yield one.text(), (file, one.text(), False)


def _file(said: str, path: str, present: Collection[str]) -> str:
    """The repository file that a relative import means; "" for a package or something else."""
    if not said.startswith("."):
        return ""
    base = posixpath.normpath(posixpath.join(posixpath.dirname(path), said))
    stem = base.removesuffix(".js")
    return next((one for one in (*(base + end for end in _ENDINGS), f"{stem}.ts", f"{stem}.tsx") if one in present), "")
