import assert from "node:assert";

/** Upper-case the text and add an exclamation mark. */
export function shout(text) {
  return text.toUpperCase() + "!";
}

/** Lower the text and join its words by hyphens. */
export function slugify(text) {
  assert.ok(typeof text === "string", "slugify takes a text");
  return text.trim().toLowerCase().split(/\s+/).join("-");
}
