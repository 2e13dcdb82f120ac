"""Vacuous JavaScript and TypeScript tests by their source; the same as `vacuity.py` for Python.

Told are tests without any assertion, assertions that cannot fail, promises of assertions that nobody waits for, failures that a
handler swallows, loops over nothing, focused tests, and the unit under test replaced by a mock.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.languages.javascript.source import FUNCTIONS, definitions, parsed, span, unwrapped
from agentforge.languages.javascript.tests import javascript_tests

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_ASSERTING = (
    "assert", "expect", "should", "throws", "rejects", "verify", "check", "match", "compare", "ensure", "fail", "equal",
    "same", "strict",
)  # fmt: skip
_TRUTHY = frozenset(
    {"assert", "assert.ok", "assert.isTrue", "assert.isOk", "assert.notEqual", "t.ok", "t.true", "t.truthy"}
)
_SAME = frozenset(
    {
        "assert.equal", "assert.strictEqual", "assert.deepEqual", "assert.deepStrictEqual", "assert.same", "t.is",
        "t.equal", "t.deepEqual", "t.same",
    }
)  # fmt: skip
_EQUAL_MATCHERS = frozenset({"toBe", "toEqual", "toStrictEqual", "equal", "eql", "equals"})
_SURE_MATCHERS = {
    "toBeTruthy": True, "toBeDefined": True, "toBeFalsy": False, "toBeUndefined": None, "toBeNull": None,
}  # fmt: skip
_MATCHER = re.compile(r"(?:to|resolves|rejects|not)(?:[A-Z]\w*)?")
_NO_ASSERTION = frozenset(
    {"test", "it", "describe", "mock", "skip", "todo", "plan", "diagnostic", "before", "after", "beforeEach", "afterEach", "end"}
)  # fmt: skip
_LITERALS = frozenset({"string", "number", "true", "false", "null", "undefined", "regex"})
ASSERTS_NOTHING = "asserts nothing"
"""What is said of a test in whose source nothing looks like an assertion."""
_ALWAYS_TRUE = frozenset({"true", "array", "object", "arrow_function", "function_expression", "regex"})
_ALWAYS_FALSE = frozenset({"false", "null", "undefined"})
_FOCUSED = frozenset({"only", "fit", "fdescribe"})
_MOCKING = frozenset({"jest.mock", "vi.mock", "jest.doMock", "vi.doMock", "mock.module", "jest.unstable_mockModule"})
_STUBBING = frozenset({"jest.spyOn", "vi.spyOn", "mock.method", "t.mock.method", "sinon.stub", "sandbox.stub"})
_MADE_UP = (
    ".mockReturn",
    ".mockImplementation",
    ".mockResolved",
    ".mockRejected",
    ".returns(",
    ".resolves(",
    ".callsFake(",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    """What the tests of one file may lean on: functions that assert, by name, and the names and files of the units."""

    asserting: frozenset[str]
    units: frozenset[str]
    files: frozenset[str]


def vacuous_javascript(
    path: str, data: bytes, *, units: Collection[str], files: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield (title, why) of each test of a file that proves nothing; a title of several cases stands as it is written.

    Args:
        units: last names of the declared symbols: what a test must not mock.
        files: their files.
    """
    root = parsed(path, data.decode("utf-8", "replace"))
    if root is None:
        return
    stems = frozenset(one.rpartition("/")[2].partition(".")[0] for one in files)
    suite = _Suite(asserting=_asserting_functions(root), units=frozenset(units), files=stems)
    mocked = list(_mocked(root, suite))
    for title, call in javascript_tests(root):
        for why in dict.fromkeys([*_reasons(call, suite), *mocked]):
            yield title, why


def _reasons(call: SgNode, suite: _Suite) -> Iterator[str]:
    if _focused(call):
        yield "runs alone: `only` leaves the other tests of its file out"
    if _each_of_nothing(call):
        yield "loops over nothing"
    body = _body_of(call)
    if body is None:
        return
    assertions = [one for one in body.find_all(kind="call_expression") if _asserts(one, suite)]
    sure = [why for one in assertions if (why := _cannot_fail(one))]
    if sure and len(sure) == len([one for one in assertions if not _is_part(one)]):
        yield sure[0]
    yield from _unfinished(body)
    yield from _swallowing(body, suite)
    for loop in body.find_all(kind="for_in_statement"):
        over = loop.field("right")
        if over is not None and over.text().replace(" ", "") == "[]":
            yield "loops over nothing"
    for node in body.find_all(kind="call_expression"):
        yield from _stubs(node, suite)
    for node in body.find_all(kind="assignment_expression"):
        yield from _replaces(node, suite)
    if not assertions and not _fails_otherwise(call, body):
        yield ASSERTS_NOTHING


def _body_of(call: SgNode) -> SgNode | None:
    """The function of a test, the last one among its arguments."""
    arguments = call.field("arguments")
    found = [unwrapped(one) for one in arguments.children() if one.is_named()] if arguments is not None else []
    functions = [one for one in found if one.kind() in FUNCTIONS]
    return functions[-1].field("body") if functions else None


def _focused(call: SgNode) -> bool:
    """`it.only`, `fit`, `{ only: true }`, also of a group around the test."""
    place: SgNode | None = call
    while place is not None:
        if place.kind() == "call_expression":
            function, arguments = place.field("function"), place.field("arguments")
            if function is not None and _FOCUSED & set(_name(function).split(".")):
                return True
            options = [one for one in arguments.children() if one.kind() == "object"] if arguments is not None else []
            if any(pair.text().replace(" ", "") == "only:true" for one in options for pair in one.children()):
                return True
        place = place.parent()
    return False


def _each_of_nothing(call: SgNode) -> bool:
    """`it.each([])(...)`, `[].forEach(...)`, also around the test."""
    place: SgNode | None = call
    while place is not None:
        text = place.text()[:80].replace(" ", "") if place.kind() == "call_expression" else ""
        if ".each([])(" in text.partition(")(")[0] + ")(" or text.startswith(("[].forEach(", "[].map(")):
            return True
        place = place.parent()
    return False


def _asserting_functions(root: SgNode) -> frozenset[str]:
    """Names of functions of the file whose own body asserts, and of what is imported from beside it."""
    plain = _Suite(asserting=frozenset(), units=frozenset(), files=frozenset())
    found = set()
    for one in definitions(root):
        calls = one.node.find_all(kind="call_expression")
        throws = one.node.find(kind="throw_statement") is not None
        if one.node.kind() in FUNCTIONS and (throws or any(_asserts(call, plain) for call in calls)):
            found.add(one.name.rpartition(".")[2])
    return frozenset(found)


def _asserts(call: SgNode, suite: _Suite) -> bool:
    """Whether a call checks something, as far as its name or its function says."""
    function = call.field("function")
    name = _name(function) if function is not None else ""
    parts = name.split(".")
    if parts[-1] in suite.asserting and len(parts) == 1:
        return True
    lowered = name.lower()
    told = parts[0] in ("t", "tap") and len(parts) == 2 and parts[1] not in _NO_ASSERTION
    return told or any(word in lowered for word in _ASSERTING)


def _is_part(call: SgNode) -> bool:
    """Whether an assertion is the beginning of another: `expect(x)` of `expect(x).toBe(y)`."""
    parent = call.parent()
    while parent is not None and parent.kind() == "member_expression":
        parent = parent.parent()
    return parent is not None and parent.kind() == "call_expression"


def _cannot_fail(call: SgNode) -> str:
    """Why an assertion holds whatever the code does; empty when it may fail."""
    function = call.field("function")
    if function is None:
        return ""
    name, values = _name(function), _arguments(call)
    if name in _TRUTHY and name != "assert.notEqual" and values and _truth(values[0]) is True:
        return "asserts a constant"
    if name in _SAME and len(values) >= 2 and _same(values[0], values[1]):
        return "compares a thing with itself"
    subject = _expected(function)
    if subject is None:
        return ""
    matcher, negated = name.rpartition(".")[2], ".not." in name
    if not negated and matcher in _EQUAL_MATCHERS and values and _same(subject, values[0]):
        return "compares a thing with itself"
    if not negated and matcher in _SURE_MATCHERS and _truth(subject) is not None:
        return "asserts a constant"
    return ""


def _truth(node: SgNode) -> bool | None:
    """What a value surely is as a condition; None when that depends."""
    node = unwrapped(node)
    kind = node.kind()
    if kind in _ALWAYS_TRUE or (kind == "string" and len(node.text()) > 2):
        return True
    if kind in _ALWAYS_FALSE:
        return False
    if kind == "number":
        return node.text() != "0"
    if kind == "binary_expression":
        parts = [child for child in node.children() if child.is_named()]
        operator = next((child.text() for child in node.children() if not child.is_named()), "")
        if operator == "||" and any(_truth(part) is True for part in parts):
            return True
    return None


def _same(left: SgNode, right: SgNode) -> bool:
    """Whether both sides are the same text, and nothing that is called and may give something else."""
    left, right = unwrapped(left), unwrapped(right)
    called = left.kind() in ("call_expression", "new_expression", "await_expression") or any(
        left.find(kind=kind) is not None for kind in ("call_expression", "new_expression", "await_expression")
    )
    return left.text() == right.text() and (left.kind() in _LITERALS or not called)


def _expected(function: SgNode) -> SgNode | None:
    """What stands in `expect(...)` at the root of a chain of matchers."""
    node: SgNode | None = function
    while node is not None and node.kind() == "member_expression":
        node = node.field("object")
    inner = node.field("function") if node is not None and node.kind() == "call_expression" else None
    if node is None or inner is None or inner.text() != "expect":
        return None
    values = _arguments(node)
    return values[0] if values else None


def _unfinished(body: SgNode) -> Iterator[str]:
    """Statements that are no whole assertion: `expect(x);`, `expect(x).toBe;`, a promise that nobody waits for."""
    for statement in body.find_all(kind="expression_statement"):
        node = next((child for child in statement.children() if child.is_named()), None)
        if node is None:
            continue
        name = _name(node)
        if node.kind() == "member_expression" and _expected(node) is not None:
            if _MATCHER.fullmatch(name.rpartition(".")[2]) and name.rpartition(".")[2] not in ("to", "not"):
                yield f"names the matcher {name.rpartition('.')[2]} and does not call it"
        elif node.kind() == "call_expression" and (function := node.field("function")) is not None:
            own = _name(function)
            if own == "expect":
                yield "calls expect without a matcher"
            elif ".resolves." in own or ".rejects." in own or own in ("assert.rejects", "assert.doesNotReject"):
                yield "does not wait for its own assertion: await it or return it"


def _swallowing(body: SgNode, suite: _Suite) -> Iterator[str]:
    """A handler that takes the failure of an assertion and neither throws nor asserts."""
    for node in body.find_all(kind="try_statement"):
        tried, handler = node.field("body"), node.field("handler")
        if tried is None or handler is None or not _holds_assertion(tried, suite):
            continue
        real = [
            one for one in handler.find_all(kind="call_expression") if _asserts(one, suite) and not _cannot_fail(one)
        ]
        if not real and handler.find(kind="throw_statement") is None and "done(" not in handler.text():
            yield "swallows the failure of its own assertion"
    for node in body.find_all(kind="call_expression"):
        function = node.field("function")
        if function is None or function.kind() != "member_expression" or not function.text().endswith(".catch"):
            continue
        before, values = function.field("object"), _arguments(node)
        inert = bool(values) and values[0].kind() in FUNCTIONS and not list(values[0].find_all(kind="call_expression"))
        thrown = bool(values) and values[0].find(kind="throw_statement") is not None
        if before is not None and inert and not thrown and _holds_assertion(before, suite):
            yield "swallows the failure of its own assertion"


def _holds_assertion(node: SgNode, suite: _Suite) -> bool:
    return any(_asserts(one, suite) for one in node.find_all(kind="call_expression"))


def _mocked(root: SgNode, suite: _Suite) -> Iterator[str]:
    """`jest.mock("../slug")` of the module of a declared symbol."""
    for node in root.find_all(kind="call_expression"):
        function, values = node.field("function"), _arguments(node)
        if function is None or _name(function) not in _MOCKING or not values or values[0].kind() != "string":
            continue
        stem = values[0].text()[1:-1].rpartition("/")[2].partition(".")[0]
        if stem in suite.files and "importActual" not in node.text() and "requireActual" not in node.text():
            yield f"replaces the module {stem}, which it should test"


def _stubs(node: SgNode, suite: _Suite) -> Iterator[str]:
    """`vi.spyOn(kit, "slug").mockReturnValue(...)`, `mock.method(kit, "slug", () => ...)`."""
    function, values = node.field("function"), _arguments(node)
    if function is None or _name(function) not in _STUBBING or len(values) < 2:
        return
    name = values[1].text().strip("'\"`")
    chained = "".join(one.text() for one in list(node.ancestors())[:2])
    made_up = len(values) > 2 or _name(function).endswith(".stub") or any(one in chained for one in _MADE_UP)
    if name in suite.units and made_up:
        yield f"replaces {name}, which it should test"


def _replaces(node: SgNode, suite: _Suite) -> Iterator[str]:
    """`kit.slug = () => "a"`."""
    left, right = node.field("left"), node.field("right")
    if left is None or right is None or left.kind() != "member_expression":
        return
    name = left.text().rpartition(".")[2]
    if name in suite.units and (
        right.kind() in FUNCTIONS or right.text().startswith(("jest.fn", "vi.fn", "mock.fn", "sinon."))
    ):
        yield f"replaces {name}, which it should test"


def _fails_otherwise(call: SgNode, body: SgNode) -> bool:
    """Whether a test can fail without an assertion call: it throws, hands an error to `done`, or reads `.should` of chai."""
    if body.find(kind="throw_statement") is not None:
        return True
    if any(one.text() in ("should", "to") for one in body.find_all(kind="property_identifier")):
        return True
    arguments = call.field("arguments")
    last = [unwrapped(one) for one in arguments.children() if one.is_named()][-1:] if arguments is not None else []
    parameters = (
        last[0].field("parameters") or last[0].field("parameter") if last and last[0].kind() in FUNCTIONS else None
    )
    given = parameters.text().strip("()").partition(",")[0].strip() if parameters is not None else ""
    if not given.isidentifier():
        return False
    uses = [one for one in body.find_all(kind="identifier") if one.text() == given]
    return any(_is_handed_on(one, body) for one in uses)


def _is_handed_on(node: SgNode, body: SgNode) -> bool:
    """Whether a name is an argument of a call, or used in a function inside of the test's own body."""
    around = list(node.ancestors())
    inside = around[: next((at for at, one in enumerate(around) if span(one) == span(body)), 0)]
    return any(one.kind() in FUNCTIONS for one in inside) or (bool(around) and around[0].kind() == "arguments")


def _arguments(call: SgNode) -> list[SgNode]:
    found = call.field("arguments")
    return [one for one in found.children() if one.is_named() and one.kind() != "comment"] if found is not None else []


def _name(node: SgNode) -> str:
    """A chain of members without the arguments of its calls: `expect.not.toBe` of `expect(x).not.toBe`."""
    if node.kind() == "member_expression":
        owner, member = node.field("object"), node.field("property")
        return f"{_name(owner) if owner is not None else ''}.{member.text() if member is not None else ''}"
    if node.kind() == "call_expression":
        function = node.field("function")
        return _name(function) if function is not None else ""
    return node.text() if node.kind() in ("identifier", "this") else ""
