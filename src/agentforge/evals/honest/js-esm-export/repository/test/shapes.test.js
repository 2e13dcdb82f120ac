import assert from "node:assert";
import { test } from "node:test";
import { area } from "../shapes.js";

test("area", () => {
  assert.strictEqual(area(1, 3), 3);
});
