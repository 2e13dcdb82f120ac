"""Proves models/repetition.py."""

from __future__ import annotations

import pytest

from agentforge.models.api.hosted import LEAST, repeats_itself

CODE = "".join(f"def f{number}(a):\n    return a + {number}\n" for number in range(60))


@pytest.mark.parametrize("piece", ["x", "ab", "def f():\n    return 1\n", "0, " * 3 + "1, ", "y" * 219 + "z"])
def test_one_piece_again_and_again_is_seen_whatever_stands_before(piece: str) -> None:
    tail = piece * (LEAST // len(piece) + 2)
    assert repeats_itself(CODE + tail)
    assert repeats_itself(CODE + tail[: -len(piece) // 2])  # in the middle of a piece


@pytest.mark.parametrize("text", ["", "x" * (LEAST - 1), CODE, "x" * 5000 + "y", ("z" * 300 + "y") * 10])
def test_other_texts_are_left_alone(text: str) -> None:
    assert not repeats_itself(text)
