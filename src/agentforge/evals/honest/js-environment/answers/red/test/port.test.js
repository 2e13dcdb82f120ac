import assert from "node:assert";
import { test } from "node:test";
import { port } from "../server.js";

test("the environment names the port", () => {
  assert.strictEqual(port({ PORT: "3000" }), 3000);
  assert.strictEqual(port({}), 8080);
});
