"""What a program printed, made short."""

from __future__ import annotations

import pytest

from agentforge.context.printed import WAYS_TO_SEE, cut_printed
from agentforge.tokens import count_tokens

NOTE = WAYS_TO_SEE["shell"]
RUN = [
    *(f"tests/test_a.py::test_{number} PASSED" for number in range(200)),
    "tests/test_a.py::test_wanted FAILED",
    *(f"    at frame {number} of the trace" for number in range(200)),
    "E       AssertionError: assert 41 == 42",
    *(f"captured line {number}" for number in range(300)),
    "=========== 1 failed, 200 passed in 3.20s ===========",
    *(f"coverage of file_{number}.py 97%" for number in range(200)),
]
PRINTED = "\n".join(RUN) + "\n"


@pytest.mark.parametrize("limit", [200, 400, 1500])
def test_head_tail_and_what_tells_how_it_went_are_kept(limit: int) -> None:
    cut = cut_printed(PRINTED, limit=limit, note=NOTE)
    assert count_tokens(cut) <= limit
    assert cut.startswith(RUN[0]) and cut.rstrip().endswith(RUN[-1])
    for number in (402, 703):
        assert f"  {number}: {RUN[number - 1]}\n" in cut
    (mark,) = (line for line in cut.splitlines() if "lines omitted" in line)
    first, last = (int(one) for one in mark.partition("(")[2].partition(f" of {len(RUN)})")[0].split("-"))
    assert mark.startswith(f"... {last - first + 1} lines omitted") and f"sed -n '{first},{last}p'" in mark
    assert RUN[first - 2] in cut and RUN[last] in cut


@pytest.mark.parametrize(
    "line",
    [
        "--- FAIL: TestWanted (0.00s)", "test result: FAILED. 1 passed; 1 failed;", "not ok 7 - wanted", "Tests:       1 failed, 3 total",
        "src/a.ts(4,2): error TS2304: Cannot find name 'x'.", "app/a.py:4: error: Incompatible types", "error[E0308]: mismatched types",
        "thread 'wanted' panicked at src/lib.rs:4:5:", "  1) wanted", "ValueError: wanted", "Ran 7 tests in 0.1s", "✖ wanted (1.2ms)",
        "Traceback (most recent call last):", "FAILED (failures=1)",
    ],
)  # fmt: skip
def test_results_are_recognised_in_the_words_of_each_runner(line: str) -> None:
    noise = [f"building part {number} of the whole" for number in range(400)]
    assert line in cut_printed("\n".join([*noise, line, *noise]), limit=300)


def test_a_text_that_fits_stays_and_one_without_results_keeps_both_ends() -> None:
    assert cut_printed("short\n", limit=16) == "short\n"
    plain = "".join(f"line {number}\n" for number in range(1000))
    cut = cut_printed(plain, limit=100)
    assert count_tokens(cut) <= 100 and "that tell most" not in cut
    assert cut.startswith("line 0\n") and cut.endswith("line 999\n")


def test_a_second_cut_counts_from_the_first_line_and_keeps_what_the_first_had_named() -> None:
    again = cut_printed(cut_printed(PRINTED, limit=1500, note=NOTE), limit=250, note=NOTE)
    (mark,) = (line for line in again.splitlines() if "lines omitted" in line)
    assert f" of {len(RUN)})" in mark
    for number in (402, 703):
        assert f"  {number}: {RUN[number - 1]}\n" in again


def test_one_enormous_line_hides_nothing_around_it() -> None:
    cut = cut_printed("\n".join(["begin", "x" * 90_000, "1 failed in 2 s", "y" * 90_000, "end"]), limit=1200)
    assert count_tokens(cut) <= 1200
    assert "begin" in cut and "1 failed in 2 s" in cut and cut.endswith("end")
    assert count_tokens(cut_printed("z" * 90_000, limit=60)) <= 60
