import assert from "node:assert";
import { test } from "node:test";
import * as waiting from "../waiting.js";

test("gives what the promise gives", async () => {
  assert.strictEqual(await waiting.withTimeout(Promise.resolve(5), 1000), 5);
});

test("rejects as the promise does", async () => {
  await assert.rejects(waiting.withTimeout(Promise.reject(new TypeError("no")), 1000), { name: "TypeError", message: "no" });
});

test("rejects when it takes too long", async () => {
  await assert.rejects(waiting.withTimeout(new Promise(() => {}), 10), { name: "Error", message: "timed out" });
});
