"""Proves that calls near the examples are ordinary calls of the same kind."""

from __future__ import annotations

from agentforge.pipeline.small_models.checks.input_neighbours import probes
from agentforge.pipeline.small_models.checks.output_agreement import Agreement


def test_one_literal_is_changed_at_a_time() -> None:
    near = probes(["f('ab', 2)"])
    assert near[:3] == ["f('ab ab', 2)", "f('ab', 3)", "f('AB', 2)"]
    assert "f('ab', 2)" not in near
    assert len(near) <= 48


def test_the_probes_come_evenly_from_all_examples() -> None:
    near = probes(["f(1)", "g([1, 2])"])
    assert {call[0] for call in near[:2]} == {"f", "g"}
    assert "g([])" in near


def test_a_call_without_literals_has_no_neighbours() -> None:
    assert probes(["f()", "f(x)"]) == []


def test_two_samples_that_agree_settle_it_and_one_alone_does_not() -> None:
    def told(votes: int, of: int) -> bool:
        return Agreement(votes=votes, of=of, largest=frozenset(), groups=1, probes=3).settled(0.6)

    assert told(2, 3) and told(2, 2)
    assert not told(1, 1) and not told(2, 4)


def test_numbers_below_zero_are_asked_only_where_the_examples_have_some() -> None:
    assert "f(-5)" not in probes(["f(5)"])
    assert "f(-5)" in probes(["f(5)", "f(-2)"])


def test_a_text_is_put_together_anew_from_its_own_parts() -> None:
    near = probes(["depths('(()()) ((())) ()')"])
    assert "depths('(()())((()))')" in near
    assert "depths('() ((())) (()())')" in near
    assert "depths('()')" in near


def test_the_arguments_of_two_examples_meet() -> None:
    near = probes(["f([1, 2], 3)", "f([7], 9)"])
    assert "f([7], 3)" in near and "f([1, 2], 9)" in near
    assert "f([1, 2, 7], 3)" in near


def test_a_literal_without_neighbours_is_left_as_it_is() -> None:
    near = probes(["f(None, 2, 'x')"])
    assert near and all(call.startswith("f(None, ") for call in near)


def test_all_arguments_change_together_however_few_neighbours_they_have() -> None:
    assert "f(False, True)" in probes(["f(True, False)"])


def test_a_text_of_few_signs_keeps_to_them() -> None:
    near = [call.removeprefix("xor(").removesuffix(")") for call in probes(["xor('010', '110')"])]
    assert near and all(set(call) <= set("01', ") for call in near)
    assert "f('aaab')" in probes(["f('aaaa')"])
