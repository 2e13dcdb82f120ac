import assert from "node:assert";
import { test } from "node:test";
import { Range } from "../range.js";

test("parses a range", () => {
  const range = Range.parse("2-5");
  assert.strictEqual(range.low, 2);
  assert.strictEqual(range.high, 5);
  assert.strictEqual(range instanceof Range, true);
});

test("refuses another form", () => {
  assert.throws(() => Range.parse("x"), RangeError);
});
