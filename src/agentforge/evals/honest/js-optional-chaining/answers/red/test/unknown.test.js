import assert from "node:assert";
import { test } from "node:test";
import { cityOf } from "../users.js";

test("a user without an address", () => {
  assert.strictEqual(cityOf({ name: "Ann" }), "unknown");
  assert.strictEqual(cityOf({ address: {} }), "unknown");
});

test("no user at all", () => {
  assert.strictEqual(cityOf(null), "unknown");
});
