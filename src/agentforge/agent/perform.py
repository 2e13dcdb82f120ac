"""Performing the tool calls of a reply and the end of a step. Yields intent, then result.

A call in doubt was begun by a process that died, and not recorded as finished: its kind of effect settles what becomes of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from agentforge.agent.decide import FinishStep, RunTool, step_approval
from agentforge.agent.held import is_behind, kept_draft, not_submitted, refused_call, spoils
from agentforge.agent.model_call import digest_of
from agentforge.agent.pictures import BlobStore, kept_pictures
from agentforge.agent.reply import cut_short
from agentforge.agent.spec import AgentSpec
from agentforge.canonical import digest_bytes, digest_value
from agentforge.context.budget import one_line
from agentforge.contracts.draft import overlaid
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.attempt import Call
from agentforge.events.state.run_state import RunState
from agentforge.tools.base import Observation, failed
from agentforge.tools.dispatch.invocation import (
    InvocationPolicy,
    Prepared,
    Shown,
    perform_call,
    prepare_call,
    present,
    unanswered,
)
from agentforge.workspace.files.file_access import digest_file, write_bytes

WITHHELD = "withheld:"


def perform_tool(effect: RunTool, state: RunState, spec: AgentSpec) -> Iterator[Event]:
    """Carry out one tool call; settle it first when a dead process left it in doubt."""
    call = state.progress.turn.calls[effect.index]
    if spec.behind and is_behind(state.progress.turn.calls, effect.index, spec):
        yield kinds.CallsKept(step=state.progress.turn.step, index=effect.index, stage=spec.behind)
        return
    if effect.refusal:
        denied = Observation(
            status="denied", summary=one_line(effect.refusal), text=effect.refusal, error_type="human-refused"
        )
        yield _finished(call, effect.index, state, present(denied, policy=spec.policy), spec, started=None)
        return
    heard: list[kinds.HookFinished] = []
    spec = replace(spec, policy=replace(spec.policy, heard=heard.append))
    prepared = cut_short(state.progress.turn, effect.index) or prepare_call(
        call.name, call.arguments, tools=spec.tools, context=spec.tool_context, policy=spec.policy
    )
    yield from _taken(heard)
    yield from spec.answered()
    if not isinstance(prepared, Observation) and prepared.asks and not _agreed(state):
        if spec.confirm is None:
            yield _approval(call, prepared, state)
            return
        if not spec.confirm(f"{call.name}: {prepared.asks}"):
            prepared = unanswered(prepared)
    if isinstance(prepared, Observation):
        yield _finished(call, effect.index, state, present(prepared, policy=spec.policy), spec, started=None)
        return
    refused = refused_call(state, spec) if prepared.tool.effect == "submit" else None
    if refused is not None:
        shown = present(not_submitted(refused), policy=spec.policy)
        kept = kept_draft(prepared, state)
        yield _finished(call, effect.index, state, shown, spec, started=None, held=kept)
        return
    if effect.in_doubt:
        doubt = settle(prepared, state, spec)
        if doubt is not None:
            yield _finished(call, effect.index, state, present(doubt, policy=spec.policy), spec, started=None)
            return
    else:
        touches = _kept(prepared, spec)
        if isinstance(touches, Observation):
            yield _finished(call, effect.index, state, present(touches, policy=spec.policy), spec, started=None)
            return
        yield kinds.ToolStarted(
            step=state.progress.turn.step,
            index=effect.index,
            call_id=call.call_id,
            name=call.name,
            arguments=prepared.arguments,
            effect=prepared.tool.effect,
            touches=touches,
            tree=spec.guard.tree() if spec.guard is not None and prepared.tool.effect == "execute" else "",
        )
    started = time.monotonic()
    observation = perform_call(prepared, context=spec.tool_context, policy=spec.policy)
    yield from _taken(heard)
    shown = present(observation, policy=spec.policy, tool=prepared.tool)
    yield from _handed_over(call, effect.index, state, shown.observation, spec)
    yield _finished(call, effect.index, state, shown, spec, started=started)


def _kept(prepared: Prepared, spec: AgentSpec) -> dict[str, str] | Observation:
    """What the call may change, kept; where that cannot be read the call is not carried out, for it could not be taken back."""
    try:
        return kept_before(prepared, spec.tool_context.root, spec.blobs, scrub=spec.policy.scrub)
    except OSError as error:
        told = f"{prepared.tool.name} was not run: {error.filename} cannot be read: {error.strerror}"
        return failed(told, error_type="os-error", text=told)


def _taken(heard: list[kinds.HookFinished]) -> Iterator[Event]:
    """What the hooks were heard to do, once."""
    while heard:
        yield heard.pop(0)


def _agreed(state: RunState) -> bool:
    """A human agreed to the current step; a refusal never comes as far as here."""
    approval = step_approval(state)
    return approval is not None and approval.resolution is not None


def _approval(call: Call, prepared: Prepared, state: RunState) -> kinds.EscalationRaised:
    return kinds.EscalationRaised(
        escalation_id=f"E{len(state.people.escalations) + 1}",
        stage=state.progress.stage,
        kind="approval",
        reason=f"{call.name}: {prepared.asks}",
        question=f"Carry it out? {call.name} {call.arguments[:600]}",
        options=("approve", "reject"),
        context={"step": state.progress.turn.step},
    )


def _handed_over(call: Call, index: int, state: RunState, observation: Observation, spec: AgentSpec) -> Iterator[Event]:
    """The draft or the question that a call hands over; recorded before the call counts as done, so that no crash loses it."""
    payload = observation.payload
    if payload is None or (observation.status != "success" and "question" not in payload):
        return
    draft, ahead = payload.get("draft"), payload.get("ahead")
    if isinstance(draft, Mapping) and state.review.rejected is not None:
        draft = overlaid(state.review.rejected, draft)
    handed_in = state.review.submission is not None and state.review.submission.draft == draft  # by a process that died
    if isinstance(draft, Mapping) and not handed_in:
        attempt = state.progress.stages[state.progress.stage].attempt
        yield kinds.ArtifactSubmitted(
            stage=state.progress.stage,
            attempt=attempt,
            draft=draft,
            by="model",
            step=state.progress.turn.step,
            ahead=ahead if isinstance(ahead, Mapping) and spec.goes_ahead(draft) else {},
        )
    todos = payload.get("todos")
    if isinstance(todos, Mapping):
        yield kinds.TodosChanged(todos=todos)
    left = payload.get("background")
    if isinstance(left, Mapping):
        yield kinds.BackgroundStarted(name=str(left["name"]), command=str(left["command"]), cwd=str(left["cwd"]))
    found = payload.get("found_tools")
    if isinstance(found, list | tuple):
        yield kinds.SessionChanged(changes={"found_tools": list(found)})
    if "question" in payload and state.identity.kind == "task" and not _asked_before(state, index):
        options = payload.get("options")
        yield kinds.EscalationRaised(
            escalation_id=f"E{len(state.people.escalations) + 1}",
            stage=state.progress.stage,
            kind="question",
            reason="the model asks",
            question=str(payload["question"]),
            options=tuple(str(item) for item in options) if isinstance(options, (list, tuple)) else (),
            context={"step": state.progress.turn.step, "call": index, "tool": call.name, **_about(payload)},
        )


def _about(payload: Mapping[str, object]) -> dict[str, object]:
    return {"about": payload["about"]} if "about" in payload else {}


def _asked_before(state: RunState, index: int) -> bool:
    """A process that died asked this call's question already."""
    place = (state.progress.turn.step, index)
    return any(
        (item.context.get("step"), item.context.get("call")) == place for item in state.people.escalations.values()
    )


def _finished(
    call: Call,
    index: int,
    state: RunState,
    shown: Shown,
    spec: AgentSpec,
    *,
    started: float | None,
    held: Mapping[str, object] | None = None,
) -> kinds.ToolFinished:
    observation = shown.observation
    submission = state.review.submission
    if submission is not None and spoils(call, observation, state, spec):
        held = {"draft": submission.draft, "ahead": {}}
    root = spec.tool_context.root
    changed = {path: digest_of(root / path) for path in observation.changed}
    return kinds.ToolFinished(
        step=state.progress.turn.step,
        index=index,
        call_id=call.call_id,
        name=call.name,
        status=observation.status,
        summary=one_line(observation.summary),
        text=shown.text,
        error_type=observation.error_type,
        retryable=observation.retryable,
        next_actions=observation.next_actions,
        paths=observation.artifacts,
        changed=changed,
        view=observation.view,
        output=_full_output(shown, spec),
        redaction=shown.redaction,
        hygiene=shown.hygiene,
        pictures=kept_pictures(observation.pictures, spec.blobs),
        trust=shown.trust,
        held=held or {},
        result=digest_value([call.name, call.arguments, observation.status, shown.text])[:16],
        duration_ms=int((time.monotonic() - started) * 1000) if started is not None else 0,
    )


def _full_output(shown: Shown, spec: AgentSpec) -> str | None:
    """Keep the whole text as a blob when the model sees only a part of it."""
    if shown.full in shown.text:  # uncut; a fence around it is no reason to keep it twice
        return None
    try:
        return spec.blobs.put(shown.full.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return spec.blobs.put(shown.full.encode("utf-8", "backslashreplace"))


def perform_finish_step(effect: FinishStep, state: RunState, spec: AgentSpec) -> Iterator[Event]:
    """Take the workspace's snapshot when the step may have changed it, and close the step."""
    turn = state.progress.turn
    hooks = spec.policy.hooks
    wrote = any(result.changed or result.name in ("shell", "run_tests", "run_checks") for result in turn.results)
    wrote = wrote or (hooks is not None and hooks.writes)
    snapshot = spec.snapshot(state) if wrote else None
    said = one_line(turn.said, limit=160)
    done = "; ".join(f"{result.name}: {result.summary}" for result in turn.results)
    yield kinds.StepFinished(
        step=effect.step,
        stage=state.progress.stage,
        summary=one_line(done or said or "no tool call", limit=400),
        tree=snapshot[0] if snapshot else None,
        patch=spec.blobs.put(_without_secrets(snapshot[1], spec.policy)) if snapshot else None,
    )


def _without_secrets(patch: bytes, policy: InvocationPolicy) -> bytes:
    """A patch for people to read: the workspace itself is kept as a tree of git."""
    return policy.scrub(patch.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def kept_before(
    prepared: Prepared, root: Path, blobs: BlobStore, *, scrub: Callable[[str], str] = str
) -> dict[str, str]:
    """Keep the files that a write call may change, so that a half-done write can be taken back.

    Args:
        scrub: takes secrets out of a text; a file that holds one is not copied into the run.
    Returns:
        path -> digest of its content (a blob of the run), "" for a file that does not exist, "withheld:DIGEST" for one that
        was not copied.
    """
    found = {path: root / path for path in prepared.tool.paths(prepared.arguments, root)}
    return {path: _kept_file(file, blobs, scrub) if file.is_file() else "" for path, file in found.items()}


def _kept_file(file: Path, blobs: BlobStore, scrub: Callable[[str], str]) -> str:
    content = file.read_bytes()
    text = content.decode("utf-8", "replace")
    return blobs.put(content) if scrub(text) == text else f"{WITHHELD}{digest_bytes(content)}"


def settle(prepared: Prepared, state: RunState, spec: AgentSpec) -> Observation | None:
    """Make a call in doubt fit to be carried out again; None = carry it out.

    Reads are repeated, a write is taken back first, a command that may write finds the workspace as it was; what may have
    reached the outside is never repeated.

    Side effects: files of the workspace are put back.
    """
    intent = state.progress.turn.started_event or {}
    if prepared.tool.effect == "execute" and not spec.repeats_commands:
        return failed(
            f"{prepared.tool.name}: the program was stopped while it ran; whether it ended is unknown",
            error_type="in-doubt",
            retryable=False,
            next_actions=("look at what it did before you run it again",),
        )
    if prepared.tool.effect == "execute" and spec.guard is not None and intent.get("tree"):
        spec.guard.put_back(str(intent["tree"]))
    if prepared.tool.effect in ("read", "submit", "ask", "execute"):
        return None
    before = intent.get("touches")
    if prepared.tool.effect == "write" and isinstance(before, Mapping):
        _take_back({str(path): str(digest) for path, digest in before.items()}, spec.tool_context.root, spec.blobs)
        return None
    return failed(
        f"{prepared.tool.name}: interrupted, its effect outside the workspace is unknown",
        error_type="in-doubt",
        retryable=False,
    )


def _take_back(before: Mapping[str, str], root: Path, blobs: BlobStore) -> None:
    for path, digest in before.items():
        file = root / path
        if digest.startswith(WITHHELD):  # a file is replaced as a whole: it stands as it was, or as it was to become
            continue
        if not digest:
            file.unlink(missing_ok=True)
        elif not file.is_file() or digest_file(file) != digest:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(file, blobs.get(digest))
