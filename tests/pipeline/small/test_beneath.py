"""The file beneath a sample is the one before it."""

from __future__ import annotations

from agentforge.pipeline.small_models.generation.callees import _put_back
from agentforge.pipeline.small_models.generation.units import Unit

BEFORE = "X = 1\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"
NOW = "X = 1\n\n\ndef one():\n    return 11\n\n\n@cache\ndef two():\n    # passed alone\n    return 22\n"


def unit(name: str) -> Unit:
    return Unit(name=name, file="m.py", kind="function", change="changed")


def test_a_unit_is_put_back_and_the_others_stay_as_they_were_written() -> None:
    assert _put_back(NOW, BEFORE, unit("two")) == BEFORE.replace("return 1\n", "return 11\n")


def test_a_new_unit_goes() -> None:
    assert "two" not in _put_back(NOW, "X = 1\n", unit("two"))
    assert "return 11" in _put_back(NOW, "X = 1\n", unit("two"))


def test_what_cannot_be_taken_out_stays() -> None:
    now = "class A:\n    def f(self):\n        return 1\n"
    assert _put_back(now, "", unit("A.f")) == now
