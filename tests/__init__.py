"""The tests; `tests.support` is what several folders of them share, and what the benchmarks use of it."""
