import assert from "node:assert";
import { test } from "node:test";
import * as functions from "../functions.js";

test("calls once for every argument", () => {
  let calls = 0;
  const double = functions.memoise((one) => {
    calls += 1;
    return one * 2;
  });
  assert.strictEqual(double(2), 4);
  assert.strictEqual(double(2), 4);
  assert.strictEqual(calls, 1);
  assert.strictEqual(double(3), 6);
  assert.strictEqual(calls, 2);
});
