import assert from "node:assert";
import { test } from "node:test";
import * as sums from "../sums.js";

test("totals", () => {
  assert.strictEqual(sums.total([1, 2, 3]), 6);
  assert.strictEqual("sum" in sums, false);
});
