import assert from "node:assert";
import { test } from "node:test";
import { port } from "../server.js";

test("port", () => {
  assert.strictEqual(typeof port(), "number");
});
