"""Proves that each form shows request, tests and code within a small model's room, and that forms differ."""

from __future__ import annotations

from agentforge.pipeline.small_models.generation.prompt_variants import CodeShown, asked
from agentforge.pipeline.small_models.generation.units import Unit
from agentforge.tokens import count_tokens

SOURCE = "import re\n\n\nclass Cart:\n    def __init__(self) -> None:\n        self.lines = []\n\n    def total(self) -> int:\n        return 0\n"
SIGHT = CodeShown(
    request="total() must add up all lines " * 200,
    unit=Unit(name="Cart.total", file="cart.py", kind="method", module="cart"),
    source=SOURCE + "\n\n" + "\n".join(f"def f{number}(x: int) -> int:\n    return x\n\n" for number in range(200)),
    tests="assert Cart().total() == 0\n" * 200,
    wrong=("got 1",),
)


def test_every_form_shows_the_tests_and_the_method_within_1500_tokens() -> None:
    for form in range(5):
        text = "\n".join(message.text for message in asked(SIGHT, form=form))
        assert "assert Cart().total() == 0" in text
        assert "def total(self) -> int" in text
        assert count_tokens(text) <= 1500


def test_forms_differ_and_repeat() -> None:
    texts = ["\n".join(message.text for message in asked(SIGHT, form=form)) for form in range(4)]
    assert len(set(texts)) == 4
    assert "got 1" in texts[2]


def test_a_file_that_does_not_exist_yet_is_no_obstacle() -> None:
    sight = CodeShown(
        request="Add f", unit=Unit(name="f", file="f.py", change="new"), source="", tests="assert f() == 1"
    )
    assert all("assert f() == 1" in asked(sight, form=form)[-1].text for form in range(4))


def test_every_second_form_hides_the_code_of_today_but_not_its_head_and_docstring() -> None:
    source = 'def unique(names: list[str]) -> list[str]:\n    """Name every article once."""\n    return sorted(set(names))\n'
    unit = Unit(name="unique", file="stock.py", change="changed")
    sight = CodeShown(
        request="unique loses the order", unit=unit, source=source, tests="assert unique(['b', 'a']) == ['b', 'a']"
    )
    shown = ["sorted(set(names))" in asked(sight, form=form)[-1].text for form in range(4)]
    assert shown == [True, False, True, False]
    assert all("def unique(names: list[str]) -> list[str]:" in asked(sight, form=form)[-1].text for form in range(4))
    assert "Name every article once." in asked(sight, form=1)[-1].text
