"""The examiner at work: what it is shown, its one call, and its examples run on the delivered tree in a plain process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentforge.agent.effects import CallModel, FinishStep
from agentforge.agent.limits import exhausted, time_left_s
from agentforge.agent.perform import AgentSpec, perform_call_model, perform_finish_step
from agentforge.cancelling import TimeIsUp, for_at_most
from agentforge.canonical import canonical_bytes
from agentforge.context.minimal import StepContext
from agentforge.errors import AgentForgeError, ModelError
from agentforge.events import kinds
from agentforge.events.fold.judged import judged
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.languages.symbols import Symbol
from agentforge.messages import Message, Text
from agentforge.pipeline.engine.disputes import decided_calls
from agentforge.pipeline.engine.workbench import tool_context
from agentforge.pipeline.examination.examiner import asked_digest, changed_files, kept_rows, language, request_words
from agentforge.pipeline.examination.settlement import Row, rows_in, settled
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.model.effects import StartStage
from agentforge.pipeline.model.stage import Json, Stage
from agentforge.safety.text.redaction import redact
from agentforge.tokens import count_tokens, cut_end
from agentforge.tools.dispatch.invocation import InvocationPolicy
from agentforge.verification.examples import claims, claims_javascript
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.plain_check import claim_looks
from agentforge.verification.examples.plain_javascript import node_looks
from agentforge.workspace.code.symbols import implementations, outline_of

if TYPE_CHECKING:
    from types import ModuleType

    from agentforge.agent.effects import Effect
    from agentforge.events.state.run_state import RunState
    from agentforge.pipeline.model.runtime import Runtime

    pass

Looks = tuple[Mapping[int, Json], str]
"""{held, got, unchecked} of the examples by their number; and why nothing was measured, "" when something was."""

_TOKENS = 3_600
"""The whole prompt by our count, which may lie a tenth under a provider's."""
_STAGE = Stage(
    name=EXAMINE, produces="", consumes=(), purpose="examples from the request and the public interface alone"
)
_SHOWN = ("function", "class", "method", "type", "variable")


class World(Protocol):
    """Where the world answers; a replay answers from the record instead."""

    def spec(self, state: RunState) -> AgentSpec:
        """What the one call needs."""

    def looked_at(self, state: RunState, rows: Sequence[Mapping[str, object]]) -> Looks:
        """Run the examples."""


def performed(effect: Effect, state: RunState, runtime: Runtime, world: World) -> Iterator[kinds.Event]:
    """The events of one effect of an examination."""
    if isinstance(effect, StartStage):
        return _begun(state, runtime, attempt=effect.attempt)
    if isinstance(effect, CallModel):
        return _called(effect, state, world)
    if isinstance(effect, FinishStep):
        return perform_finish_step(effect, state, world.spec(state))
    return _settled(state, world)


def _begun(state: RunState, runtime: Runtime, *, attempt: int) -> Iterator[kinds.Event]:
    """Begin: what is shown is recorded, nothing where there is nothing to call or no room for the request."""
    shown, _ = interface(state, runtime)
    words = request_words(state)
    room = _TOKENS - count_tokens(_prompt()) - count_tokens(words)
    material = ""
    if shown and room > count_tokens(shown[:400]):
        text = f"# The request, word for word\n{words}\n\n# The public interface\n{cut_end(shown, limit=room)}\n"
        material = runtime.blobs.put(
            canonical_bytes([{"name": "request and interface", "text": redact(text, secrets=runtime.secrets).text}])
        )
    yield kinds.StageStarted(stage=EXAMINE, attempt=attempt, material=material)


def examiner_spec(state: RunState, runtime: Runtime) -> AgentSpec:
    """Everything the one call needs: two messages and no tools.

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
    rows = json.loads(runtime.blobs.get(state.turn.material))
    text = "\n".join(str(row["text"]) for row in rows)
    messages = (
        Message(role="system", parts=(Text(text=_prompt()),)),
        Message(role="user", parts=(Text(text=text),)),
    )
    sections = {"system_prompt": count_tokens(_prompt()), "current_state": count_tokens(text)}
    return StepContext(messages=messages, tools=(), sections=sections)


@cache
def _prompt() -> str:
    return (Path(__file__).parents[1] / "prompts" / "examine.md").read_text("utf-8")


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


def _settled(state: RunState, world: World) -> Iterator[kinds.Event]:
    """Run the examples and settle them."""
    rows, reason = _rows(state)
    looks: Mapping[int, Json] = {}
    if rows:
        looks, reason = world.looked_at(state, rows)
    if reason:
        yield _examined(state, reason=reason)
        return
    decided = decided_calls(state)
    yield _examined(state, rows=settled(rows, looks, request_words(state), _reader(state), decided=decided))


def _examined(state: RunState, *, rows: tuple[Row, ...] = (), reason: str = "") -> kinds.Examined:
    attempt = state.stages[EXAMINE].attempt
    tree = judged(state.trees, "")
    return kinds.Examined(attempt=attempt, tree=tree, asked=asked_digest(state), rows=rows, reason=reason)


def _rows(state: RunState) -> tuple[list[Row], str]:
    """The examples, and why there are none."""
    known = kept_rows(state)
    if known:
        return [_unsettled(row) for row in known], ""
    turn = state.turn
    if not turn.material:
        return [], "nothing that is new or changed can be called by its name, or the request is too long"
    if not turn.recent:
        failed = str(state.error.get("message", "")) if turn.steps_in_attempt and state.error else ""
        return [], failed or exhausted(state) or "the model was not asked"
    found = rows_in(turn.recent[-1].said, _reader(state))
    return (found, "") if found else ([], "the examiner's answer holds no examples")


def _unsettled(row: Json) -> Row:
    left = ("held", "got", "unchecked", "verdict", "why")
    return {name: value for name, value in row.items() if name not in left}


def looked_at(state: RunState, rows: Sequence[Mapping[str, object]], runtime: Runtime) -> Looks:
    """Run what can be run, within the time that the run has left.

    Side effects: processes in the sandbox.
    """

    look = claim_looks if language(state) == "python" else node_looks
    wanted = {number: row for number, row in enumerate(rows) if not row.get("dropped")}
    claims = [
        Claim(call=str(row["call"]), returns=str(row.get("returns") or ""), raises=str(row.get("raises") or ""))
        for row in wanted.values()
    ]
    try:
        _, symbols = interface(state, runtime)
        with for_at_most(time_left_s(state)):
            found = look(
                bounded_rig(state, runtime),
                judged(state.trees, ""),
                list(dict.fromkeys(claims)),
                symbols=symbols,
                base_tree=state.trees["baseline"],
            )
    except TimeIsUp:
        return {}, "the deadline came while its examples were run"
    except AgentForgeError as error:
        return {}, str(error)
    known = {one.claim: one for one in found}
    return {
        number: {"held": not one.wrong, "got": one.got, "unchecked": one.unchecked}
        for number, claim in zip(wanted, claims, strict=True)
        if (one := known.get(claim)) is not None
    }, ""


def interface(state: RunState, runtime: Runtime) -> tuple[str, list[Symbol]]:
    """The public names of the changed files with signature and first line of the docstring, what is new or changed first.

    Returns:
        the text, "" where nothing public is new or changed; and the same names for calling them.
    """

    tree, base = judged(state.trees, ""), state.trees["baseline"]
    parts: list[str] = []
    symbols: list[Symbol] = []
    for path in changed_files(state):
        now, before = (_source(runtime, one, path) for one in (tree, base))
        known = {one.qualified: _lines(before, one.line, one.end_line) for one in outline_of(path, before).symbols}
        public = [one for one in implementations(outline_of(path, now).symbols) if _is_public(one.qualified)]
        public = [one for one in public if one.kind in _SHOWN]
        symbols += [Symbol(name=one.qualified, file=path, kind=one.kind, signature=one.signature) for one in public]
        rows = [(known.get(one.qualified) != _lines(now, one.line, one.end_line), one) for one in public]
        if any(changed and one.kind in ("function", "method", "class") for changed, one in rows):
            rows.sort(key=lambda row: not row[0])
            parts += [f"## {path}", *(_told(one.qualified, one.signature, one.doc, changed=new) for new, one in rows)]
    return "\n".join(parts), symbols


def _told(name: str, signature: str, doc: str, *, changed: bool) -> str:
    owner = f" (of {name.rpartition('.')[0]})" if "." in name else ""
    return f"- {'' if changed else 'as before: '}{signature}{owner}{f': {doc}' if doc and changed else ''}"


def _is_public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


def _source(runtime: Runtime, tree: str, path: str) -> str:
    data = runtime.git.show(tree, path)
    return data.decode("utf-8", "replace") if data is not None else ""


def _lines(text: str, first: int, last: int) -> str:
    return "\n".join(text.splitlines()[first - 1 : last])


def _reader(state: RunState) -> ModuleType:

    return claims if language(state) == "python" else claims_javascript
