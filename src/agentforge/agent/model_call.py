"""Performing the call of a model: what is sent is durable before it is sent, and the reply before it counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agentforge.agent.decide import CallModel
from agentforge.agent.limits import time_left_s
from agentforge.agent.pictures import pictured
from agentforge.agent.reply import replied
from agentforge.agent.spec import AgentSpec
from agentforge.cancellation import TimeIsUp, for_at_most
from agentforge.errors import ModelError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.messages import Message, ModelRequest, request_bytes
from agentforge.models import thinking_heard
from agentforge.tools.dispatch.invocation import InvocationPolicy
from agentforge.workspace.files.file_access import digest_file


def perform_call_model(effect: CallModel, state: RunState, spec: AgentSpec) -> Iterator[Event]:
    """Send one request.

    Raises:
        ModelError: after ModelFailed was recorded; the run is kept and can be resumed.
    """
    context = spec.context(state)
    stage = state.progress.stages.get(state.progress.stage)
    request = ModelRequest(
        messages=tuple(shown_message(message, spec.policy) for message in context.messages),
        tools=context.tools,
        max_output_tokens=spec.max_output_tokens,
        temperature=spec.temperature,
        labels={
            "run": state.identity.run_id,
            "stage": state.progress.stage,
            "step": effect.step,
            "stage_step": (stage.steps if stage else 0) + (0 if effect.step == state.progress.turn.step else 1),
            **state.identity.place_among,
        },
    )
    request = pictured(spec.shape(state, request), spec.blobs)
    yield kinds.ModelCalled(
        step=effect.step,
        stage=state.progress.stage,
        attempt=stage.attempt if stage else 1,
        model=spec.model_name,
        request=spec.blobs.put(request_bytes(request)),
        context_tokens=context.tokens,
        budget=context.budget,
        sections=context.sections,
        seen=_seen(state, spec),
        left_out=context.left_out,
        window=context.window,
    )
    try:
        with for_at_most(time_left_s(state)), thinking_heard(spec.on_thought):
            reply = spec.model.complete(request, on_delta=spec.on_delta)
    except TimeIsUp:
        yield kinds.ModelFailed(
            step=effect.step, slug="limit", message="the deadline came before the reply", requests=1
        )
        return
    except ModelError as error:
        error.message = spec.policy.scrub(error.message)  # a provider repeats the key that it refuses
        yield kinds.ModelFailed(step=effect.step, slug=error.slug, message=str(error), requests=error.requests)
        raise
    yield replied(effect.step, spec.read(reply), spec)


def shown_message(message: Message, policy: InvocationPolicy) -> Message:
    """A message as it leaves the machine: whatever a context was built from, no secrets and nothing that hides."""
    parts = tuple(replace(part, text=policy.plain(part.text)) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _seen(state: RunState, spec: AgentSpec) -> dict[str, str]:
    """Digests of the files that the model reads in this step: an edit of one that changed meanwhile is refused."""
    if not (spec.shows_fresh and state.progress.turn.views):
        return {} if spec.shows_fresh else {path: str(digest) for path, digest in state.progress.turn.seen.items()}

    files = {path: spec.tool_context.root / path for path, _ in state.progress.turn.views}
    return {path: digest for path, file in files.items() if (digest := digest_of(file))}


def digest_of(file: Path) -> str:
    """Digest a file; "" where there is none that can be read."""
    try:
        return digest_file(file) if file.is_file() else ""
    except OSError:
        return ""
