import assert from "node:assert";
import { test } from "node:test";
import { sum } from "../sums.js";

test("adds up", () => {
  assert.strictEqual(sum([1, 2, 3]), 6);
});
