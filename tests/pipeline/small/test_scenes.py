"""Examples that need an object: which are read, how they are written, and which are left alone."""

from __future__ import annotations

import pytest

from agentforge.pipeline.small_models.generation.memory import holds_number, remembers, without_and_twice
from agentforge.pipeline.small_models.reading.stateful_examples import (
    ClassSeen,
    classes_in,
    made_and_called,
    scene_values,
    scenes_from,
    scenes_of,
    staged_calls,
    unfolded,
)
from agentforge.verification.examples.claims import claims_in, names_of

CART = ClassSeen(name="Cart", methods=frozenset({"add", "remove"}), free=True)
LEDGER = ClassSeen(name="Ledger", methods=frozenset({"add", "balance"}), free=True)
BOX = ClassSeen(name="Box", methods=frozenset({"put", "take"}), free=False)


@pytest.mark.parametrize(
    ("request_text", "classes", "claims"),
    [
        (
            "Give Cart a method count(). An empty cart has count() == 0; after cart.add('pen', 100, 2) and cart.add('ink', 3) it is 3.",
            [CART],
            [
                "Cart().count() -> 0",
                "((cart := Cart()), cart.add('pen', 100, 2), cart.add('ink', 3), cart.count())[-1] -> 3",
            ],
        ),
        (
            "After add('salary', 1000) and add('rent', -250) balance() should be 750.",
            [LEDGER],
            [
                "((ledger := Ledger()), ledger.add('salary', 1000), ledger.add('rent', -250), ledger.balance())[-1] -> 750"
            ],
        ),
        (
            "balance() is 1250 but should be 750 after add('a', 1000) and add('b', -250)",
            [LEDGER],
            ["((ledger := Ledger()), ledger.add('a', 1000), ledger.add('b', -250), ledger.balance())[-1] -> 750"],
        ),
        (
            "take() fails: after box = Box(3), box.put('a') box.take() raises KeyError",
            [BOX],
            ["((box := Box(3)), box.put('a'), box.take())[-1] raises KeyError"],
        ),
        (
            "Let statement() of Ledger show the balance. After add('a', 10) and add('b', -4) it is ['a: 10 [10]', 'b: -4 [6]'].",
            [LEDGER],
            [
                "((ledger := Ledger()), ledger.add('a', 10), ledger.add('b', -4), ledger.statement())[-1]"
                " -> ['a: 10 [10]', 'b: -4 [6]']"
            ],
        ),
        ("After Ledger.add('a', 5) Ledger.balance() is 5", [LEDGER], ["((ledger := Ledger()), ledger.add('a', 5), ledger.balance())[-1] -> 5"]),
    ],
)  # fmt: skip
def test_steps_and_the_object_that_they_mean_are_read(
    request_text: str, classes: list[ClassSeen], claims: list[str]
) -> None:
    assert [one.claim.text for one in scenes_of(request_text, classes)] == claims


@pytest.mark.parametrize(
    ("request_text", "classes", "functions"),
    [
        ("Let total() and mean() of Ledger round. After add('a', 1) it is 1.", [LEDGER], frozenset()),  # which of them?
        ("After put('a') take() is 'a'", [BOX], frozenset()),  # nobody says how a box is made
        ("After add('a', 1) balance() is 1", [LEDGER, CART], frozenset({"add"})),  # add is a function, too
        ("After add('a') total() is 1", [CART, LEDGER], frozenset()),  # whose total?
        ("After add('a', 1) then add('b', 1) balance() is 2", [LEDGER], frozenset()),  # does it go on from before?
        ("balance() should be 750", [LEDGER], frozenset()),  # of which account?
        ("After add(name, 3) balance() is 3", [LEDGER], frozenset()),  # no values
        ("After lower-casing, slugify('A B') -> 'a-b'", [LEDGER], frozenset({"slugify"})),
    ],
)
def test_what_leaves_the_object_or_the_steps_open_is_not_read(
    request_text: str, classes: list[ClassSeen], functions: frozenset[str]
) -> None:
    assert scenes_of(request_text, classes, functions) == ()


def test_one_call_after_different_steps_is_no_contradiction() -> None:
    assert staged_calls("After add('a', 1) balance() is 1. After add('b', 2) balance() is 2.") == {"balance()"}
    assert staged_calls("f(1) is 1 and f(1) is 2") == frozenset()


def test_a_scene_is_unfolded_into_statements_and_a_plain_call_is_not() -> None:
    call = "((cart := Cart()), cart.add('pen', 100), cart.count())[-1]"
    assert unfolded(call) == (("cart = Cart()", "cart.add('pen', 100)"), "cart.count()")
    assert made_and_called(call) == ("Cart", "count")
    assert names_of(call) == ("Cart",)
    assert unfolded("f(1)[-1]") == ((), "f(1)[-1]")
    assert made_and_called("f(1)") is None


def test_scenes_survive_as_facts() -> None:
    scenes = scenes_of("After add('a', 5) balance() is 5", [LEDGER])
    assert scenes and scenes_from(scene_values(scenes)) == scenes


def test_classes_tell_whether_they_are_made_without_arguments() -> None:
    source = (
        "class A:\n    def f(self): ...\n"
        "class B:\n    def __init__(self, size, *, kind='x'): ...\n"
        "class C:\n    def __init__(self, size=3): ...\n"
        "@dataclass\nclass D:\n    x: int\n    y: int = 1\n"
        "class E(Other): ...\n"
    )
    assert {one.name: one.free for one in classes_in(source)} == {
        "A": True,
        "B": False,
        "C": True,
        "D": False,
        "E": False,
    }
    assert list(classes_in("class (")) == []


def test_a_scene_is_varied_by_its_steps() -> None:
    call = "((cart := Cart()), cart.add('pen'), cart.count())[-1]"
    assert without_and_twice(call) == (
        "((cart := Cart()), cart.count())[-1]",
        "((cart := Cart()), cart.add('pen'), cart.add('pen'), cart.count())[-1]",
    )
    assert without_and_twice("f(1)") == ()


def test_a_definition_that_knows_the_numbers_of_the_examples_is_told_from_one_that_has_a_rule() -> None:
    import ast

    claims = claims_in("count([]) -> 0") + claims_in("count([1, 5]) -> 750")
    known = ast.parse("def count(rows):\n    return 750 if rows else 0")
    request = "Write count(rows): count([]) -> 0 and count([1, 5]) -> 750"
    assert holds_number(known, claims, request=request)
    assert remembers(claims, ("750", "750", "0"))
    assert not remembers(claims, ("750", "751", "0"))
    assert not remembers(claims, ("750", "raises ValueError"))
    assert not holds_number(known, claims, request=f"{request}. Never more than 750.")
    assert not holds_number(ast.parse("def count(rows):\n    return sum(rows)"), claims, request=request)
