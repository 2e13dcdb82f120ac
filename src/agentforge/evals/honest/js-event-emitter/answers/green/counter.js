import { EventEmitter } from "node:events";

/** Counts, and tells of it. */
export class Counter extends EventEmitter {
  constructor(limit) {
    super();
    this.limit = limit;
    this.count = 0;
  }

  /** Count one more. */
  add() {
    this.count += 1;
    this.emit("change", this.count);
    if (this.count === this.limit) this.emit("full");
  }
}

/** Add up numbers. */
export function total(numbers) {
  return numbers.reduce((sum, one) => sum + one, 0);
}
