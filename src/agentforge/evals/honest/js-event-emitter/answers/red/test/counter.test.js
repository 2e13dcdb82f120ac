import assert from "node:assert";
import { test } from "node:test";
import * as counting from "../counter.js";

test("emits every change, and full once", () => {
  const counter = new counting.Counter(2);
  const heard = [];
  counter.on("change", (count) => heard.push(count));
  counter.on("full", () => heard.push("full"));
  counter.add();
  counter.add();
  counter.add();
  assert.deepStrictEqual(heard, [1, 2, "full", 3]);
});
