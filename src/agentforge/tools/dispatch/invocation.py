"""The one way in which a tool call is carried out, step by step and always in this order; no tool is run around it.

Look up, parse, validate, hooks, approval and scope (prepare_call); execute (perform_call); hygiene, redaction, cut and
boundary (present). The agent loop records its intent between preparing and performing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from difflib import get_close_matches
from pathlib import Path

from agentforge.context.printed import WAYS_TO_SEE, cut_printed
from agentforge.errors import AgentForgeError, InfrastructureError, IntegrityError
from agentforge.events.kinds import HookFinished
from agentforge.frozen import dataclass
from agentforge.hooks import HookEngine
from agentforge.safety.text.hygiene import Cleaned, clean, cleaned, wrap
from agentforge.safety.text.redaction import redact, redact_value
from agentforge.tokens import cut_middle
from agentforge.tools.base import Observation, Tool, ToolContext, ToolError, failed
from agentforge.tools.dispatch.arguments import check_arguments, parse_arguments, refuse_placeholders
from agentforge.tools.dispatch.hooked import ask_after, ask_before
from agentforge.workspace.files.file_access import OutsideWorkspace, resolve_inside


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a call is not carried out.

    Attributes:
        said: what the user said when they declined it, in their own words; "" = nothing.
    """

    reason: str
    said: str = ""


Judge = Callable[["Tool", Mapping[str, object]], "Refusal | str | None"]
"""Looks at a call before it is carried out: None lets it pass, anything else is the reason why not."""

_TRACE_LINES = 3
_SUMMARY_LENGTH = 200
_LESS_AT_ONCE = "ask for less at once to see them"


def _allow(_tool: Tool, _arguments: Mapping[str, object]) -> str | None:
    return None


def _forget(_record: HookFinished) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationPolicy:
    """What holds for every call of an agent.

    Attributes:
        text_limit_tokens: what an observation may cost, >= 16.
        secrets: known values to take out of everything, the longest first.
        nonce: when not empty, observations are fenced by it as untrusted data.
        approve: the approval of the mode; may refuse a call.
        hooks: the user's own; they may refuse a call, change it, or want a human to decide.
        heard: takes the record of each hook that was run.
        redacts: take out what looks like a secret, too; the known values go always.
        cleans: take out terminal escapes and control characters.
    """

    text_limit_tokens: int = 2000
    secrets: tuple[str, ...] = ()
    nonce: str = ""
    approve: Judge = _allow
    hooks: HookEngine | None = None
    heard: Callable[[HookFinished], None] = _forget
    redacts: bool = True
    cleans: bool = True

    def scrub(self, text: str) -> str:
        """Take the secrets out of a text."""
        return redact(text, secrets=self.secrets, shapes=self.redacts).text

    def plain(self, text: str) -> str:
        """A text as it may be recorded and read: clean, without secrets."""
        return self.scrub(clean(text) if self.cleans else text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A call that may be carried out: the tool was offered, its arguments are right, nobody refuses.

    Attributes:
        asks: why a human has to agree first, "" when nobody has to.
        notes: words of hooks that go with the result.
    """

    tool: Tool
    arguments: Mapping[str, object]
    asks: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An observation as it is recorded and read.

    Attributes:
        observation: clean, without secrets; its `text` is `text`.
        text: cut to the policy's limit and fenced.
        full: clean, without secrets, uncut and not fenced; equal to `text` when nothing was done to it.
        redaction: {count, kinds} of the secrets that were taken out; {} = none.
        hygiene: {sequences, controls, invisible, truncated: [field]}: what was removed, shown or cut; {} = nothing.
        trust: "untrusted" = foreign text, fenced as data; "unmarked" = the fence is switched off; "" = there is no text.
    """

    observation: Observation
    text: str
    full: str
    redaction: Mapping[str, object] = field(default_factory=dict)
    hygiene: Mapping[str, object] = field(default_factory=dict)
    trust: str = ""


def invoke(
    name: str, arguments: str, *, tools: Mapping[str, Tool], context: ToolContext, policy: InvocationPolicy
) -> Shown:
    """Carry out one tool call from the model's words to what the model sees.

    Raises:
        InfrastructureError: the harness itself is broken (sandbox, disk); a failing tool is an observation instead.
    """
    prepared = prepare_call(name, arguments, tools=tools, context=context, policy=policy)
    if isinstance(prepared, Prepared):
        prepared = unanswered(prepared) if prepared.asks else perform_call(prepared, context=context, policy=policy)
    return present(prepared, policy=policy, tool=tools.get(name))


def unanswered(prepared: Prepared) -> Observation:
    """What becomes of a call that a human has to agree to where there is none."""
    return _denied(f"{prepared.tool.name}: {prepared.asks}, and nobody is here", error_type="not-approved").observation


def prepare_call(
    name: str, arguments: str, *, tools: Mapping[str, Tool], context: ToolContext, policy: InvocationPolicy
) -> Prepared | Observation:
    """Decide whether a call may be carried out; nothing is executed or written.

    Args:
        arguments: the raw text of the model.
    Returns:
        The call, or the observation that says why not: whatever goes wrong on the way is a reason not to carry it out.
    Raises:
        InfrastructureError, IntegrityError: the harness is broken, not the call.
    """
    try:
        return _prepared(name, arguments, tools=tools, context=context, policy=policy)
    except ToolError as refusal:
        return refusal.observation
    except (InfrastructureError, IntegrityError):
        raise
    except Exception as error:  # noqa: BLE001  # a call that nobody can judge must not end the run
        return _crashed(name, error)


def _prepared(
    name: str, arguments: str, *, tools: Mapping[str, Tool], context: ToolContext, policy: InvocationPolicy
) -> Prepared:
    tool = _look_up(name, tools)
    parsed = parse_arguments(tool, arguments)
    check_arguments(tool, parsed)
    hooked = ask_before(tool, parsed, policy)
    if hooked.arguments is not parsed:
        check_arguments(tool, hooked.arguments)
    _ask_approval(tool, hooked.arguments, policy)
    _check_scope(tool, hooked.arguments, context)
    refuse_placeholders(tool, hooked.arguments, context.root)
    return Prepared(tool=tool, arguments=hooked.arguments, asks=hooked.asks, notes=hooked.notes)


def perform_call(prepared: Prepared, *, context: ToolContext, policy: InvocationPolicy) -> Observation:
    """Execute a prepared call and show its result to the hooks; whatever goes wrong inside becomes an observation.

    Raises:
        InfrastructureError, IntegrityError: the harness is broken, not the call.
    """
    observation = _performed(prepared, context)
    return ask_after(prepared.tool, prepared.arguments, observation, policy, notes=prepared.notes)


def _performed(prepared: Prepared, context: ToolContext) -> Observation:
    tool = prepared.tool
    try:
        observation = tool.run(prepared.arguments, context)
        note = context.guides(tool.name, (*observation.artifacts, *observation.changed))
        return replace(observation, note=note) if note else observation
    except ToolError as answer:
        return answer.observation
    except (InfrastructureError, IntegrityError):
        raise
    except AgentForgeError as error:
        return failed(f"{tool.name}: {error}", error_type=error.slug, text=str(error))
    except OSError as error:
        return failed(f"{tool.name}: {error.strerror}: {error.filename}", error_type="os-error", text=str(error))
    except Exception as error:  # noqa: BLE001  # a broken tool must not end the run
        return _crashed(tool.name, error)


def present(observation: Observation, *, policy: InvocationPolicy, tool: Tool | None = None) -> Shown:
    """Make an observation fit to be recorded and read: hygiene, redaction, cut, boundary.

    Args:
        tool: what it is of; of what a program printed a cut keeps the lines that tell how it went.
    """
    tidy = cleaned(observation.text) if policy.cleans else Cleaned(text=observation.text)
    plain = redact(tidy.text, secrets=policy.secrets, shapes=policy.redacts)
    full = plain.text
    text = _cut(full, tool, limit=policy.text_limit_tokens)
    summary = " ".join(policy.plain(observation.summary).split())
    cut = [*(["text"] if text != full else []), *(["summary"] if len(summary) > _SUMMARY_LENGTH else [])]
    trust = ("untrusted" if policy.nonce else "unmarked") if text else ""
    if policy.nonce and text:
        text = wrap(text, nonce=policy.nonce)
    if observation.note:
        text = f"{text}\n\n{policy.plain(observation.note)}".lstrip("\n")
    payload = observation.payload
    shown = replace(
        observation,
        summary=summary if len(summary) <= _SUMMARY_LENGTH else f"{summary[: _SUMMARY_LENGTH - 4]} ...",
        text=text,
        next_actions=tuple(policy.plain(action) for action in observation.next_actions),
        payload=payload if payload is None else _scrubbed_payload(payload, policy),
    )
    redaction = {"count": plain.count, "kinds": list(plain.kinds)} if plain.count else {}
    hygiene = _hygiene(tidy, cut)
    return Shown(observation=shown, text=text, full=full, redaction=redaction, hygiene=hygiene, trust=trust)


def _cut(text: str, tool: Tool | None, *, limit: int) -> str:
    if tool is not None and (tool.effect == "execute" or tool.name in WAYS_TO_SEE):
        return cut_printed(text, limit=limit, note=WAYS_TO_SEE.get(tool.name, _LESS_AT_ONCE))
    return cut_middle(text, limit=limit, note=_LESS_AT_ONCE)


def _hygiene(tidy: Cleaned, cut: list[str]) -> dict[str, object]:
    """What was done to an observation, as it is recorded; only what there is."""
    counts = {"sequences": tidy.sequences, "controls": tidy.controls, "invisible": tidy.invisible}
    return {**{name: count for name, count in counts.items() if count}, **({"truncated": cut} if cut else {})}


def _scrubbed_payload(payload: Mapping[str, object], policy: InvocationPolicy) -> Mapping[str, object]:
    value = redact_value(payload, secrets=policy.secrets)
    assert isinstance(value, Mapping)
    return value


def _look_up(name: str, tools: Mapping[str, Tool]) -> Tool:
    tool = tools.get(name)
    if tool is not None:
        return tool
    raise ToolError(
        failed(
            f"there is no tool {name!r} in this stage",
            error_type="unknown-tool",
            text=f"Nothing was executed. Tools of this stage: {', '.join(tools) or 'none'}",
            next_actions=_nearest_tools(name, tools),
        )
    )


def _nearest_tools(name: str, tools: Mapping[str, Tool]) -> tuple[str, ...]:
    return tuple(f"call {close}" for close in get_close_matches(name.lower(), tools, n=2))


def _ask_approval(tool: Tool, arguments: Mapping[str, object], policy: InvocationPolicy) -> None:
    judged = policy.approve(tool, arguments)
    if judged is None:
        return
    refusal = judged if isinstance(judged, Refusal) else Refusal(reason=judged)
    note = f"The user declined this call and said: {refusal.said}" if refusal.said else ""
    raise _denied(f"{tool.name}: not approved: {refusal.reason}", error_type="not-approved", note=note)


def _check_scope(tool: Tool, arguments: Mapping[str, object], context: ToolContext) -> None:
    """Judge every path that the call would write, by the place where it really lies."""
    for path in tool.paths(arguments, context.root):
        real = _real_path(tool, path, context.root)
        reason = context.may_write(real)
        if reason is not None:
            raise _denied(f"{tool.name}: {reason}", error_type="out-of-scope")


def _real_path(tool: Tool, path: str, root: Path) -> str:
    try:
        return resolve_inside(root, path).relative_to(root.resolve()).as_posix()
    except OutsideWorkspace as exc:
        raise _denied(f"{tool.name}: {exc}", error_type="out-of-scope") from exc


def _denied(reason: str, *, error_type: str, note: str = "") -> ToolError:
    """Refuse a call; the user's own words go as a note, outside of the fence around foreign text."""
    return ToolError(
        Observation(
            status="denied",
            summary=note or reason,
            text=f"Nothing was executed. {reason}",
            note=note,
            error_type=error_type,
            next_actions=("go on within what this stage may do",),
        )
    )


def _crashed(name: str, error: Exception) -> Observation:
    import traceback

    trace = traceback.format_exception(error)[-_TRACE_LINES:]
    return failed(
        f"{name} crashed: {type(error).__name__}: {error}",
        error_type="tool-crash",
        text="".join(trace),
        retryable=False,
        next_actions=("reach the goal with another tool",),
    )
