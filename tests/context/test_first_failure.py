"""The first failure of a long output stays whole, whatever stands around it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.context.first_failure import first_failure
from agentforge.context.printed import cut_printed
from agentforge.tokens import count_tokens

NOISE = [f"building part {number} of the whole" for number in range(300)]

PYTEST = """\
_________________________ test_small _________________________

    def test_small():
>       assert double(4) == 9
E       assert 8 == 9
E        +  where 8 = double(4)

test_tool.py:5: AssertionError
"""
UNITTEST = """\
FAIL: test_small (test_tool.Doubles.test_small)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/w/test_tool.py", line 5, in test_small
    self.assertEqual(double(4), 9)
AssertionError: 8 != 9

"""
JEST = """\
  ● double › of four

    expect(received).toBe(expected) // Object.is equality

    Expected: 9
    Received: 8

      at Object.toBe (tool.test.js:4:21)
"""
GO = """\
--- FAIL: TestDouble (0.00s)
    tool_test.go:6: got 8
        wanted 9
"""
CARGO = """\
---- tests::of_four stdout ----
thread 'tests::of_four' panicked at src/lib.rs:9:9:
assertion `left == right` failed
  left: 8
 right: 9
"""
TAP = """\
not ok 7 - of four
  ---
  expected: 9
  actual: 8
  ...
"""
TRACEBACK = """\
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
  File "/w/tool.py", line 3, in double
    raise ValueError(n)
ValueError: 4
"""
BEHIND = {
    PYTEST: "_________________________ test_large _________________________",
    UNITTEST: "======================================================================",
    JEST: "  ● double › of five",
    GO: "FAIL",
    CARGO: "---- tests::of_five stdout ----",
    TAP: "ok 8 - of five",
    TRACEBACK: "cleaning up",
}


@pytest.mark.parametrize("failure", list(BEHIND), ids=lambda text: text.split("\n")[0].strip(" _-")[:20])
def test_the_first_failure_is_whole_before_head_and_tail(failure: str) -> None:
    printed = "\n".join([*NOISE, *failure.splitlines(), BEHIND[failure], *NOISE, "1 failed, 9 passed in 2 s", ""])
    cut = cut_printed(printed, limit=420, note="ask for {first}-{last}")
    assert count_tokens(cut) <= 420
    assert failure in cut
    assert cut.startswith(NOISE[0]) and cut.endswith("1 failed, 9 passed in 2 s\n")
    marks = [line for line in cut.splitlines() if "lines omitted" in line]
    assert len(marks) == 2 and sum("ask for" in line for line in marks) == 1
    again = cut_printed(cut, limit=340)
    assert failure in again and count_tokens(again) <= 340


def test_of_a_failure_that_is_longer_than_its_room_beginning_and_end_stay() -> None:
    inner = [f"    value_{number} = compute({number})" for number in range(70)]
    failure = [
        "______ test_long ______",
        "",
        "    def test_long():",
        *inner,
        "E       assert 8 == 9",
        "",
        "a.py:5: AssertionError",
    ]
    cut = cut_printed("\n".join([*NOISE, *failure, "====== 1 failed in 2 s ======", ""]), limit=300)
    assert count_tokens(cut) <= 300
    for line in ("______ test_long ______", "E       assert 8 == 9", "====== 1 failed in 2 s ======"):
        assert line in cut


@pytest.mark.parametrize("line", ["a plain line", "  ● Console", "ERROR: pip says", "FAIL"])
def test_what_has_no_form_of_a_runner_is_no_failure(line: str) -> None:
    assert not first_failure([*NOISE, line, *NOISE])


def test_what_pytest_itself_prints_of_a_failure_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_tool.py").write_text(
        "import pytest\n\n\n@pytest.mark.parametrize('n', range(200))\ndef test_n(n):\n    print('said', n)\n    wanted = 7\n    assert n != wanted\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_tool.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    cut = cut_printed(done.stdout, limit=400)
    assert ">       assert n != wanted" in cut and "E       assert 7 != 7" in cut and "said 7" in cut
    assert "1 failed, 199 passed" in cut
