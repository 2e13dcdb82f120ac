/** Put an item at the end of a list. */
export function collect(item, into = []) {
  into.push(item);
  return into;
}
