"""Hollow targets in JavaScript: a test that passes though the changed functions are wrong does not test the change."""

from __future__ import annotations

import pytest

from agentforge.languages.javascript.stubs import javascript_null
from agentforge.languages.stub_values import NullWay
from agentforge.suite.test_environment import NO_EDITS
from agentforge.verification.counterexamples.stub_runs import hollow_targets

BASE = "function shout (text) {\n  return text + '!'\n}\nmodule.exports = { shout }\n"
TREE = (
    "function shout (text) {\n  return text + '!'\n}\n\nconst slug = (text) => text.split(' ').join('-')\n"
    "module.exports = { shout, slug }\n"
)
TESTS = """const test = require('node:test')
const assert = require('node:assert')
const kit = require('../kit.js')
test('value', () => { assert.strictEqual(kit.slug('a b'), 'a-b') })
test('throws', () => { assert.throws(() => kit.slug(3)) })
test('exists', () => { assert.ok(kit.slug) })
test('calls', () => { try { assert.ok(kit.slug('a b') !== 1) } catch { assert.ok(true) } })
"""


@pytest.mark.needs("node")
def test_a_target_that_passes_under_both_wrong_bodies_is_hollow(project):
    package = '{"scripts": {"test": "node --test"}}'
    made = project({"package.json": package, "kit.js": BASE, "test/kit.test.js": TESTS}, env={})
    base, tree = made.tree(), made.tree({"kit.js": TREE})
    targets = [f"test/kit.test.js::{name}" for name in ("value", "throws", "exists", "calls")]
    given = {"base_tree": base, "tree": tree, "targets": targets, "edits": NO_EDITS}
    hollow = hollow_targets(made.rig(), changed=["kit.js"], **given)
    assert hollow == ("test/kit.test.js::calls", "test/kit.test.js::exists")
    assert hollow_targets(made.rig(), changed=["kit.js", "data.json"], **given) == ()


def _wrong(after, before=BASE, path="kit.js"):
    made = javascript_null(path, before.encode(), after.encode(), way=NullWay(seed="1", raising=True))
    return None if made is None else made.decode()


def test_only_functions_that_changed_get_another_body():
    assert _wrong(BASE) == ""
    assert _wrong(BASE.replace("'!'", "'?'")).startswith(
        "function shout (text) { throw new Error(\"wrong on purpose\"); \n  return text + '?'"
    )
    assert 'const slug = (text) => { throw new Error("wrong on purpose"); }' in _wrong(TREE)
    typed = "export function f(a: string): string { return a }\n"
    assert '{ throw new Error("wrong on purpose");  return a }' in _wrong(typed, before="", path="kit.ts")


def test_nothing_is_told_of_a_change_that_is_partly_data():
    assert _wrong(TREE.replace("module", "const LIMIT = 80\nmodule")) is None
    assert _wrong(TREE, before="const LIMIT = 80\n" + BASE) is None
