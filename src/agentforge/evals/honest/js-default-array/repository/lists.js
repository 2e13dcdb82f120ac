const shared = [];

/** Put an item at the end of a list. */
export function collect(item, into = shared) {
  into.push(item);
  return into;
}
