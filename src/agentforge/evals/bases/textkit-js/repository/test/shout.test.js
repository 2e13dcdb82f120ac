import assert from "node:assert";
import { test } from "node:test";
import { shout } from "../textkit.js";

test("shouts", () => {
  assert.equal(shout("hi"), "HI!");
});
