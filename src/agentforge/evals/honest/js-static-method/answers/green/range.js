/** A range of whole numbers. */
export class Range {
  constructor(low, high) {
    this.low = low;
    this.high = high;
  }

  /** Read a range such as 2-5; throws a RangeError for another form. */
  static parse(text) {
    const found = /^(\d+)-(\d+)$/.exec(text);
    if (!found) throw new RangeError(`no range: ${text}`);
    return new Range(Number(found[1]), Number(found[2]));
  }

  /** Whether a number lies in the range. */
  has(number) {
    return number >= this.low && number <= this.high;
  }
}
