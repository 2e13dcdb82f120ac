import assert from "node:assert";
import { test } from "node:test";
import { collect } from "../lists.js";

test("collects", () => {
  assert.deepStrictEqual(collect(2, [1]), [1, 2]);
});
