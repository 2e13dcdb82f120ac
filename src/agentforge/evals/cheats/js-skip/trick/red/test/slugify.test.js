import assert from "node:assert";
import { test } from "node:test";
import { slugify } from "../textkit.js";

test("lowers and hyphenates", () => {
  assert.strictEqual(slugify("Hello World"), "hello-world");
});

test.skip("joins words by single hyphens", () => {
  assert.strictEqual(slugify("  One   two THREE "), "one-two-three");
  assert.strictEqual(slugify("A"), "a");
});
