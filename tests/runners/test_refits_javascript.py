"""Helpers of tests in JavaScript that change with the product: who uses one runs with its new text, and is compared."""

from __future__ import annotations

import pytest

from agentforge.suite.test_environment import NO_EDITS
from agentforge.verification.counterexamples.mutant_score import MutationBounds
from agentforge.verification.refits.comparison import Refits
from agentforge.verification.refits.measurement import measure_refits
from agentforge.verification.stages.changed_fixtures import (
    TestTree as TestFiles,
    tests_with_changed_fixtures as with_changed_fixtures,
)

PRICES = 'export function price(name) {\n  return name === "tea" ? 3 : 5;\n}\n\nexport const total = (names) => names.map(price).reduce((sum, one) => sum + one, 0);\n'
LISTS = PRICES.replace("? 3 : 5", '? [3, "EUR"] : [5, "EUR"]').replace("map(price)", "map((name) => price(name)[0])")
HELPER = 'import { price } from "../prices.js";\n\nexport function priceOf(name) {\n  return price(name);\n}\n'
CHAIN = 'import { priceOf as one } from "./support.js";\n\nexport const shown = (name) => `${name}: ${one(name)}`;\n'
TESTS = """import assert from "node:assert";
import { describe, test } from "node:test";
import { total } from "../prices.js";
import { priceOf } from "./support.js";
import { shown } from "./shown.js";

describe("prices", () => {
  test("one", () => assert.strictEqual(priceOf("tea"), 3));
  test("told", () => assert.strictEqual(shown("cake"), "cake: 5"));
  test("sum", () => assert.strictEqual(total(["tea", "cake"]), 8));
});
"""
FILES = {"package.json": '{"type": "module", "scripts": {"test": "node --test"}}', "prices.js": PRICES}
FILES |= {"test/support.js": HELPER, "test/shown.js": CHAIN, "test/prices.test.js": TESTS}
NEW = HELPER.replace("return price(name)", "return price(name)[0]")
ONE, TOLD, SUM = (f"test/prices.test.js::prices > {name}" for name in ("one", "told", "sum"))


def _fitted(path: str, text: str, *declared: str) -> frozenset[str]:
    after = {**FILES, path: text}
    return with_changed_fixtures(
        [ONE, TOLD, SUM],
        superseded=declared or ["test/support.js::priceOf"],
        before=lambda one: FILES[one].encode() if one in FILES else None,
        after=TestFiles(read=lambda one: after[one].encode() if one in after else None, present=after),
    )


@pytest.mark.parametrize("more", ["", 'import fs from "node:fs";\n', "const LIMIT = 3;\n", "function other() {}\n"])
def test_who_uses_a_helper_itself_or_through_others_runs_with_its_new_text(more):
    assert _fitted("test/support.js", more + NEW) == {ONE, TOLD}


@pytest.mark.parametrize(
    "text",
    [
        NEW + "globalThis.assert = () => {};\n",
        NEW + "const other = patch();\n",
        NEW.replace('import { price } from "../prices.js";', "const price = (name) => [3];"),
        NEW.replace("export function priceOf", "export function priceFor"),
        NEW + "export function priceOf(name) { return 3; }\n",
    ],
)
def test_a_file_in_which_more_changed_excuses_nobody(text):
    assert _fitted("test/support.js", text) == frozenset()


def test_a_helper_beside_the_tests_counts_and_a_test_whose_own_text_changed_is_held_to_the_old_one():
    inside = TESTS.replace('import { priceOf } from "./support.js";', 'import { price } from "../prices.js";\nfunction priceOf(name) { return price(name); }')  # fmt: skip
    before = {**FILES, "test/prices.test.js": inside}
    new = inside.replace("return price(name)", "return price(name)[0]").replace("8)", "9)")
    found = with_changed_fixtures(
        [ONE, TOLD, SUM],
        superseded=["test/prices.test.js::priceOf"],
        before=lambda one: before[one].encode() if one in before else None,
        after=TestFiles(read=lambda one: {**before, "test/prices.test.js": new}.get(one, "").encode(), present=before),
    )
    assert found == {ONE}
    found = with_changed_fixtures(
        [ONE],
        superseded=["test/prices.test.js::priceOf"],
        before=lambda one: before[one].encode() if one in before else None,
        after=TestFiles(
            read=lambda one: (new if one in before else "").replace('"tea"', '"oil"').encode(), present=before
        ),
    )
    assert found == frozenset()


@pytest.mark.needs("node")
def test_a_helper_that_answers_itself_is_told_and_one_that_reads_the_result_is_not(project):
    made = project(FILES)
    rig, base = made.rig(), made.tree()
    refits = Refits(refitted=(ONE, TOLD), beside=("test/prices.test.js",))
    bounds = MutationBounds(most=20, seconds=30.0)
    honest = made.tree({"prices.js": LISTS, "test/support.js": NEW})
    fact = measure_refits(rig, refits, base_tree=base, tree=honest, edits=NO_EDITS, bounds=bounds)
    assert (fact["compared"], fact["lost"]) == ([ONE, TOLD], [])
    faked = NEW.replace("return price(name)[0];", 'price(name);\n  return name === "tea" ? 3 : 5;')
    fake = made.tree({"prices.js": LISTS, "test/support.js": faked})
    fact = measure_refits(rig, refits, base_tree=base, tree=fake, edits=NO_EDITS, bounds=bounds)
    assert {(one["id"], one["function"]) for one in fact["lost"]} == {(ONE, "price"), (TOLD, "price")}
