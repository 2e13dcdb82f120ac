"""Wrong implementations of JavaScript and TypeScript symbols, and what RED finds out with them."""

from __future__ import annotations

import json
import subprocess

import pytest

from agentforge.languages.javascript.source import broken, definitions, parsed
from agentforge.languages.javascript.values import returned_by
from agentforge.languages.stub_values import drawn
from agentforge.languages.symbols import Symbol
from agentforge.verification.counterexamples.stub_runs import variants
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

KIT = """const f = x => x
const api = { m (x) { return 1 }, 'k': (y) => 2 }
class Box extends Base { #p = 1; constructor (x) { super(x) } static of () { return new Box() } get size () { return 1 } open = (x) => 1 }
module.exports = { f, api, g (a) { return 1 }, h: async function (b) {} }
module.exports.sub = function * () { yield 1 }
;(function () { function hidden () {} })()
"""
WORD, NUMBER = drawn("wrong", seed="1"), int(drawn("987654321", seed="1"))
needs_node = pytest.mark.needs("node")


def _symbol(name, file, change="changed", kind="function", signature=""):
    return Symbol(name=name, file=file, kind=kind, change=change, signature=signature)


def _made(symbols, **texts):
    texts = {name.replace("_", "."): text for name, text in texts.items()}
    return {one.name: one.files for one in variants(symbols, source=texts.get, seed="1")}


def test_definitions_are_found_however_they_are_written():
    names = [one.name for one in definitions(parsed("kit.js", KIT))]
    assert set(names) >= {
        "f", "api", "api.m", "api.k", "Box", "Box.of", "Box.size", "Box.open", "g", "h", "sub", "hidden",
    }  # fmt: skip
    assert [one.name for one in definitions(parsed("a.ts", "export default (x: number) => x"))] == ["default"]
    assert [one.name for one in definitions(parsed("a.js", "module.exports = function (x) {}"))] == ["default"]


@pytest.mark.parametrize(
    ("signature", "wrong", "empty", "nullable", "promised"),
    [
        ("slug(text: string): string", '"\\u0000wrong"', '""', False, False),
        ("(text: string) => number | null", "-987654321", "0", True, False),
        ("async load(url): Promise<string[]>", '["\\u0000wrong"]', "[]", False, True),
        ("(text, *, limit=80) -> str", '"\\u0000wrong"', '""', False, False),
        ("(rows) -> list[str]", '["\\u0000wrong"]', "[]", False, False),
        ("isEven(n: number): n is 2", "", "false", False, False),
        ("export function f(x: Map<string, number>): Record<string, number>", None, "({})", False, False),
        ("slug(text)", "new (class Wrong {})()", "undefined", True, False),
        ("function log(text): void", '"\\u0000wrong"', "undefined", True, False),
    ],
)
def test_wrong_values_follow_the_declared_type(signature, wrong, empty, nullable, promised):
    found = returned_by(signature, None)
    assert (found.values.empty, found.values.nullable, found.promised) == (empty, nullable, promised)
    assert wrong is None or found.values.wrong == wrong


def test_every_kind_of_definition_is_made_wrong_in_its_own_way():
    symbols = [
        _symbol("f", "kit.js"), _symbol("api.k", "kit.js"), _symbol("Box", "kit.js", kind="class"), _symbol("h", "kit.js"),
        _symbol("sub", "kit.js"), _symbol("fresh", "kit.js", "new", signature="(text) => string"),
        _symbol("api.more", "kit.js", "new"), _symbol("f.loose", "kit.js", "new"),
    ]  # fmt: skip
    made = _made(symbols, kit_js=KIT, package_json="{}")
    assert list(made) == ["raises", "wrong", "empty", "other"]
    for files in made.values():
        assert not broken(parsed("kit.js", files["kit.js"])), files["kit.js"]
    wrong = made["wrong"]["kit.js"]
    assert "module.exports.fresh = fresh" in wrong and "get size() {" in wrong and "#p = 1" in wrong
    assert "async function (...args)" in wrong and "function* (...args) { yield " in wrong


def test_what_a_factory_defines_is_found_when_it_is_the_only_one_of_its_name():
    text = """(function (root, factory) { module.exports = factory() })(this, function () {
      function make (options) { var kit = function (a) {}; kit.has = function (a) { return 1 }; return kit }
      return make() })\n"""
    wrong = _made([_symbol("kit.has", "kit.js")], kit_js=text)["wrong"]["kit.js"]
    assert "kit.has = function (...args) { return new (class " in wrong
    twice = text.replace("var kit", "kit.has = () => 2; var kit")
    assert (
        "kit.has = function (a) { return 1 }" in _made([_symbol("kit.has", "kit.js")], kit_js=twice)["wrong"]["kit.js"]
    )


def test_new_symbols_are_exported_as_their_file_exports():
    new = [_symbol("slug", "src/slug.ts", "new"), _symbol("Kit.join", "src/slug.ts", "new")]
    text = _made(new)["raises"]["src/slug.ts"]
    assert text.startswith("// @ts-nocheck") and "export function slug(" in text and "export default slug;" in text
    assert "export class Kit {" in text
    plain = _made([_symbol("slug", "slug.js", "new")])["raises"]["slug.js"]
    assert "module.exports = slug;" in plain and "module.exports.slug = slug;" in plain
    module = _made([_symbol("slug", "slug.js", "new")], package_json='{"type": "module"}')["raises"]["slug.js"]
    assert "export function slug(" in module
    assert _made([_symbol("Shape", "a.ts", "new", "class", "interface Shape { x: number }")]) == {}


def test_a_stub_of_typescript_gives_any_so_that_the_files_that_call_it_still_build():
    text = "export class Kit { static of(a: string): Kit { return new Kit() } get size(): number { return 1 } }\n"
    text += (
        "export const f = (x: number): Kit => new Kit()\nexport async function g(x: Kit): Promise<Kit> { return x }\n"
    )
    symbols = [
        _symbol("Kit.of", "kit.ts"),
        _symbol("Kit.size", "kit.ts"),
        _symbol("f", "kit.ts"),
        _symbol("g", "kit.ts"),
    ]
    made = _made([*symbols, _symbol("h", "kit.ts", "new", signature="(x: number) => Kit")], kit_ts=text)["empty"][
        "kit.ts"
    ]
    assert not broken(parsed("kit.ts", made))
    for head in ("static of(...args: any[]): any {", "get size(): any {", "= (...args: any[]): any =>"):
        assert head in made
    assert "async function g(...args: any[]): any {" in made and "export function h(...args: any[]): any {" in made


@needs_node
def test_stubs_run_and_are_what_they_should_be(tmp_path):
    symbols = [
        _symbol("f", "kit.js"), _symbol("sub", "kit.js"), _symbol("Late", "kit.js", "new", "class"),
        _symbol("kit", "kit.js", "new", signature="(text) -> list[str]"), _symbol("LIMIT", "kit.js", "new", "constant", "number"),
    ]  # fmt: skip
    for name, files in _made(symbols, kit_js=KIT.replace(" extends Base", "").replace("super(x)", "")).items():
        (tmp_path / f"{name}.js").write_text(files["kit.js"])
    code = """
    const shown = (call) => { try { return call() ?? null } catch (error) { return error.message } }
    console.log(JSON.stringify(Object.fromEntries(['raises', 'wrong', 'empty'].map((name) => {
      const kit = require(`./${name}.js`)
      return [name, [shown(() => kit.kit(1)), shown(() => [...kit.sub()].length), shown(() => new kit.Late().go().constructor.name),
        shown(() => kit.LIMIT)]]
    }))))"""
    done = subprocess.run(["node", "-e", code], cwd=tmp_path, capture_output=True, text=True)
    assert json.loads(done.stdout) == {
        "raises": ["not implemented", "not implemented", "not implemented", None],
        "wrong": [[f"\0{WORD}"], 1, WORD.capitalize(), -NUMBER],
        "empty": [[], 0, "Cannot read properties of undefined (reading 'constructor')", 0],
    }


WEAK = """const test = require('node:test')
const assert = require('node:assert')
const kit = require('../kit.js')
test('value', () => { assert.strictEqual(kit.slug('a b'), 'a-b') })
test('throws', () => { assert.throws(() => kit.slug(3), /no text/) })
test('is something', () => { assert.ok(kit.slug('a b') !== 1) })
"""


@needs_node
def test_a_computed_method_that_generates_gets_stubs_and_a_test_of_arguments_that_stay_counts(project):
    ring = "class Ring {\n  constructor() { this.slots = [1, 2]; }\n  at(place) { return this.slots[place]; }\n}\nmodule.exports = { Ring };\n"
    test = """const test = require("node:test"), assert = require("node:assert");
const { Ring, ordered } = require("../ring.js");
test("in order", () => assert.deepEqual([...new Ring()], [1, 2]));
const rows = [{ a: 2 }, { a: 1 }];
test("ordered", () => assert.deepEqual(ordered(rows), [{ a: 1 }, { a: 2 }]));
test("stays", () => { const before = structuredClone(rows); ordered(rows); assert.deepEqual(rows, before); });
test("writes nothing", () => {
  const folder = require("node:fs").mkdtempSync("/tmp/ring-");
  ordered(`${folder}/rows.txt`);
  assert.deepEqual(require("node:fs").readdirSync(folder), []);
});
"""
    made = project({"package.json": '{"scripts": {"test": "node --test"}}', "ring.js": ring}, env={})
    base, red = made.tree(), made.tree({"test/ring.test.js": test})
    suite = Suite(
        tests=[{"path": "test/ring.test.js", "name": name, "kind": "target"} for name in ("in order", "ordered", "stays", "writes nothing")],
        symbols=[
            {"name": "Ring.[Symbol.iterator]", "file": "ring.js", "kind": "method", "signature": "*[Symbol.iterator]()", "change": "new"},
            {"name": "Ring", "file": "ring.js", "kind": "class", "signature": "class Ring", "change": "changed"},
            {"name": "ordered", "file": "ring.js", "kind": "function", "signature": "ordered(rows)", "change": "new"},
        ],
    )  # fmt: skip
    facts, _ = measure_red(made.rig(), suite, base_tree=base, red_tree=red)
    assert facts["right_reason"], facts["tests"]
    assert facts["stub_survivors"] == []
    assert {one["id"].rpartition("::")[2] for one in facts["stubs_noticed"]} == {"stays", "writes nothing"}


@needs_node
def test_a_target_that_a_wrong_value_satisfies_is_told(project):
    kit = "exports.shout = (text) => text + '!'\n"
    made = project({"package.json": '{"scripts": {"test": "node --test"}}', "kit.js": kit}, env={})
    base, red = made.tree(), made.tree({"test/kit.test.js": WEAK})
    names = ("value", "throws", "is something")
    suite = Suite(
        tests=[{"path": "test/kit.test.js", "name": name, "kind": "target"} for name in names],
        symbols=[{"name": "slug", "file": "kit.js", "kind": "function", "signature": "(text) -> str", "change": "new"}],
    )
    facts, evidence = measure_red(made.rig(), suite, base_tree=base, red_tree=red)
    survived = {(row["stub"], row["id"].partition("::")[2]) for row in facts["stub_survivors"]}
    assert survived == {("wrong", "is something"), ("any value", "is something")}, facts
    assert list(evidence["stubs"]) == ["raises", "wrong", "empty", "other"] and facts["controls"]["stubs"] is True
