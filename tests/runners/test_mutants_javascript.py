"""Mutants of JavaScript and TypeScript: what is changed, what is left alone, and which suites notice."""

from __future__ import annotations

import pytest

from agentforge.languages.javascript.mutants import javascript_mutants
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.counterexamples.mutants import killed_by
from agentforge.verification.stages.change import Change
from agentforge.verification.stages.strength import measure_strength

SOURCE = """'use strict'
import x from './x';
/** words */
export function slug(text: string, { limit = 80 } = {}): string {
  if (typeof text !== 'string') throw new TypeError('no text');
  if (!text) return '';
  const parts = text.toLowerCase().split(' ');
  while (parts.length) { if (parts.pop() == null) break; }
  console.log('said', 3);
  this.seen = found ?? parts;
  return parts.join('-') + 2;
}
"""


def test_mutants_are_made_of_the_tree_and_leave_types_words_and_imports_alone():
    found = javascript_mutants("a.ts", SOURCE.encode(), lines=-1)
    told = {(one.line, one.kind, one.before, one.after) for one in found}
    assert told >= {
        (4, "constant", "80", "81"), (5, "comparison", "!==", "==="), (5, "removed", "throw new TypeError('no text');", ";"),
        (6, "condition", "!text", "text"), (6, "constant", "''", '"mutated"'), (7, "method", "toLowerCase", "toUpperCase"),
        (7, "constant", "' '", '""'), (8, "jump", "break;", "continue;"), (8, "condition", "(parts.length)", "(!(parts.length))"),
        (10, "boolean", "found ?? parts", "found"), (10, "removed", "this.seen = found ?? parts;", ";"),
        (11, "returned", "parts.join('-') + 2", "undefined"), (11, "arithmetic", "+", "-"),
    }  # fmt: skip
    assert not {one.line for one in found} & {1, 2, 3, 9} and not any(
        "no text'" in one.before for one in found if one.kind == "constant"
    )
    assert {one.owner for one in found} == {"slug"}
    assert [one.line for one in javascript_mutants("a.ts", SOURCE.encode(), lines=1 << 6)] == [6, 6, 6, 6]
    assert javascript_mutants("a.ts", b"function (", lines=-1) == () == javascript_mutants("a.py", b"x = 1\n", lines=-1)


def test_a_branch_inside_of_an_expression_goes_one_way_in_a_mutant():
    text = (
        "const f = (a, b) => a ? g(a) : h(b)\nconst k = a && b\nconst by = { one: f, two: () => k }\nif (a) { f() }\n"
    )
    found = [
        (one.before, one.after)
        for one in javascript_mutants("a.js", text.encode(), lines=-1)
        if one.kind in ("branch", "dispatch")
    ]
    assert found == [
        ("a ? g(a) : h(b)", "(g(a))"), ("a ? g(a) : h(b)", "(h(b))"), ("a && b", "(a)"), ("a && b", "(b)"),
        ("one", '"mutated"'), ("two", '"mutated"'), ("(a)", "(true)"),
    ]  # fmt: skip


KIT = "exports.clamp = (n, top) => {\n  if (n > top) return -1\n  return n\n}\n"
HEAD = (
    "const test = require('node:test')\nconst assert = require('node:assert')\nconst { clamp } = require('../kit.js')\n"
)
STRONG = HEAD + "test('all', () => { assert.equal(clamp(5, 3), -1); assert.equal(clamp(3, 3), 3) })\n"
WEAK = HEAD + "test('all', () => { assert.equal(clamp(2, 3), 2) })\n"


@pytest.mark.needs("node")
def test_the_score_tells_a_strong_suite_from_a_weak_one(project):
    package = '{"scripts": {"test": "node --test"}}'
    old = HEAD.replace("clamp", "clamp, shout") + "test('old', () => { assert.equal(clamp(9, 1), -1) })\n"
    made = project({"package.json": package, "kit.js": "exports.shout = () => 1\n"}, env={})
    base = made.tree()

    def score(tests, **more):
        tree = made.tree({"kit.js": KIT, "test/clamp.test.js": tests, **more})
        change = Change(
            lines={}, elsewhere={"kit.js": 0b11110}, tests=[{"id": "test/clamp.test.js::all", "kind": "target"}],
            frozen=("test/clamp.test.js",),
        )  # fmt: skip
        facts, _ = measure_strength(
            made.rig(), change, base_tree=base, red_tree=tree, tree=tree, bounds=MutationBounds(most=4, seconds=40.0)
        )
        return facts["mutation"], tree

    strong, _ = score(STRONG)
    assert (strong["measured"], strong["not_run"]) == (True, 0) and strong["score"] == 1.0, strong
    weak, tree = score(WEAK)
    assert weak["score"] < strong["score"] and weak["survivors"][0]["path"] == "kit.js", weak
    assert weak["survivors"][0]["tests_run"] == 1
    row = next(one for one in weak["survivors"] if one["before"] == "-1")
    made.tree({"test/clamp.test.js": STRONG})
    again = killed_by(made.rig(), made.tree(), [row], tests=["test/clamp.test.js::all"])
    assert again == {row["id"]: ["test/clamp.test.js::all"]}, (again, tree)
    helped, _ = score(WEAK, **{"test/old.test.js": old})
    assert helped["score"] > weak["score"], "tests that were there before count"
