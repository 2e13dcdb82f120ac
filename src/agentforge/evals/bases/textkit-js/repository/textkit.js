/** Upper-case the text and add an exclamation mark. */
export function shout(text) {
  return text.toUpperCase() + "!";
}
