import assert from "node:assert";
import { test } from "node:test";
import { total } from "../counter.js";

test("total", () => {
  assert.strictEqual(total([1, 2]), 3);
});
