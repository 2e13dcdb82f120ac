"""Calls of a request and the values that stand near them, in any language, order and layout."""

from __future__ import annotations

from types import ModuleType

import pytest

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.ledger.entries import ledger_rows
from agentforge.pipeline.ledger.nearness import groups_in
from agentforge.pipeline.ledger.promises import RIGHT, chosen_results, doubtful, near_groups, undecided_examples
from agentforge.verification.examples import claims, claims_javascript
from tests.support.run_states import with_fields
from tests.support.stage_states import INTAKE, asked, inside

SESSION = """It crashes:

```
>>> b = Basket()
>>> b.add("tea")  # 350
>>> b.mean()
Traceback (most recent call last):
  File "a.py", line 3, in mean
ZeroDivisionError: division by 7
```

I'd expect 0 there. Thanks for 2 days of work."""
SCRIPT = """```js
const s = new Stack([1, 2]);
s.peek(); // 1, sollte 2 sein
```"""

PYTHON = {
    "behind": ("f(1) ergibt [0, 0], richtig wäre [1, 0].", [("f(1)", "[0, 0] [1, 0]")]),
    "before": ("En lugar de 'A' debe salir 'AM' de `f(\"x\")`.", [('f("x")', "'A' 'AM'")]),
    "two sentences": ("f(1) gives 3. That is wrong: 4. f(2) is 5.", [("f(1)", "3 4"), ("f(2)", "5")]),
    "two paragraphs": ("f(1) gives 3.\n\nIt takes 4 days.", [("f(1)", "3")]),
    "a row": ("| a | b |\n|---|---|\n| `f(1)` | `3` |\n| `f(2)` | 'x' |", [("f(1)", "3"), ("f(2)", "'x'")]),
    "an exception": ("`f(0)` wirft heute `KeyError: 0`, gewünscht ist ein ValueError.", [("f(0)", "KeyError ValueError")]),
    "its arguments": ("f([1, 2], k='v') gives 3.", [("f([1, 2], k='v')", "3")]),
    "compared": ("f(1) != 3 and f(1) < 9, but 4.", [("f(1) f(1)", "4")]),
    "a session": (SESSION, [('[(b := Basket()), b.add("tea")][-1]', "350"), ('[(b := Basket()), b.add("tea"), b.mean()][-1]', "ZeroDivisionError 0 2")]),
    "what is left out": ("f(1) gives [1, ...].", []),
    "part of a name": ("f(1) of lib-2 in #12 and v1.2.3 at 5%.", []),
}  # fmt: skip


@pytest.mark.parametrize("case", PYTHON)
def test_what_stands_together_is_read_without_a_word(case: str) -> None:
    request, wanted = PYTHON[case]
    assert _read(request, claims) == wanted


def test_javascript_is_read_in_the_same_way() -> None:
    assert _read(SCRIPT, claims_javascript) == [("((s) => (s = new Stack([1, 2]), s.peek()))()", "1 2")]
    assert _read("`f()` → undefined, 見たいのは null。", claims_javascript) == [("f()", "None None")]


def _read(request: str, reader: ModuleType) -> list[tuple[str, str]]:
    return [
        (" ".join(one.source for one in group.calls), " ".join(value.source for value in group.values))
        for group in groups_in(request, reader)
    ]


ROW = {
    "call": "f(1)", "source": "f(1)", "example": "f(1) soll 4 sein.", "got": "3", "was": "3", "as_before": False,
    "near": [{"kind": "value", "value": "4"}, {"kind": "error", "value": "KeyError"}],
}  # fmt: skip


def _with_row(held_out: dict[str, object]) -> RunState:
    request = str(ROW["example"])
    state = inside("green", facts={"green": {"held_out": held_out}})
    intake = {**INTAKE, "asks": ledger_rows(request)}
    return with_fields(state, request=request, artifacts={**state.work.artifacts, "intake": intake})


def test_each_value_near_a_call_is_an_answer_and_the_one_that_is_chosen_has_to_come() -> None:
    state = _with_row({"near": [ROW]})
    wanted = doubtful(state, undecided_examples(state), stage="green")
    assert wanted is not None
    assert [choice.label for choice in wanted.choices] == [RIGHT, "it must give 4", "it must raise KeyError"]
    told = dict(wanted.context)
    answers = {RIGHT: [], "it must give 4": [("f(1)", "4", "")], "it must raise KeyError": [("f(1)", "", "KeyError")]}
    for text, chosen in answers.items():
        settled = with_fields(state, escalations=asked("green", decision="answer", text=text, **told))
        assert undecided_examples(settled) == []
        assert [(one.call, one.returns, one.raises) for one in chosen_results(settled) if one.firm] == chosen


def test_a_call_that_was_read_as_an_example_is_asked_about_once() -> None:
    row = {"call": "f(1)", "text": "f(1) -> 4; it is 3 now", "before": "", "beside": ["open(1)"]}
    assert undecided_examples(_with_row({"conditional": [row], "near": [ROW]})) == [row]


def test_what_a_human_spoke_of_is_not_looked_for() -> None:
    state = _with_row({})
    assert len(near_groups(state, claims)) == 1
    spoken = with_fields(state, escalations=asked("clarify", decision="answer", text="f(1) may be anything"))
    assert near_groups(spoken, claims) == []
