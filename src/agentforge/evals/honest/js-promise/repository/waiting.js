/** Give a value a little later. */
export async function later(value) {
  return await value;
}
