/** Add up numbers. */
export function total(numbers) {
  return numbers.reduce((sum, one) => sum + one, 0);
}
