/** Apply a function twice. */
export function twice(fn, value) {
  return fn(fn(value));
}

/** Remember what a function of one argument gave. */
export function memoise(fn) {
  const known = new Map();
  return (argument) => {
    if (!known.has(argument)) known.set(argument, fn(argument));
    return known.get(argument);
  };
}
