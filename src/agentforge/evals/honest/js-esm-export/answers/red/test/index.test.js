import assert from "node:assert";
import { test } from "node:test";
import * as index from "../index.js";
import * as shapes from "../shapes.js";

test("the index exports area", () => {
  assert.strictEqual(typeof index.area, "function");
  assert.strictEqual(index.area, shapes.area);
  assert.strictEqual(index.area(2, 3), 6);
});
