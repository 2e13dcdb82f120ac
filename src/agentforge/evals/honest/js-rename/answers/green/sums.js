/** Add up numbers. */
export function total(numbers) {
  return numbers.reduce((all, one) => all + one, 0);
}
