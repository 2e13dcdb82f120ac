// The child's end of the result channel: signed JSON lines on an inherited descriptor, as `stream.py` writes them.
"use strict";

const { createHmac } = require("node:crypto");
const { readFileSync, writeSync } = require("node:fs");

const TEXT_LIMIT = 4000;

/** Read the instructions from stdin and return a function that sends one record. */
function openChannel() {
  const setup = JSON.parse(readFileSync(0, "utf8"));
  const key = Buffer.from(setup.key, "hex");
  const descriptor = setup.descriptor;
  let count = 0;
  return function send(record) {
    const body = JSON.stringify(record);
    const signature = createHmac("sha256", key).update(`${count}:${body}`, "utf8").digest("hex");
    let rest = Buffer.from(`{"n":${count},"s":"${signature}","r":${body}}\n`, "utf8");
    count += 1;
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  };
}

/** What of a thrown value a verdict needs. */
function raised(error) {
  if (error === null || typeof error !== "object") return { name: "Error", code: "", message: String(error), stack: "" };
  const cause = error.cause && typeof error.cause === "object" && error.code === "ERR_TEST_FAILURE" ? error.cause : error;
  return {
    name: cut(cause.name || "Error"),
    code: cut(cause.code || ""),
    message: cut(cause.message || cause),
    stack: cut(cause.stack || ""),
    assertion: Boolean(cause.matcherResult) || cause.code === "ERR_ASSERTION" || String(cause.name).startsWith("Assertion"),
  };
}

/** A text of bounded length. */
function cut(value) {
  return String(value).slice(0, TEXT_LIMIT);
}

module.exports = { openChannel, raised, cut };
