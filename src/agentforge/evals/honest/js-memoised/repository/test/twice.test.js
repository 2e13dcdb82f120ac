import assert from "node:assert";
import { test } from "node:test";
import { twice } from "../functions.js";

test("twice", () => {
  assert.strictEqual(twice((one) => one + 1, 1), 3);
});
