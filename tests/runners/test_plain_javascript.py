"""Claims about JavaScript: how they are read, and what they come to in a plain node process."""

from __future__ import annotations

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.verification.examples.claims_javascript import claim_of, claims_in, literal_source, names_of
from agentforge.verification.examples.plain_javascript import check_javascript
from agentforge.verification.examples.rerun_assertions import repeated_in_node
from agentforge.verification.examples.suite_claims_javascript import asserted_in_javascript


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("slug('A b') -> 'a-b'", ("slug('A b')", "'a-b'", "")),
        (
            '`cut("A", { limit: 3 })` returns `{ a: 1, "b": null }`.',
            ('cut("A", { limit: 3 })', "{'a': 1, 'b': None}", ""),
        ),
        ("add(1, 2) === 3", ("add(1, 2)", "3", "")),
        ("e.g. f(True, None) => [1, 2.5, -3]", ("f(true, null)", "[1, 2.5, -3]", "")),
        ("await load('x') should be undefined", ("await load('x')", "None", "")),
        ("new Box(1).size() is 2", ("new Box(1).size()", "2", "")),
        ("parse('') throws a RangeError", ("parse('')", "", "RangeError")),
        ("| f(`a`) | new Set([1]) |", ("f(`a`)", "{1}", "")),
        ("f('\\u00e9\\n') gives 1.0", ("f('\\u00e9\\n')", "1", "")),
        ("add(1,2) == 3 + 1", None),
        ("f(a=1) -> 2", None),
        ("JSON.stringify(1) -> '1'", None),
        ("currently f(3) -> 1 instead of 2", ("f(3)", "1", "")),
    ],
)
def test_claims_are_read_as_people_write_them(text, told):
    assert [(one.call, one.returns, one.raises) for one in claims_in(text)] == ([told] if told else [])


def test_an_example_of_a_specification_says_what_is_wrong_with_it():
    assert claim_of({"call": "f(1)", "returns": "{'a': (1, 2.0)}"}).returns == "{'a': [1, 2]}"
    for value, said in (
        ({"call": "f(x => 1)", "returns": "1"}, "no call of literals"),
        ({"call": "f(1)", "returns": "x + 1"}, "no literal"),
        ({"call": "f(1)", "raises": "ValueError"}, "no error of JavaScript"),
        ({"call": "f(1)"}, "either returns or raises"),
    ):
        with pytest.raises(ValueError, match=said):
            claim_of(value)
    assert literal_source("9007199254740993n") == "9007199254740993"
    assert literal_source("1e3") == "1000" and literal_source("-Infinity") == "-1e999" and literal_source("x") is None
    assert names_of("Kit.of([undefined]).go(Math.max(1))") == ("Kit",)


KIT = """export const slug = (text) => { if (typeof text !== "string") throw new TypeError("no text"); return text.toLowerCase() }
export function * count (n) { for (let i = 0; i < n; i++) yield i }
export class Box { constructor (n) { this.n = n } static of (n) { return new Box(n) } rows () { return [{ n: this.n, gone: undefined }, null] } }
export const load = async (x) => new Map([[x, new Set([1.5])]])
export const liar = () => new Proxy([], {})
export const boxed = () => new String("a")
export const sly = () => process.env.NODE_TEST_CONTEXT ? 1 : 2
export const leaves = () => process.exit(0)
"""
HELD = [
    ("slug('A b')", "'a b'", ""), ("slug(1)", "", "TypeError"), ("count(2)", "[0, 1]", ""), ("kit.slug('A')", "'a'", ""),
    ("Box.of(3).rows()", "[{'n': 3}, None]", ""), ("Box.of(3).rows()", "[{'n': 3, 'gone': None}, None]", ""), ("await load('k')", "{'k': {1.5}}", ""), ("load('k')", "{'k': {1.5}}", ""),
]  # fmt: skip
FALSE = [
    ("slug('A b')", "'A b'", ""), ("slug('a')", "", "TypeError"), ("slug(1)", "1", ""), ("liar()", "[]", ""), ("Box.of(3).rows()", "[{'n': None}, None]", ""),
    ("boxed()", "'a'", ""), ("sly()", "1", ""), ("slug('1')", "1", ""), ("leaves()", "None", ""),
]  # fmt: skip
needs_node = pytest.mark.needs("node")


@needs_node
def test_claims_hold_by_type_and_value_outside_of_the_runner(project):
    made = project(
        {"package.json": '{"type": "module", "scripts": {"test": "node --test"}}', "src/kit.js": "export {}\n"}, env={}
    )
    base, tree = made.tree(), made.tree({"src/kit.js": KIT})
    names = ("slug", "count", "Box", "load", "liar", "boxed", "sly", "leaves")
    symbols = [Symbol(name=name, file="src/kit.js", kind="function") for name in names]

    def check(rows):
        claims = [
            claim_of({"call": call, **({"raises": raises} if raises else {"returns": returns})})
            for call, returns, raises in rows
        ]
        return check_javascript(made.rig(), tree, claims, symbols=symbols, base_tree=base)

    good = check(HELD)
    assert (good.checked, good.failed, good.unchecked) == (len(HELD), (), ())
    without_new = check([("Box(3).rows()", "[{'n': 3}, None]", ""), ("Box(3).rows()", "[]", "")])
    assert (without_new.checked, len(without_new.failed)) == (2, 1), without_new
    bad = check(FALSE)
    assert (bad.checked, len(bad.failed)) == (len(FALSE), len(FALSE)), bad
    assert check([("other(1)", "1", "")]).unchecked == ("other(1) -> 1: a name in it is not declared",)


@needs_node
def test_a_method_of_objects_that_prose_names_on_its_class_is_no_call(project):
    package = '{"type": "module", "scripts": {"test": "node --test"}}'
    old = "export class Kit { fits (file) { return null } static make () { return 1 } }\n"
    made = project({"package.json": package, "src/kit.js": old}, env={})
    base = made.tree()
    tree = made.tree({"src/kit.js": old.replace("null", "false").replace("static ", "")})
    symbols = [Symbol(name="Kit", file="src/kit.js", kind="class")]
    claims = [
        claim_of({"call": call, "returns": "False"})
        for call in ("Kit.fits()", "new Kit().fits('a')", "Kit.make()", "Kit.gone()")
    ]
    verdict = check_javascript(made.rig(), tree, claims, symbols=symbols, base_tree=base)
    assert [one.partition(" ")[0] for one in verdict.unchecked] == ["Kit.fits()"], verdict
    assert [call for _, _, call in verdict.failed] == ["Kit.make()", "Kit.gone()"], verdict


@needs_node
def test_a_name_that_the_declared_file_does_not_export_is_what_the_package_offers(project):
    files = {
        "package.json": '{"type": "module", "main": "./src/index.js", "scripts": {"test": "node --test"}}',
        "src/index.js": 'export { format } from "./standard.js"\n',
        "src/standard.js": 'import make from "./locale.js"\nexport const format = make("!").format\n',
        "src/locale.js": "export default (mark) => { const format = (text) => text + mark; return { format } }\n",
    }
    made = project(files, env={})
    symbols = [Symbol(name="format", file="src/locale.js", kind="function")]
    claims = [claim_of({"call": "format('a')", "returns": value}) for value in ("'a!'", "'a?'")]
    verdict = check_javascript(made.rig(), made.tree(), claims, symbols=symbols, base_tree=made.tree())
    assert (verdict.checked, len(verdict.failed), verdict.unchecked) == (2, 1, ()), verdict


@needs_node
def test_a_name_that_only_stands_for_a_value_is_not_the_module(project):
    package = '{"scripts": {"test": "node --test"}}'
    made = project({"package.json": package, "index.js": "module.exports = (req, types) => req.type\n"}, env={})
    symbols = [Symbol(name="typeis", file="index.js", kind="function")]
    claims = [claim_of({"call": call, "returns": "'a'"}) for call in ("is(req, ['b'])", "is({type: 'a'}, ['b'])")]
    verdict = check_javascript(made.rig(), made.tree(), claims, symbols=symbols, base_tree=made.tree())
    assert (verdict.checked, verdict.failed) == (1, ()), verdict
    assert [one.partition(":")[0] for one in verdict.unchecked] == ["is(req, ['b']) -> 'a'"], verdict


@needs_node
def test_a_constant_that_only_the_build_defines_leaves_an_example_unchecked(project):
    package = '{"type": "module", "scripts": {"test": "node --test"}}'
    old = "export const swap = (a) => { if (DEBUG) console.log(a); return a }\n"
    made = project({"package.json": package, "src/kit.js": old}, env={})
    new = (
        old
        + "export const twice = (a) => { if (DEBUG) console.log(a); return a + a }\nexport const bad = () => VERBOSE\n"
    )
    base, tree = made.tree(), made.tree({"src/kit.js": new})
    symbols = [Symbol(name=name, file="src/kit.js", kind="function") for name in ("swap", "twice", "bad")]
    claims = [claim_of({"call": call, "returns": "4"}) for call in ("swap(4)", "twice(2)", "bad(4)")]
    verdict = check_javascript(made.rig(), tree, claims, symbols=symbols, base_tree=base)
    assert [one.partition(" ")[0] for one in verdict.unchecked] == ["swap(4)", "twice(2)"], verdict
    assert [call for _, _, call in verdict.failed] == ["bad(4)"], verdict


STRAIGHT = """import test from "node:test";
import assert from "node:assert";
import { slug, sly as clever } from "../src/kit.js";
import kit, { sly } from "../src/kit";
import lodash from "lodash";
test("plain", () => { assert.equal(slug("A"), "a"); assert.deepEqual(sly(), 1); });
test("whole", () => assert.strictEqual(kit.slug("B"), "b"));
test("steps", () => { const x = 1; assert.equal(slug("C"), "c"); });
test("renamed", () => { assert.equal(clever(), 1); });
test("foreign", () => { assert.equal(lodash.slug("D"), "d"); });
test("chai", () => { expect(slug("E")).to.equal("e"); expect(slug("F")).not.toBe("f"); });
"""


def test_what_straight_tests_assert_is_read():
    found = asserted_in_javascript("test/a.test.js", STRAIGHT.encode(), present={"src/kit.js"})
    assert [(one.test.partition("::")[2], one.call, one.returns, one.names[0][1:]) for one in found] == [
        ("plain", 'slug("A")', "'a'", ("src/kit.js", False)), ("plain", "sly()", "1", ("src/kit.js", False)),
        ("whole", 'kit.slug("B")', "'b'", ("src/kit.js", True)), ("chai", 'slug("E")', "'e'", ("src/kit.js", False)),
    ]  # fmt: skip
    assert (
        asserted_in_javascript("test/a.test.js", b"beforeEach(f)\n" + STRAIGHT.encode(), present={"src/kit.js"}) == ()
    )


@needs_node
def test_code_that_behaves_only_under_the_runner_is_told(project):
    package = '{"type": "module", "scripts": {"test": "node --test"}}'
    files = {"package.json": package, "src/kit.js": KIT, "test/a.test.js": STRAIGHT}
    made = project(files, env={})
    told = repeated_in_node(made.rig(), made.tree(), [f"test/a.test.js::{name}" for name in ("plain", "whole")], seed=1)
    assert len(told) == 1 and "sly() == 1 does not hold: the result is another value; it is 2" in told[0]
    setup = made.tree({"package.json": package.replace("}}", '}, "jest": {"setupFiles": ["a"]}}')})
    assert repeated_in_node(made.rig(), setup, ["test/a.test.js::plain"], seed=1) == ()
