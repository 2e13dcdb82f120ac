/** Give a value a little later. */
export async function later(value) {
  return await value;
}

/** Settle as a promise does, but reject when it takes longer than some milliseconds. */
export function withTimeout(promise, milliseconds) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("timed out")), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
