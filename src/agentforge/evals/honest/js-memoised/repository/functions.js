/** Apply a function twice. */
export function twice(fn, value) {
  return fn(fn(value));
}
