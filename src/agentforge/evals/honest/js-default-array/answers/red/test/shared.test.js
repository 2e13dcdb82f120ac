import assert from "node:assert";
import { test } from "node:test";
import { collect } from "../lists.js";

test("shares nothing", () => {
  collect(1);
  assert.deepStrictEqual(collect(2), [2]);
});

test("keeps what is given", () => {
  assert.deepStrictEqual(collect(3, [1]), [1, 3]);
});
