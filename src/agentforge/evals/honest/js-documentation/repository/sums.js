/** Add up numbers. */
export function sum(numbers) {
  return numbers.reduce((all, one) => all + one, 0);
}
