"""The conversation's context: valid for every provider after any history, never over budget, stable in front, nothing pinned lost."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from agentforge.context.conversation import Budget, build_request, compactable, user_tokens
from agentforge.context.window import blocks, entry_tokens, history_tokens, shortened
from agentforge.errors import ModelUnavailable
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Entry
from agentforge.messages import ModelReply, ModelRequest, ToolSchema, Usage
from agentforge.models.dialects.anthropic_messages import ANTHROPIC_MESSAGES
from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from agentforge.session.compaction import compacted
from agentforge.tokens import count_tokens
from tests.support.loopback.strict import problems

AT = "2026-01-02T03:04:05Z"
SYSTEM = "You work with tools. " * 10
TOOL = ToolSchema(name="read_file", description="Read a file.", parameters={"type": "object", "properties": {}})


class Talking:
    """A session made of events."""

    def __init__(self) -> None:
        self.state = RunState()
        self.tell(kinds.RunStarted(kind="session", run_id="s", request="", repo="/r", base_commit="", worktree="/r"))

    def tell(self, *events: kinds.Event) -> None:
        for event in events:
            self.state = evolve(self.state, event, at=AT)

    def say(self, text: str) -> None:
        self.tell(kinds.UserSaid(turn=self.state.talk.turn + 1, text=text))

    def step(self, calls: Sequence[dict[str, str]], *, text: str = "", results: Sequence[str] = ()) -> None:
        """A reply, and as many of its results as are given."""
        step = self.state.progress.turn.step + 1
        self.tell(
            kinds.ModelCalled(
                step=step, stage="chat", attempt=1, model="m", request="r", context_tokens=1000, sections={}
            ),
            kinds.ModelReplied(
                step=step, text=text, tool_calls=tuple(calls), finish="stop", usage={}, model="m", cost_usd=0.0
            ),
        )
        for index, result in enumerate(results[: len(calls)]):
            call = calls[index]
            self.tell(
                kinds.ToolFinished(
                    step=step, index=index, call_id=call["call_id"], name=call["name"], status="success",
                    summary=f"{call['name']} {step}", text=result, result=f"{step}{index}",
                )
            )  # fmt: skip
        if len(results) >= len(calls):
            self.tell(kinds.StepFinished(step=step, stage="chat", summary="did"))

    def end(self, outcome: kinds.TurnOutcome = "completed") -> None:
        self.tell(kinds.TurnFinished(turn=self.state.talk.turn, outcome=outcome, reason="it ended"))

    def request(self, budget: Budget, situation: str = "") -> Any:
        return build_request(self.state.talk, system=SYSTEM, tools=(TOOL,), budget=budget, situation=situation)

    def compact(self, budget: Budget, model: Any = None, reason: str = "budget") -> bool:
        if compactable(self.state.talk, budget=budget, fixed=150, asked=reason == "asked") is None:
            return False
        asked = model or Failing()
        self.tell(compacted(self.state, asked, budget=budget, system=SYSTEM, tools=(TOOL,), fixed=150, reason=reason))
        return True


class Failing:
    """A model that cannot be reached."""

    name = "failing"

    def complete(self, _request: ModelRequest, **_rest: object) -> ModelReply:
        raise ModelUnavailable("nobody is there")


class Summarising:
    """A model that answers a request for a summary, and remembers what it was asked."""

    name = "summarising"

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []

    def complete(self, request: ModelRequest, **_rest: object) -> ModelReply:
        self.asked.append(request)
        return ModelReply(text="Modules were read.", tool_calls=(), finish="stop", usage=Usage(), model="m")


class Rambling:
    """A model that answers a request for a summary with far too much."""

    name = "rambling"

    def complete(self, _request: ModelRequest, **_rest: object) -> ModelReply:
        usage = Usage(prompt_tokens=700, completion_tokens=5000)
        return ModelReply(text="blah " * 5000, tool_calls=(), finish="length", usage=usage, model="m")


def _sent(context: Any) -> ModelRequest:
    return ModelRequest(messages=context.messages, tools=context.tools)


def _problems(context: Any) -> list[str]:
    openai = problems(OPENAI_CHAT.encode(_sent(context), "m"), "openai")
    return openai + problems(ANTHROPIC_MESSAGES.encode(_sent(context), "m"), "anthropic")


_CALL = st.fixed_dictionaries(
    {
        "call_id": st.sampled_from(["call_0", "call_1", "a:b.c", "", "toolu_01A09q90qw90lq917835lq9"]),
        "name": st.sampled_from(["read_file", "shell", "write_file"]),
        "arguments": st.sampled_from(
            ['{"path": "a.py"}', "null", "7", '"x"', '{"path": ', "[]", json.dumps({"content": "wörd " * 900})]
        ),
    }
)
_TEXT = st.sampled_from(["", " ", "ok", "\n", "line of text\n" * 300, "é" * 4000, "x" * 9000])
_MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from(["hi", "do it", "word " * 3000])),
        st.tuples(st.just("step"), st.lists(_CALL, max_size=4), _TEXT, st.lists(_TEXT, max_size=4)),
        st.tuples(st.just("end"), st.sampled_from(["completed", "interrupted", "limit", "failed", "blocked"])),
        st.tuples(st.just("compact"), st.sampled_from(["budget", "asked"])),
        st.tuples(st.just("clear")),
    ),
    max_size=25,
)


def _play(talking: Talking, moves: Sequence[Any], budget: Budget) -> None:
    """What a session can go through; moves that cannot come where they stand are left out."""
    for kind, *rest in moves:
        is_open = talking.state.talk.open
        if kind == "say" and not is_open:
            talking.say(rest[0])
        elif kind == "step" and is_open and not talking.state.progress.turn.replied:
            calls, text, results = rest
            talking.step(
                calls, text=text, results=(*results, "", "", "", "")[: len(calls)] if len(results) else results
            )
        elif kind == "end" and is_open:
            talking.end(rest[0])
        elif kind == "compact" and (not is_open or not talking.state.progress.turn.replied):
            talking.compact(budget, reason=rest[0])
        elif kind == "clear" and not is_open:
            talking.tell(kinds.HistoryCleared())
    if talking.state.talk.open and talking.state.progress.turn.replied and talking.state.progress.turn.calls:
        talking.end("interrupted")
    if not talking.state.talk.open:
        talking.say("go on")


@settings(max_examples=int(os.environ.get("HISTORIES", "150")), deadline=None)
@given(moves=_MOVES, total=st.sampled_from([2_000, 5_462, 8_000, 24_000]))
def test_any_history_is_one_that_every_provider_takes_and_fits(moves: Sequence[Any], total: int) -> None:
    talking, budget = Talking(), Budget(total=total, window=total)
    _play(talking, moves, budget)
    context = talking.request(budget, "Todos: none")
    assert _problems(context) == []
    said = user_tokens(talking.state.talk.entries)  # never shortened: what does not fit is refused before it is said
    words = sum(entry_tokens(entry) for entry in talking.state.talk.entries if entry.kind == "assistant")
    assert context.tokens <= total + said + words + 400


def _read(number: int, text: str) -> tuple[list[dict[str, str]], list[str]]:
    """A step that reads a file: its call and its result."""
    arguments = json.dumps({"path": f"src/mod_{number:03d}.py"})
    return [{"call_id": f"r{number}", "name": "read_file", "arguments": arguments}], [text]


def _flat(context: Any) -> list[str]:
    return [f"{m.role}:{m.text}:{[call.arguments for call in m.tool_calls]}" for m in context.messages]


def _worked(talking: Talking, budget: Budget, steps: int, model: Any = None, size: int = 300) -> list[Any]:
    """Steps that read files, compacted as the loop compacts; the requests."""
    contexts = []
    for number in range(1, steps + 1):
        talking.compact(budget, model)
        contexts.append(talking.request(budget))
        calls, results = _read(
            number, "\n".join(f"line {i} of {number}.{talking.state.progress.turn.step}" for i in range(size))
        )
        talking.step(calls, text=f"Step {number}.", results=results)
    return contexts


def test_a_history_is_sent_whole_and_only_grows_at_its_end_while_the_window_holds_it() -> None:
    talking, budget = Talking(), Budget(total=100_000, window=120_000)
    talking.say("Read all modules.")
    sent = [_flat(context) for context in _worked(talking, budget, 30)]
    assert all(after[: len(before)] == before for before, after in pairwise(sent))
    assert all(f"line 299 of {number}" in "".join(sent[-1]) for number in range(1, 30))


@pytest.mark.parametrize("window", [16_000, 32_000, 64_000, 200_000])
def test_a_history_is_compacted_at_80_percent_of_the_window_and_not_before(window: int) -> None:
    budget = Budget.of(window=window, wanted=500_000, output=2_048)
    assert (budget.compact_at, budget.warn_at) == (window * 80 // 100, window * 70 // 100)
    talking = Talking()
    talking.say("Go.")
    _worked(talking, budget, 1, size=20)
    while (count := history_tokens(talking.state.talk.entries)) + 150 < budget.compact_at:
        assert compactable(talking.state.talk, budget=budget, fixed=150) is None, count
        calls, results = _read(count, f"{count}\n" * (window // 100))
        talking.step(calls, results=results)
    assert compactable(talking.state.talk, budget=budget, fixed=150) is not None


@pytest.mark.parametrize("model", [None, Summarising()])
def test_what_the_user_said_and_attached_stays_whole_through_every_compaction(model: Any) -> None:
    talking, budget = Talking(), Budget.of(window=32_000, wanted=128_000, output=2_048)
    attached = "\n".join(f"row {number} of the attached file" for number in range(600))
    talking.tell(kinds.UserSaid(turn=1, text="Never touch the schema.", notes=(attached,)))
    talking.end()
    for turn in range(2, 22):
        talking.say(f"Question {turn} of mine.")
        contexts = _worked(talking, budget, 4, model)
        talking.end()
    assert talking.state.talk.compactions >= 2
    text = "\n".join(_flat(contexts[-1]))
    assert "Never touch the schema." in text and attached in text
    assert [turn for turn in range(2, 22) if f"Question {turn} of mine." not in text] == []
    assert max(context.tokens for context in contexts) <= budget.window


@pytest.mark.parametrize("situation", ["", "Todos:\n- 1: {text: later}"])
def test_the_current_request_stands_last_also_after_a_compaction_within_its_turn(situation: str) -> None:
    talking, budget = Talking(), Budget.of(window=16_000, wanted=128_000, output=2_048)
    talking.say("The first question.")
    talking.end()
    talking.say("The current question.")
    for context in _worked(talking, budget, 40, Summarising()):
        last = [message for message in context.messages if message.role == "user"][-1]
        assert "The current question." in last.text
    context = talking.request(budget, situation)
    last = [message for message in context.messages if message.role == "user"][-1]
    assert last.text.endswith("The current question.")
    assert talking.state.talk.compactions > 1


def test_a_summary_is_asked_for_with_what_was_sent_before_and_one_message_more() -> None:
    talking, budget, model = Talking(), Budget.of(window=16_000, wanted=128_000, output=2_048), Summarising()
    talking.say("Go.")
    sent = [_flat(context) for context in _worked(talking, budget, 12, model)]
    (asked, *_) = model.asked
    before = next(one for one, two in pairwise(sent) if one != two[: len(one)])
    shown = _flat(asked)
    assert shown[:-1] == before[: len(shown) - 1] and len(shown) > 3
    assert asked.tools == (TOOL,)
    assert "call no tool" in shown[-1]


def test_a_turn_that_was_interrupted_leaves_a_note() -> None:
    talking, budget = Talking(), Budget(total=100_000, window=120_000)
    talking.say("Do it.")
    talking.end("interrupted")
    talking.say("Go on.")
    said = [message.text for message in talking.request(budget).messages[1:]]
    assert said[0] == "Do it." and said[2] == "Go on."
    assert said[1].startswith("[note of the program]\nThe user interrupted this turn")


def test_a_turn_that_was_completed_leaves_none() -> None:
    talking = Talking()
    talking.say("Do it.")
    talking.step([], text="Done.")
    talking.end()
    assert [entry.kind for entry in talking.state.talk.entries] == ["user", "assistant"]


def test_a_result_may_be_as_long_as_the_setting_says_while_the_window_holds_it() -> None:
    talking, budget = Talking(), Budget.of(window=256_000, wanted=128_000, output=4_096)
    talking.say("Go.")
    assert [budget.result(talking.state.talk, fixed=3_000, calls=n, most=50_000) for n in (1, 2, 4)] == [50_000] * 3
    small = Budget.of(window=32_000, wanted=128_000, output=4_096)
    assert 15_000 < small.result(talking.state.talk, fixed=3_000, calls=1, most=50_000) < 25_000


def test_where_no_compaction_helps_results_become_short_and_the_users_words_never() -> None:
    talking = Talking()
    said = "word " * 3_000
    talking.say(said)
    for number in range(3):
        calls, results = _read(number, f"line of {number}\n" * 1_000)
        talking.step(calls, results=results)
    context = talking.request(Budget(total=6_000, window=6_000))
    assert context.tokens <= 6_000
    assert context.messages[1].text == said
    assert [row["why"] for row in context.left_out] == ["no room in the model's window"] * 3


def test_a_model_that_rambles_or_is_away_gives_a_bounded_summary() -> None:
    for model in (Rambling(), Failing()):
        talking, budget = Talking(), Budget.of(window=16_000, wanted=128_000, output=2_048)
        talking.say("Read all modules.")
        _worked(talking, budget, 100, model)
        (summary,) = (entry for entry in talking.state.talk.entries if entry.kind == "summary")
        assert count_tokens(summary.text) <= budget.summary + 400
        assert talking.state.talk.compactions <= 30


def test_a_compaction_that_gains_nothing_is_not_made() -> None:
    talking, budget = Talking(), Budget(total=2_000, window=2_400)
    talking.say("x " * 3_000)
    for _ in range(5):
        talking.compact(budget)
    assert talking.state.talk.compactions == 0


def test_what_a_summary_cost_counts() -> None:
    talking, budget = Talking(), Budget(total=80_000, window=90_000)
    talking.say("Go.")
    _worked(talking, budget, 10)
    before = talking.state.usage.totals.prompt_tokens
    talking.end()
    assert talking.compact(budget, Rambling(), "asked")
    assert talking.state.usage.totals.prompt_tokens - before == 700


def test_a_result_that_stands_above_word_for_word_is_not_sent_again() -> None:
    talking, budget = Talking(), Budget(total=80_000, window=90_000)
    talking.say("look")
    for number in range(3):
        call = {"call_id": f"call_{number}", "name": "read_file", "arguments": '{"path": "a.py"}'}
        talking.step([call], results=["the same line of the file\n" * 40])
    texts = [message.text for message in talking.request(budget).messages if message.role == "tool"]
    assert [len(text) > 500 for text in texts] == [True, False, False]
    assert "word for word the same" in texts[1]


def test_twenty_large_writes_count_with_their_arguments() -> None:
    talking, budget = Talking(), Budget(total=40_000, window=44_000)
    talking.say("write")
    for number in range(20):
        content = json.dumps({"path": f"f{number}.py", "content": "value = 1\n" * 2_000})
        talking.compact(budget)
        talking.step([{"call_id": f"call_{number}", "name": "write_file", "arguments": content}], results=["ok"])
        context = talking.request(budget)
        assert context.tokens <= budget.window
        assert _problems(context) == []
    assert talking.state.talk.compactions > 3


def test_the_providers_own_count_makes_the_budget_smaller() -> None:
    talking = Talking()
    talking.say("hi")
    talking.tell(
        kinds.ModelCalled(step=1, stage="chat", attempt=1, model="m", request="r", context_tokens=1000, sections={}),
        kinds.ModelReplied(
            step=1, text="a", tool_calls=(), finish="stop", model="m", cost_usd=0.0,
            usage={"prompt_tokens": 1300, "reported": 1},
        ),
    )  # fmt: skip
    assert talking.state.talk.token_factor == 1.375
    assert Budget.of(window=32_000, wanted=8_000, output=4_096, factor=1.375).total == int(8_000 / 1.375)


def test_what_the_model_refused_as_too_long_is_not_sent_again() -> None:
    talking = Talking()
    talking.say("hi")
    talking.tell(
        kinds.ModelCalled(step=1, stage="chat", attempt=1, model="m", request="r", context_tokens=9_000, sections={}),
        kinds.ModelFailed(step=1, slug="context-too-long", message="too long"),
    )
    refused = talking.state.talk.refused_tokens
    assert refused == 6_000
    assert Budget.of(window=256_000, wanted=128_000, output=4_096, refused=refused).window == 6_000
    talking.tell(kinds.SessionChanged(changes={"model": "other/one"}))
    assert talking.state.talk.refused_tokens == 0


def test_a_block_is_a_reply_with_its_results() -> None:
    one = Entry(kind="assistant", turn=1, calls=({"call_id": "a", "name": "b", "arguments": "{}"},))
    two = Entry(kind="tool", turn=1, call_id="a")
    assert blocks([one, two, one]) == [(one, two), (one,)]


def test_shortening_never_makes_longer() -> None:
    entry = Entry(kind="tool", turn=1, text="ok", status="success", summary="s " * 50)
    assert entry_tokens(shortened(entry)) <= entry_tokens(entry)
