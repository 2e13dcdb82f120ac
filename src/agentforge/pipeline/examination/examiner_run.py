"""The examiner at work: what it is shown, its calls, and its tests run on the delivered tree and on the base."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Protocol

from agentforge.agent import (
    AgentSpec,
    CallModel,
    Effect,
    FinishStep,
    exhausted,
    perform_call_model,
    perform_finish_step,
    time_left_s,
)
from agentforge.cancellation import TimeIsUp, for_at_most
from agentforge.canonical import canonical_bytes
from agentforge.context.budget import counted_limit, one_line
from agentforge.context.minimal import StepContext
from agentforge.context.packer import fill
from agentforge.context.sections import Level, Piece
from agentforge.errors import AgentForgeError, ModelError
from agentforge.events import kinds
from agentforge.events.fold.delivered import judged
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import RunState
from agentforge.languages.catalogue import of_path
from agentforge.messages import Message, Text
from agentforge.pipeline.engine.workbench import tool_context
from agentforge.pipeline.examination.examiner import asked_digest, changed_files, kept_rows, phase, request_words
from agentforge.pipeline.examination.material import pieces_of_phase, project_before, waiting_examples
from agentforge.pipeline.examination.public_names import interface
from agentforge.pipeline.examination.settlement import (
    Row,
    example_rows,
    file_in,
    measured_rows,
    place_beside,
    ruled_examples,
    ruled_rows,
)
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.ledger.promises import undecided_examples
from agentforge.pipeline.model.effects import StartStage
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import suite_files
from agentforge.pipeline.model.stage import Json, Stage, texts
from agentforge.safety.text.redaction import redact
from agentforge.suite import Edits, Rig, run_tree, sound
from agentforge.testing.outcome import SuiteRun, TestOutcome
from agentforge.tokens import count_tokens
from agentforge.tools.dispatch.invocation import InvocationPolicy

_STAGE = Stage(name=EXAMINE, produces="", consumes=(), purpose="tests from the request and the public interface alone")
_TIME_LIMIT_S = 180.0
_TEST_LIMIT_S = 30.0
_SAID = 1500
_ALONE = "- Your reply is the file in one fenced block, and nothing else."
_OVERHEAD = 60
"""Tokens of headings and message framing."""
_SHARE = 2
"""The call may cost a step's tokens divided by this; the request and the public names are whole all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """What running the examiner's tests gave.

    Attributes:
        path: where the file stood.
        tests: {held, got, before, unchecked} by the test's id.
        unrunnable: what the runner said of a file that it could not run.
        reason: why nothing was measured, "" when something was.
    """

    path: str = ""
    tests: Mapping[str, Json] = field(default_factory=dict)
    unrunnable: str = ""
    reason: str = ""


class World(Protocol):
    """Where the world answers; a replay answers from the record instead."""

    def spec(self, state: RunState) -> AgentSpec:
        """What the one call needs."""

    def looked_at(self, state: RunState, source: str) -> Looks:
        """Run the examiner's test file."""


def performed(effect: Effect, state: RunState, runtime: Runtime, world: World) -> Iterator[kinds.Event]:
    """The events of one effect of an examination."""
    if isinstance(effect, StartStage):
        return _begun(state, runtime, attempt=effect.attempt)
    if isinstance(effect, CallModel):
        return _called(effect, state, world)
    if isinstance(effect, FinishStep):
        return perform_finish_step(effect, state, world.spec(state))
    return _settled(state, world, runtime)


def _begun(state: RunState, runtime: Runtime, *, attempt: int) -> Iterator[kinds.Event]:
    """Begin: what is shown is recorded, nothing where nobody is asked, nothing can be called, or the request has no room."""
    now = phase(state)
    material = ""
    shown = interface(state, runtime) if now != "rerun" else ""
    if shown:
        law = [
            Piece(name="the request, word for word", text=request_words(state), level=Level.LAW),
            *pieces_of_phase(state, runtime),
            Piece(name="public names of the changed files, as they are now", text=shown, level=Level.LAW, order=2),
        ]
        needed = sum(count_tokens(one.text) for one in law)
        frame = count_tokens(_prompt(state, runtime)) + _OVERHEAD
        if needed < counted_limit(runtime.step_tokens) - frame:
            room = max(needed, counted_limit(runtime.step_tokens // _SHARE) - frame)
            page = fill([*law, *project_before(state, runtime)], room=room, least=Level.NAMED)
            text = redact(page.text, secrets=runtime.secrets).text
            material = runtime.blobs.put(canonical_bytes([{"name": "request, interface and base", "text": text}]))
    yield kinds.StageStarted(stage=EXAMINE, attempt=attempt, material=material)


def examiner_spec(state: RunState, runtime: Runtime) -> AgentSpec:
    """Everything one call needs: two messages and no tools.

    Raises:
        ModelNotConfigured: its model cannot be asked.
    """
    model = runtime.models(EXAMINE)
    return AgentSpec(
        model=model,
        model_name=model.name,
        context=lambda now: _context(now, runtime),
        tools={},
        tool_context=tool_context(state, _STAGE, runtime, may_write=lambda path: f"{path} is not written here"),
        policy=InvocationPolicy(secrets=runtime.secrets, nonce=runtime.nonce),
        blobs=runtime.blobs,
        snapshot=lambda _state: None,
        price=runtime.price,
        max_output_tokens=runtime.max_output_tokens,
        temperature=runtime.temperature,
    )


def _context(state: RunState, runtime: Runtime) -> StepContext:
    rows = json.loads(runtime.blobs.get(state.progress.turn.material))
    text = "\n".join(str(row["text"]) for row in rows)
    system = _prompt(state, runtime)
    messages = (Message(role="system", parts=(Text(text=system),)), Message(role="user", parts=(Text(text=text),)))
    sections = {"system_prompt": count_tokens(system), "current_state": count_tokens(text)}
    return StepContext(messages=messages, tools=(), sections=sections)


def _prompt(state: RunState, runtime: Runtime) -> str:
    """The system prompt of the phase, in the words of the project's runner."""
    if phase(state) == "settle":
        return _template("examine_settle")
    runner = str(state.work.facts.get("baseline", {}).get("runner", ""))
    text = _template("examine").replace("{RUNNER}", "node:test" if runner == "node" else runner)
    text = text.replace("{EXAMPLES}", _template("examine_examples").strip() if waiting_examples(state) else _ALONE)
    return text.replace("{PATH}", _place(state, runtime))


@cache
def _template(name: str) -> str:
    return (Path(__file__).parents[1] / "prompts" / f"{name}.md").read_text("utf-8")


def _called(effect: CallModel, state: RunState, world: World) -> Iterator[kinds.Event]:
    """Ask; a model that is away ends the examination, never the run."""
    try:
        made = world.spec(state)
    except AgentForgeError as error:
        yield _examined(state, reason=str(error))
        return
    try:
        yield from perform_call_model(effect, state, made)
    except ModelError:
        return  # the failure is recorded


def _settled(state: RunState, world: World, runtime: Runtime) -> Iterator[kinds.Event]:
    """Take what came of the call: run the tests that were written, or settle those that fail."""
    known, words = state.work.facts.get(EXAMINE, {}), request_words(state)
    answer = state.progress.turn.recent[-1].said if state.progress.turn.recent else ""
    if phase(state) == "settle":
        rows = ruled_rows(kept_rows(state), answer, words)
        yield _examined(state, path=str(known.get("path")), source=str(known.get("source")), rows=rows)
        return
    rerun = phase(state) == "rerun"
    source = runtime.blobs.get(str(known["source"])).decode("utf-8") if rerun else file_in(answer)
    if not source:
        yield _examined(state, reason=_why_nothing(state))
        return
    looks = world.looked_at(state, source)
    stored = runtime.blobs.put(source.encode("utf-8"))
    examples = example_rows(undecided_examples(state), state.brief.request, kept_rows(state))
    rows = (
        *measured_rows(source, looks.tests, words, kept_rows(state)),
        *(examples if rerun else ruled_examples(examples, answer, words)),
    )
    again = bool(known.get("unrunnable")) and bool(looks.unrunnable)
    reason = looks.reason or (
        f"its tests could not be run: {one_line(looks.unrunnable.splitlines()[-1])}" if again else ""
    )
    yield _examined(state, path=looks.path, source=stored, rows=rows, reason=reason, unrunnable=looks.unrunnable)


def _why_nothing(state: RunState) -> str:
    turn = state.progress.turn
    if not turn.material:
        return "nothing that is new or changed can be called by its name, or the request is too long"
    if turn.recent:
        return "the examiner's answer holds no test file"
    failed = str(state.progress.error.get("message", "")) if turn.steps_in_attempt and state.progress.error else ""
    return failed or exhausted(state) or "the model was not asked"


def _examined(
    state: RunState,
    *,
    path: str = "",
    source: str = "",
    rows: tuple[Row, ...] = (),
    reason: str = "",
    unrunnable: str = "",
) -> kinds.Examined:
    return kinds.Examined(
        attempt=state.progress.stages[EXAMINE].attempt,
        tree=judged(state.work.trees, ""),
        asked=asked_digest(state),
        path=path,
        source=source,
        rows=rows,
        reason=reason,
        unrunnable=unrunnable,
    )


def looked_at(state: RunState, source: str, runtime: Runtime) -> Looks:
    """Run the examiner's test file on the delivered tree, and what fails there on the base, too, within the time that is left.

    Side effects: processes in the sandbox.
    """
    rig = bounded_rig(state, runtime)
    rig = replace(rig, timeout_s=min(rig.timeout_s, _TIME_LIMIT_S), test_limit_s=rig.test_limit_s or _TEST_LIMIT_S)
    path = _place(state, runtime)
    try:
        with for_at_most(time_left_s(state)):
            run = _run(rig, judged(state.work.trees, ""), path, source)
            if not sound(run, rig.plan) or not run.outcomes:
                return Looks(path=path, unrunnable=_unrunnable(run))
            failing = [one for one in run.outcomes.values() if one.outcome in ("failed", "error")]
            before = _run(rig, state.work.trees["baseline"], path, source).outcomes if failing else {}
    except TimeIsUp:
        return Looks(path=path, reason="the deadline came while its tests were run")
    except AgentForgeError as error:
        return Looks(path=path, reason=str(error))
    return Looks(path=path, tests={one.id: _look(one, before.get(one.id)) for one in run.outcomes.values()})


def recorded_looks(event: kinds.Examined) -> Looks:
    """What running the tests gave, as the record has it."""
    told = ("held", "got", "before", "same", "unchecked")
    tests = {str(row["test"]): {name: row.get(name) for name in told} for row in event.rows if not row.get("example")}
    return Looks(path=event.path, tests=tests, unrunnable=event.unrunnable, reason=event.reason)


def _run(rig: Rig, tree: str, path: str, source: str) -> SuiteRun:
    return run_tree(rig, tree, tests=(path,), edits=Edits(files={path: source.encode("utf-8")}))


def _look(now: TestOutcome, before: TestOutcome | None) -> Json:
    got = _said_of(now)
    ran = now.outcome in ("passed", "failed", "error")
    return {
        "held": now.passed,
        "got": got,
        "before": before.outcome if before else "",
        "same": bool(got) and before is not None and not before.passed and _said_of(before) == got,
        "unchecked": "" if ran else f"it was {now.outcome}",
    }


def _said_of(one: TestOutcome) -> str:
    failure = one.failure
    return f"{failure.exc_type}: {failure.message}".strip(": ") if failure else ""


def _unrunnable(run: SuiteRun) -> str:
    """What a runner said of a file that it could not run."""
    errors = [one.text or (one.failure.text if one.failure else "") for one in run.collection_errors]
    told = "\n".join([*errors, *run.problems]).strip() or run.output_tail.strip()
    return told[-_SAID:] or "no test of it was found"


def _place(state: RunState, runtime: Runtime) -> str:
    """Where the examiner's file stands while it is run."""
    known = str(state.work.facts.get(EXAMINE, {}).get("path") or "")
    suite = [*suite_files(state), *texts(state.work.facts.get("baseline", {}).get("test_files"))]
    suite = [path for path in suite if not path.endswith(("conftest.py", "__init__.py"))]
    trees = (judged(state.work.trees, ""), state.work.trees["baseline"])
    language = of_path(changed_files(state)[0])
    fallback = (language.examined_test if language is not None else "") or "test_examined.py"

    def taken(path: str) -> bool:
        return any(runtime.git.show(tree, path) is not None for tree in trees)

    return known or place_beside(suite, taken, fallback)
