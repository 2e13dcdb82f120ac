"""Times and results of statements on real trees: what is faster, what only looks so, and what cannot be measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from agentforge.verification.roads.speed import TimedStatement, _is_plain, alike, duration, look_at_base, measure_speed

if TYPE_CHECKING:
    from tests.runners.conftest import Project

_WALKS = "    return [word for word in left if word in right]\n"
_PAIRS = f'"""Lists."""\n\n_KNOWN = {{}}\n\n\ndef common(left, right):\n    """Words in both."""\n{_WALKS}'
_FILES = {"pairs.py": _PAIRS, "tests/test_pairs.py": "def test_nothing():\n    assert 1\n"}
_SETUP = (
    "from pairs import common\nleft = [f'w{n}' for n in range(600)]\nright = [f'w{n}' for n in range(0, 1200, 2)]\n"
)
_ONE = TimedStatement(statement="common(left, right)", setup=_SETUP, requirement="REQ-001")

_SET = "    known = set(right)\n    return [word for word in left if word in known]\n"
_DROPS = "    known = set(right[:400])\n    return [word for word in left if word in known]\n"
_BY_LENGTH = """    key = len(left), len(right)
    if key not in _KNOWN:
        known = set(right)
        _KNOWN[key] = [word for word in left if word in known]
    return _KNOWN[key]
"""
_BY_IDENTITY = _BY_LENGTH.replace("len(left), len(right)", "id(left), id(right)")


def speed(project: Callable[..., Project], body: str, one: TimedStatement = _ONE) -> tuple[str, str]:
    made = project(_FILES)
    base, tree = made.tree(), made.tree({"pairs.py": _PAIRS.replace(_WALKS, body)})
    found = measure_speed(made.rig(), one, base_tree=base, tree=tree)
    return found.verdict, found.why


def test_what_is_faster_and_gives_the_same_is_told_with_its_rounds(project: Callable[..., Project]) -> None:
    made = project(_FILES)
    base, tree = made.tree(), made.tree({"pairs.py": _PAIRS.replace(_WALKS, _SET)})
    found = measure_speed(made.rig(), _ONE, base_tree=base, tree=tree)
    assert (found.verdict, found.why, found.note) == ("faster", "", "")
    assert len(found.before) == len(found.after)
    assert 3 <= len(found.before) <= 7
    assert found.ratio > 5
    assert found.nearby >= 8


@pytest.mark.parametrize(
    ("one", "before", "after", "plain"),
    [
        (TimedStatement(statement="f()"), [4.0, 5.0, 4.1], [1.0, 1.9, 1.2], True),
        (TimedStatement(statement="f()"), [4.0, 5.0, 4.1], [1.0, 2.1, 1.2], False),
        (TimedStatement(statement="f()", ratio=4), [4.0, 5.0, 4.1], [1.0, 1.1, 0.9], False),
        (TimedStatement(statement="f()", at_most_ms=1500), [4.0, 5.0, 4.1], [1.0, 1.9, 1.2], False),
    ],
)
def test_more_rounds_are_made_until_no_time_of_the_change_comes_near_one_of_the_base(
    one: TimedStatement, before: list[float], after: list[float], plain: bool
) -> None:
    assert _is_plain(one, [(best, best) for best in before], [(best, best) for best in after]) is plain
    assert not _is_plain(one, [(1.0, best) for best in before], [(1.0, best) for best in after])


def test_work_that_is_left_out_and_answers_of_others_are_seen_in_nearby_inputs(project: Callable[..., Project]) -> None:
    assert speed(project, _DROPS)[0] == "another result"
    verdict, why = speed(project, _BY_LENGTH)
    assert verdict == "another result"
    assert why.startswith("with every second item of left it gives ['w0',")
    assert speed(project, _BY_IDENTITY)[0] == "another result"


def test_what_is_not_faster_is_refused_with_its_figures(project: Callable[..., Project]) -> None:
    loop = "    found = []\n    for word in left:\n        if word in right:\n            found.append(word)\n    return found\n"
    assert speed(project, loop) == ("not faster", "that is not faster beyond what differs from round to round")


def test_less_than_was_asked_for_is_not_enough(project: Callable[..., Project]) -> None:
    wanted = TimedStatement(statement=_ONE.statement, setup=_SETUP, ratio=100_000)
    assert speed(project, _SET, wanted) == ("not enough", "at least 100000x is asked for")


def test_an_exception_that_the_base_does_not_raise_is_another_result(project: Callable[..., Project]) -> None:
    assert speed(project, "    raise ValueError('too long')\n") == ("another result", "it raises ValueError: too long")


def test_a_statement_that_raises_where_it_is_looked_at_has_no_result(project: Callable[..., Project]) -> None:
    seen = TimedStatement(
        statement="__import__('sys').getprofile() and 1 / 0; common(left, right)", setup=_SETUP, requirement="REQ-001"
    )
    assert speed(project, _SET, seen) == ("no result", "it raises ZeroDivisionError at the base")


def test_a_cache_is_told_because_only_repeated_calls_are_faster(project: Callable[..., Project]) -> None:
    body = "    key = tuple(left), tuple(right)\n    if key not in _KNOWN:\n"
    body += "        for _ in range(3):  # the first call is slower than before, whatever else the machine does\n"
    body += "            _KNOWN[key] = [word for word in left if word in right]\n    return list(_KNOWN[key])\n"
    made = project(_FILES)
    base, tree = made.tree(), made.tree({"pairs.py": _PAIRS.replace(_WALKS, body)})
    found = measure_speed(made.rig(), _ONE, base_tree=base, tree=tree)
    assert found.verdict == "faster"
    assert found.note.startswith("only repeated calls are faster: the first one takes ")


@pytest.mark.parametrize(
    ("statement", "setup", "problem"),
    [
        ("common(left, right)", _SETUP, ""),
        ("common([], [])", "from pairs import common", "to do, at least 0.1 ms"),
        ("sorted(data)", "data = list(range(10**5))", "it runs no function of pairs.py"),
        ("nowhere(1)", "", "it raises NameError: name 'nowhere' is not defined"),
        ("common(", "", "its statement is no Python"),
    ],
)
def test_a_statement_that_measures_nothing_is_told_at_the_base(
    project: Callable[..., Project], statement: str, setup: str, problem: str
) -> None:
    made = project(_FILES)
    found = look_at_base(made.rig(), made.tree(), TimedStatement(statement=statement, setup=setup), files=["pairs.py"])
    assert problem in found.problem
    assert bool(found.problem) is bool(problem)


def test_results_are_alike_in_any_order_of_sets_and_to_nine_digits_of_floats() -> None:
    assert alike(["set", [["int", "1"], ["int", "2"]]], ["set", [["int", "2"], ["int", "1"]]])
    assert alike(["float", "0.30000000000000004"], ["float", "0.3"])
    assert alike({"raised": "ValueError", "message": "a"}, {"raised": "ValueError", "message": "b"})
    assert not alike(["list", [["int", "1"], ["int", "2"]]], ["list", [["int", "2"], ["int", "1"]]])
    assert not alike(["float", "0.3"], ["float", "0.4"])
    assert not alike({"raised": "ValueError"}, {"value": ["int", "1"], "size": -1, "data": {}})


def test_two_places_of_one_number_are_two_inputs_nearby(project: Callable[..., Project]) -> None:
    made = project(_FILES)
    base, tree = made.tree(), made.tree({"pairs.py": _PAIRS.replace(_WALKS, _SET)})
    setup = _SETUP.replace("range(0, 1200, 2)", "range(0, 1200, 2)[: {most}]").replace("range(600)", "range(600)[:590]")
    found = [
        measure_speed(
            made.rig(),
            TimedStatement(statement="common(left, right)", setup=setup.replace("{most}", most), requirement="REQ-001"),
            base_tree=base,
            tree=tree,
        ).nearby
        for most in ("590", "580")
    ]
    assert found[0] == found[1] > 3


def test_durations_have_three_digits() -> None:
    assert [duration(one) for one in (1.234, 0.01213, 0.0000851)] == ["1.23 s", "12.1 ms", "85.1 µs"]
