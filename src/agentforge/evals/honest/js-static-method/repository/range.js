/** A range of whole numbers. */
export class Range {
  constructor(low, high) {
    this.low = low;
    this.high = high;
  }

  /** Whether a number lies in the range. */
  has(number) {
    return number >= this.low && number <= this.high;
  }
}
