"""The agent loop's values for a pipeline stage: its tools, its scope, its context policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.agent import AgentSpec
from agentforge.context.minimal import StepContext, StepInputs, build_step
from agentforge.context.sections import Section, View
from agentforge.contracts.draft import draft_schema
from agentforge.contracts.shape import shape_of
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.events.state.run_state import RunState
from agentforge.languages.test_parts import may_hold_tests
from agentforge.models import Model
from agentforge.pipeline.context.step_context import recent_actions, situation, verification_status
from agentforge.pipeline.engine.joint_replies import stage_behind, stages_ahead, with_ahead
from agentforge.pipeline.engine.workbench import stage_approval, tool_context
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.prompt_text import framed_constraints, prompt_text
from agentforge.pipeline.model.revisits import is_open, is_opened_again
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import TEST_GLOBS, product_scope, suite_files
from agentforge.pipeline.model.stage import Stage, texts
from agentforge.pipeline.plugins.added_stage import refusal_of_files
from agentforge.pipeline.plugins.stage_order import last_measured
from agentforge.safety.policy.scope import WriteScope
from agentforge.safety.text.redaction import redact
from agentforge.toolbox import find
from agentforge.tools.base import Tool
from agentforge.tools.dispatch.invocation import InvocationPolicy
from agentforge.workspace.files.file_access import digest_file
from agentforge.workspace.sandbox.box import Sandbox

if TYPE_CHECKING:
    from agentforge.guest import GuestChoice

_GOAL_CHARS = 300
_BESIDE_CODE, _LINE = 4000, 12  # tokens
_ROOM = "about {lines} lines of code a step; what you read beyond that takes the place of what you read before"
_INTO_A_NEW_FILE = "its tests were accepted and stay as they are: write more of them into a new test file"
_SELDOM = (
    "dependencies", "interfaces", "estimated_complexity", "measurements", "out_of_scope", "constraints.id",
    "constraints.rationale", "modules.purpose",
)  # fmt: skip
"""Fields of a specification that few requests need: a model that needs one submits the analysis alone."""


def agent_spec(state: RunState, runtime: Runtime, pieces: Sequence[Section]) -> AgentSpec:
    """Everything the loop needs for the current stage."""
    if state.progress.stage == EXAMINE:
        from agentforge.pipeline.examination.examiner_run import examiner_spec

        return examiner_spec(state, runtime)
    stage = runtime.stages[state.progress.stage]
    guest = runtime.guests(stage.name)
    if guest is not None:
        return _guest_spec(guest, state, stage, runtime, pieces)
    model = runtime.models(stage.name)
    names = offered(stage, runtime)
    if stage.asks_of_awaited and state.relations.awaited and "ask_human" not in names:
        names = (*names, "ask_human")  # what another task delivered may not be what this one was promised
    ahead = stages_ahead(stage, state, runtime)
    if ahead:
        names = tuple(dict.fromkeys((*_possible(stage.ahead_tools, runtime.sandbox), *names)))
    tools = with_ahead(find(names), ahead)
    spec = _spec(state, stage, runtime, pieces, model=model, tools=tools, ahead=ahead)
    if not profile_of(state).harness_works:
        return spec
    from agentforge.pipeline.small_models.generation.steps import small_spec

    return small_spec(spec, state, runtime)


def _guest_spec(
    guest: GuestChoice, state: RunState, stage: Stage, runtime: Runtime, pieces: Sequence[Section]
) -> AgentSpec:
    """The same for a stage that an agent of another maker does: its settings allow the hand-over."""
    from agentforge.pipeline.plugins import external_agents as guests

    answering = guests.guest_model(guest, state, runtime.blobs)
    model = answering if guest.argv else runtime.models(stage.name)  # a replay has the record's words
    tools = {guests.TOOL: guests.guest_tool(guest, state, stage, runtime), **find(("submit_artifact",))}
    spec = _spec(state, stage, runtime, pieces, model=model, tools=tools, frame=guests.FRAME)
    judge = spec.policy.approve
    policy = replace(spec.policy, approve=lambda tool, given: None if tool.name == guests.TOOL else judge(tool, given))
    return replace(spec, policy=policy, price=answering.price)


def _spec(
    state: RunState,
    stage: Stage,
    runtime: Runtime,
    pieces: Sequence[Section],
    *,
    model: Model,
    tools: dict[str, Tool],
    frame: str = "frame",
    ahead: tuple[Stage, ...] = (),
) -> AgentSpec:
    behind = stage_behind(stage, state, runtime)
    return AgentSpec(
        model=model,
        model_name=model.name,
        context=lambda now: _context(now, stage, runtime, pieces, tools, frame=frame, ahead=ahead, behind=behind),
        tools=tools,
        behind=behind,
        goes_ahead=stage.goes_ahead,
        tool_context=tool_context(state, stage, runtime, may_write=refusal_of(state, stage)),
        policy=InvocationPolicy(
            text_limit_tokens=runtime.step_tokens // 2,
            secrets=runtime.secrets,
            nonce=runtime.nonce,
            approve=stage_approval(state, stage, runtime),
            hooks=runtime.hooks,
        ),
        blobs=runtime.blobs,
        snapshot=lambda now: _snapshot(now, runtime),
        guard=runtime.guard if stage.writes != "none" else None,
        price=runtime.price,
        max_output_tokens=runtime.max_output_tokens,
        temperature=runtime.temperature,
        on_delta=runtime.on_delta,
    )


def offered(stage: Stage, runtime: Runtime) -> tuple[str, ...]:
    """The stage's tools."""
    return _possible(stage.tools, runtime.sandbox)


def _possible(names: tuple[str, ...], sandbox: Sandbox) -> tuple[str, ...]:
    """Without a sandbox there is no shell, because nothing would keep it out of the workspace."""
    if "shell" in names and sandbox.kind == "none":
        return tuple(name for name in names if name != "shell")
    return names


def refusal_of(state: RunState, stage: Stage) -> Callable[[str], str | None]:
    """The write scope of a stage: None when a path may be written, else why not."""
    if stage.writes == "none":
        return lambda _path: f"stage {stage.name} writes no files"

    if stage.writes == "tests":
        declared = tuple(texts(state.work.facts.get("baseline", {}).get("test_globs")))
        frozen = (*suite_files(state), *_frozen(state)) if is_open(state) else tuple(state.brief.tests)
        instead = _INTO_A_NEW_FILE if is_open(state) else ""
        scope = WriteScope(allow=(*TEST_GLOBS, *declared), deny=frozen, instead=instead)
        return scope.refusal if is_open(state) or not stage.takes_tests else _with_inner_tests(scope)
    if stage.files:
        return refusal_of_files(stage, state)
    if stage.scope is not None:
        return WriteScope(allow=stage.scope(state), deny=suite_files(state)).refusal
    return _product_refusal(product_scope(state.work.artifacts.get("spec", {})), frozen=suite_files(state))


def _with_inner_tests(scope: WriteScope) -> Callable[[str], str | None]:
    """The same scope, and the product files that tests stand in; what is written into them is judged by its text."""

    def refusal(path: str) -> str | None:
        reason = scope.refusal(path)
        return replace(scope, allow=(path,)).refusal(path) if reason is not None and may_hold_tests(path) else reason

    return refusal


def _frozen(state: RunState) -> tuple[str, ...]:
    """The files that were frozen when RED passed: while it is open again, tests are only added, in new files."""
    frozen = state.review.reopened.facts.get("frozen_files") if state.review.reopened else None
    return tuple(frozen) if isinstance(frozen, Mapping) else ()


def _product_refusal(files: tuple[str, ...], *, frozen: tuple[str, ...]) -> Callable[[str], str | None]:
    """The files of the specification, sign for sign: a name that reads as a pattern or a folder opens nothing else."""
    scope = WriteScope(allow=files, deny=frozen)

    def refusal(path: str) -> str | None:
        reason = scope.refusal(path)
        if reason is None and path not in files:
            return f"{path} is not one of the files of the specification: {', '.join(files)}"
        return reason

    return refusal


def _context(
    state: RunState,
    stage: Stage,
    runtime: Runtime,
    pieces: Sequence[Section],
    tools: dict[str, Tool],
    *,
    frame: str,
    ahead: tuple[Stage, ...],
    behind: str,
) -> StepContext:
    diff = _changes(state, stage, runtime)
    return build_step(
        StepInputs(
            system=system_prompt(
                f"{stage.name}_again" if is_opened_again(state, stage.name) else stage.name,
                frame=frame,
                own=stage.prompt,
                ahead=(*(one.name for one in ahead), *((behind,) if behind else ())),
            ),
            frame=_frame(state, stage, room=runtime.step_tokens if "read_file" in tools else 0),
            material=pieces,
            situation=situation(state, stage, worktree=runtime.worktree, diff=diff),
            recent=recent_actions(state),
            verification=verification_status(state),
            tools=tuple(
                replace(tool.schema, parameters=_submit_schema(stage, runtime, state, ahead=ahead, behind=behind))
                if tool.name == "submit_artifact"
                else tool.schema
                for tool in tools.values()
            ),
            changed=_changed_since(pieces, runtime.worktree),
            budget=runtime.step_tokens,
        )
    )


def _changed_since(pieces: Sequence[Section], worktree: Path) -> frozenset[str]:
    """The files that are not any more as the stage's material has them."""
    views = [one for one in pieces if isinstance(one, View)]
    if not views:
        return frozenset()

    files = {one.path: worktree / one.path for one in views}
    now = {path: digest_file(file) if file.is_file() else "" for path, file in files.items()}
    return frozenset(one.path for one in views if now[one.path] != one.digest)


def _changes(state: RunState, stage: Stage, runtime: Runtime) -> str:
    """What the stage changed so far, from the snapshots that its steps took."""
    now = state.work.trees.get("work", "")
    if stage.writes == "none" or not now:
        return ""
    start = state.work.trees.get("baseline", "")
    if stage.writes == "product":  # an added stage is shown what was there before it apart from what it does
        before = last_measured(state) if stage.after else "red"
        start = state.work.trees.get(before) or state.work.trees.get("guard", "")
    return runtime.diff(start, now) if start and start != now else ""


def _frame(state: RunState, stage: Stage, *, room: int) -> dict[str, object]:
    """What the model is told about its task in each step of a stage; the same for all of them.

    Args:
        room: tokens of a step whose model may read files; 0 = it may not.
    """
    intake = state.work.artifacts.get("intake", {})
    return {
        "id": state.identity.run_id,
        "goal": intake.get("goal") or _beginning(state.brief.request),
        "phase": stage.name,
        "success_criteria": [*stage.criteria],
        "constraints": framed_constraints(state.work.artifacts.get("spec", {})),
        **({"room": _ROOM.format(lines=_lines_shown(room))} if room else {}),
    }


def _lines_shown(step_tokens: int) -> int:
    """How many lines of source a step has room for, beside instructions, tools and law; in fifties."""
    return max(1, (step_tokens - _BESIDE_CODE) // _LINE // 50) * 50


def _beginning(request: str) -> str:
    """The first 300 characters of a request on one line, cut between words."""
    line = " ".join(request.split())
    return line if len(line) <= _GOAL_CHARS else f"{line[:_GOAL_CHARS].rsplit(' ', 1)[0]} ..."


@cache
def system_prompt(stage: str, *, frame: str = "frame", own: str = "", ahead: tuple[str, ...] = ()) -> str:
    """The frame of every prompt and the stage's own part, and what it may do for the stages ahead."""
    return "\n\n".join(prompt_parts(stage, frame=frame, own=own, ahead=ahead).values()) + "\n"


def prompt_parts(stage: str, *, frame: str = "frame", own: str = "", ahead: tuple[str, ...] = ()) -> dict[str, str]:
    """The texts that make a stage's prompt, by the name of their file.

    Args:
        own: the part of a stage that is added; "" = it has a file beside this module.
        ahead: the stages that the same reply may serve, too; what is told of each is law of the context, because a
            system prompt has its bound.
    """
    names = (frame, *(() if own else (stage,)), *((f"{stage}_ahead",) if ahead else ()))
    files = {name: prompt_text(name) for name in names}
    return {**files, **({stage: own.strip()} if own else {})}


def _submit_schema(
    stage: Stage, runtime: Runtime, state: RunState, *, ahead: tuple[Stage, ...] = (), behind: str = ""
) -> dict[str, object]:
    """The parameters of submit_artifact; once a draft was refused no field is required, for what is left out stays as it was.

    Args:
        behind: the stage whose own submission may stand in the same reply: the fields of its draft are taken, too.
    """
    contracts = runtime.contracts
    contract = contracts.get(stage.produces)
    omit = tuple(name for name in stage.omit if not (is_open(state) and name == "equivalent_mutants"))
    own = draft_schema(contract, omit=omit, bare=bool(ahead or behind))
    if behind:
        second = runtime.stages[behind]
        more = draft_schema(contracts.get(second.produces), omit=second.omit, bare=True)
        own = {**own, "properties": {**_properties(own), **_properties(more)}}
    if behind or state.review.rejected is not None:
        own = {name: value for name, value in own.items() if name != "required"}
    properties: dict[str, object] = {"artifact": _shaped(own) if ahead or behind else own}
    for one in ahead:
        properties[one.name] = _shaped(draft_schema(contracts.get(one.produces), omit=(*one.omit, *_SELDOM), bare=True))
    return {"type": "object", "properties": properties, "required": ["artifact"]}


def _shaped(schema: Mapping[str, object]) -> dict[str, object]:
    """A draft that is told by its shape alone: what its fields mean stands in the prompt, or in a section of the context."""
    return {"type": "object", "description": shape_of(schema)}


def _properties(schema: Mapping[str, object]) -> Mapping[str, object]:
    """The fields of an object's schema."""
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _snapshot(state: RunState, runtime: Runtime) -> tuple[str, bytes] | None:
    before = (
        state.work.trees.get("work")
        or state.work.trees.get("baseline")
        or runtime.git.tree_of(state.identity.base_commit)
    )
    now = runtime.guard.tree()
    if now == before:
        return None

    runtime.keep(state, now)
    patch = redact(runtime.git.diff(before, now), secrets=runtime.secrets).text
    return now, patch.encode("utf-8", "surrogateescape")
