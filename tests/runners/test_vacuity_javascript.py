"""Tests in JavaScript and TypeScript that prove nothing, and honest ones of every style that are left alone."""

from __future__ import annotations

import pytest

from agentforge.verification.source.vacuity import vacuous_tests

HONEST = """
import { expect, test, it, describe, vi } from "vitest";
import assert from "node:assert";
const check = (a, b) => expect(a).toBe(b);
test("plain", () => { expect(slug("a")).toBe("b"); });
test("same call twice", () => { expect(next()).toBe(next()); });
test("own function", () => { check(slug("a"), "b"); });
test("throws", () => { expect(() => slug(3)).toThrow(); });
test("waits", async () => { await expect(load()).rejects.toThrow("x"); });
test("gives back", () => expect(load()).resolves.toBe(1));
test("chai", () => { slug("a").should.equal("b"); expect(slug("a")).to.be.true; });
it("calls back", (done) => { load((error) => done(error)); });
it("hands over", (done) => { request(app).get("/").expect(200, done); });
it("says so", (t) => { t.is(slug("a"), "b"); });
it("fails by hand", () => { if (slug("a") !== "b") throw new Error("no"); });
it("reaches the handler", (done) => { load(() => { assert.ok(true); done(); }); expect(slug("a")).toBe("b"); });
it("looks at the error", () => { try { slug(); assert.fail(); } catch (error) { assert.equal(error.message, "x"); } });
it("counts", () => { const spy = vi.spyOn(kit, "slug"); run(); expect(spy).toHaveBeenCalled(); });
it.each([[1, 2], [3, 4]])("adds %i to %i", (a, b) => { expect(add(a, b)).toBe(a + b); });
it("not a constant", () => { expect(found || fallback).toBe(true); });
"""
WEAK = {
    "() => {}": "asserts nothing",
    "() => { slug('a'); }": "asserts nothing",
    "(done) => { slug('a'); done(); }": "asserts nothing",
    "() => { expect(true).toBe(true); }": "compares a thing with itself",
    "() => { const x = slug('a'); expect(x).toEqual(x); }": "compares a thing with itself",
    "() => { assert.ok(slug('a') || true); }": "asserts a constant",
    "() => { assert(['a']); }": "asserts a constant",
    "() => { expect(1).toBeTruthy(); }": "asserts a constant",
    "() => { assert.strictEqual(1, 1); }": "compares a thing with itself",
    "() => { expect(slug('a')); }": "calls expect without a matcher",
    "() => { expect(slug('a')).toBeTruthy; }": "names the matcher toBeTruthy and does not call it",
    "() => { expect(load()).resolves.toBe(1); }": "does not wait for its own assertion: await it or return it",
    "() => { assert.rejects(load()); }": "does not wait for its own assertion: await it or return it",
    "() => { try { expect(slug('a')).toBe('b'); } catch {} }": "swallows the failure of its own assertion",
    "() => { try { assert.equal(slug(), 1) } catch (e) { assert.ok(true) } }": "swallows the failure of its own assertion",
    "() => load().then((x) => expect(x).toBe(1)).catch(() => {})": "swallows the failure of its own assertion",
    "() => { for (const x of []) expect(x).toBe(1); }": "loops over nothing",
    "() => { vi.spyOn(kit, 'slug').mockReturnValue('b'); expect(kit.slug('a')).toBe('b'); }": "replaces slug, which it should test",
    "() => { kit.slug = () => 'b'; expect(kit.slug('a')).toBe('b'); }": "replaces slug, which it should test",
}


def _found(text, names, path="test/kit.test.ts", **more):
    given = {"names": {f"{path}::{name}" for name in names}, "units": {"slug"}, "files": {"src/kit.ts"}, **more}
    return [(one.partition("::")[2], why) for one, why in vacuous_tests([path], read=lambda _: text.encode(), **given)]


def test_honest_tests_of_every_style_are_left_alone():
    names = [line.split('"')[1] for line in HONEST.splitlines() if line.startswith(("test(", "it("))]
    assert _found(HONEST, [*names, "adds 1 to 2", "adds 3 to 4"]) == []


@pytest.mark.parametrize(("body", "why"), WEAK.items(), ids=range(len(WEAK)))
def test_a_test_that_cannot_fail_is_told(body, why):
    assert (("g > x", why)) in _found(f"describe('g', () => {{ it('x', {body}); }});", ["g > x"])
    assert _found(f"it('x', {body});", []) == [], "tests that are not RED's are nobody's business here"


def test_focus_loops_over_nothing_and_mocked_modules_are_told_however_they_are_written():
    good = "() => { expect(slug('a')).toBe('b'); }"
    for focused in (f"it.only('x', {good})", f"fit('x', {good})", f"test('x', {{ only: true }}, {good})"):
        assert _found(focused, ["x"])[0][1].startswith("runs alone")
    assert _found(f"describe.only('g', () => {{ it('x', {good}) }})", ["g > x"])[0][1].startswith("runs alone")
    assert _found(f"it.each([])('x', {good})", ["x"]) == [("x", "loops over nothing")]
    mocked = f"vi.mock('../src/kit');\nit('x', {good})"
    assert _found(mocked, ["x"]) == [("x", "replaces the module kit, which it should test")]
    assert _found(mocked.replace("kit'", "disk'"), ["x"]) == []
    cases = "it.each([1, 2])('is (%i) $name', () => {})"
    assert _found(cases, ["is (1) a", "is (2) b"]) == [("is (1) a", "asserts nothing"), ("is (2) b", "asserts nothing")]
