"""The conversation's context: valid for every provider after any history, never over budget, stable in front, nothing pinned lost."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from agentforge_strict import problems
from hypothesis import given, settings, strategies as st

from agentforge.context.conversation import Budget, build_request, compactable
from agentforge.context.window import blocks, entry_tokens, shortened
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
        step = self.state.turn.step + 1
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
        if not compactable(self.state.talk, budget=budget, fixed=150, asked=reason == "asked"):
            return False
        self.tell(compacted(self.state, model or Failing(), budget=budget, fixed=150, reason=reason))
        return True


class Failing:
    """A model that cannot be reached."""

    name = "failing"

    def complete(self, _request: ModelRequest, **_rest: object) -> ModelReply:
        raise ModelUnavailable("nobody is there")


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
        elif kind == "step" and is_open and not talking.state.turn.replied:
            calls, text, results = rest
            talking.step(
                calls, text=text, results=(*results, "", "", "", "")[: len(calls)] if len(results) else results
            )
        elif kind == "end" and is_open:
            talking.end(rest[0])
        elif kind == "compact" and (not is_open or not talking.state.turn.replied):
            talking.compact(budget, reason=rest[0])
        elif kind == "clear" and not is_open:
            talking.tell(kinds.HistoryCleared())
    if talking.state.talk.open and talking.state.turn.replied and talking.state.turn.calls:
        talking.end("interrupted")
    if not talking.state.talk.open:
        talking.say("go on")


@settings(max_examples=int(os.environ.get("HISTORIES", "150")), deadline=None)
@given(moves=_MOVES, total=st.sampled_from([2_000, 5_462, 8_000, 24_000]))
def test_any_history_is_one_that_every_provider_takes_and_fits(moves: Sequence[Any], total: int) -> None:
    talking, budget = Talking(), Budget(total=total)
    _play(talking, moves, budget)
    context = talking.request(budget, "Todos: none")
    assert _problems(context) == []
    assert context.tokens <= total


def _hundred(talking: Talking, budget: Budget, steps: int = 100, model: Any = None) -> list[Any]:
    """Steps that read a file of 200 lines and print 300 lines, cut as the loop cuts them."""
    from agentforge.tokens import cut_middle

    contexts = []
    talking.say("Read all modules and say what they do.")
    for number in range(1, steps + 1):
        talking.compact(budget, model)
        contexts.append(talking.request(budget))
        file = f"src/mod_{number % 20:02d}.py"
        calls = [
            {"call_id": f"r{number}", "name": "read_file", "arguments": json.dumps({"path": file})},
            {"call_id": f"s{number}", "name": "shell", "arguments": json.dumps({"command": f"seq {number} 300"})},
        ]
        texts = (
            "\n".join(f"def f_{number}_{i}(v): return {i}" for i in range(200)),
            "\n".join(f"line {i} of {number}" for i in range(300)),
        )
        room = budget.observation(2)
        talking.step(calls, text=f"Step {number}.", results=[cut_middle(text, limit=room) for text in texts])
    return contexts


@pytest.mark.parametrize(("window", "most"), [(32_000, 8_000), (16_000, 8_000), (8_192, 5_462)])
def test_a_hundred_steps_that_read_and_print_stay_small(window: int, most: int) -> None:
    budget = Budget.of(window=window, wanted=8_000, output=4_096)
    contexts = _hundred(Talking(), budget)
    tokens = [context.tokens for context in contexts]
    assert max(tokens) <= most
    assert sum(tokens) <= 400_000
    assert sum(tokens[90:]) <= 1.35 * sum(tokens[20:30])


def _same(before: str, text: str) -> int:
    """How many characters two texts have in common from their beginning."""
    pairs = enumerate(zip(before, text, strict=False))
    return next((at for at, (old, new) in pairs if old != new), min(len(before), len(text)))


def test_most_of_a_request_is_what_was_sent_before() -> None:
    contexts = _hundred(Talking(), Budget(total=8_000))
    flat = ["".join(f"{m.role}{m.text}{m.tool_calls}" for m in context.messages) for context in contexts]
    weighted = 0.0
    for before, context, text in zip(["", *flat], contexts, flat, strict=False):
        cached = min(context.tokens, count_tokens(text[: _same(before, text)]))
        weighted += context.tokens - 0.9 * cached
    assert weighted <= 210_000


def test_what_was_asked_and_touched_is_never_lost() -> None:
    talking, budget = Talking(), Budget(total=8_000)
    talking.say("Never touch the schema.")
    talking.end()
    _hundred(talking, budget, 60)
    talking.tell(
        kinds.ToolStarted(
            step=61, index=0, call_id="c", name="shell", arguments={"command": "make check"}, effect="execute"
        ),
        kinds.ToolFinished(
            step=61,
            index=0,
            call_id="c",
            name="shell",
            status="success",
            summary="exit 0",
            text="",
            changed={"a.py": "1"},
        ),
        kinds.TurnFinished(turn=2, outcome="interrupted"),
        kinds.UserSaid(turn=3, text="And now?"),
    )
    text = "\n".join(message.text for message in talking.request(budget).messages)
    assert all(word in text for word in ("Never touch the schema.", "Read all modules", "a.py", "make check -> exit 0"))


def test_what_stands_above_is_not_said_again_at_the_end() -> None:
    talking, budget = Talking(), Budget(total=8_000)
    talking.say("Read them all, please.")
    for number in range(6):
        command = {
            "call_id": f"c{number}",
            "name": "shell",
            "arguments": json.dumps({"command": f"make part-{number}"}),
        }
        talking.step([command], results=["line\n" * 900])
    ran = replace(talking.state.talk, last_command="make part-5 -> exit 0")
    talking.state = replace(talking.state, talk=ran)
    request = talking.request(budget)
    texts = [message.text for message in request.messages]
    assert "older; call again to see it" in "".join(texts)
    assert sum("Read them all" in text for text in texts) == 1
    assert "Last command" not in texts[-1]
    elsewhere = replace(ran, last_command="make lost -> exit 0")
    talking.state = replace(talking.state, talk=elsewhere)
    assert "Last command: make lost -> exit 0" in talking.request(budget).messages[-1].text


def test_a_model_that_rambles_or_is_away_gives_a_bounded_summary() -> None:
    for model in (Rambling(), Failing()):
        talking, budget = Talking(), Budget(total=8_000)
        _hundred(talking, budget, 100, model)
        summary = talking.state.talk.entries[0]
        assert summary.kind == "summary"
        assert count_tokens(summary.text) <= budget.limits(150).summary + 8
        assert talking.state.talk.compactions <= 15


def test_a_compaction_that_gains_nothing_is_not_made() -> None:
    talking, budget = Talking(), Budget(total=2_000)
    talking.say("x " * 3_000)
    for _ in range(5):
        talking.compact(budget)
    assert talking.state.talk.compactions <= 1


def test_what_a_summary_cost_counts() -> None:
    talking, budget = Talking(), Budget(total=8_000)
    _hundred(talking, budget, 30)
    before = talking.state.totals.prompt_tokens
    talking.end()
    assert talking.compact(budget, Rambling(), "asked")
    assert talking.state.totals.prompt_tokens - before == 700


def test_a_result_that_stands_above_word_for_word_is_not_sent_again() -> None:
    talking, budget = Talking(), Budget(total=8_000)
    talking.say("look")
    for number in range(3):
        call = {"call_id": f"call_{number}", "name": "read_file", "arguments": '{"path": "a.py"}'}
        talking.step([call], results=["the same line of the file\n" * 40])
    texts = [message.text for message in talking.request(budget).messages if message.role == "tool"]
    assert [len(text) > 500 for text in texts] == [True, False, False]
    assert "word for word the same" in texts[1]


def test_twenty_large_writes_count_with_their_arguments() -> None:
    talking, budget = Talking(), Budget(total=40_000)
    talking.say("write")
    for number in range(20):
        content = json.dumps({"path": f"f{number}.py", "content": "value = 1\n" * 2_000})
        talking.step([{"call_id": f"call_{number}", "name": "write_file", "arguments": content}], results=["ok"])
        context = talking.request(budget)
        assert context.tokens <= budget.total
        assert _problems(context) == []


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


def test_a_block_is_a_reply_with_its_results() -> None:
    one = Entry(kind="assistant", turn=1, calls=({"call_id": "a", "name": "b", "arguments": "{}"},))
    two = Entry(kind="tool", turn=1, call_id="a")
    assert blocks([one, two, one]) == [(one, two), (one,)]


def test_shortening_never_makes_longer() -> None:
    entry = Entry(kind="tool", turn=1, text="ok", status="success", summary="s " * 50)
    assert entry_tokens(shortened(entry)) <= entry_tokens(entry)
