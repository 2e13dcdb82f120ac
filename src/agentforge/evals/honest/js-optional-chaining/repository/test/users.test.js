import assert from "node:assert";
import { test } from "node:test";
import { cityOf } from "../users.js";

test("city", () => {
  assert.strictEqual(cityOf({ address: { city: "Rome" } }), "Rome");
});
