import assert from "node:assert";
import { test } from "node:test";
import { later } from "../waiting.js";

test("later", async () => {
  assert.strictEqual(await later(3), 3);
});
