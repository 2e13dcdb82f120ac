import assert from "node:assert";
import { test } from "node:test";
import { Range } from "../range.js";

test("has", () => {
  assert.strictEqual(new Range(1, 3).has(2), true);
});
