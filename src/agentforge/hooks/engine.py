"""Running the hooks of a trigger and putting their answers together: deny beats ask, ask beats allow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from agentforge.cancellation import Cancellation, interruptible, under
from agentforge.errors import AgentForgeError
from agentforge.events.kinds import HookFinished
from agentforge.frozen import dataclass
from agentforge.hooks.hook import CLAUDE_NAMES, Hook, HookAnswer, Trigger, Verdict, read_answer
from agentforge.safety.text.redaction import redact, redact_value
from agentforge.workspace.processes.process import Completed

_LONGEST_VARIABLE = 100_000  # the kernel takes 128 KiB for one; standard input holds the whole text
_LONGEST_OUTPUT = 256_000
_MOST_AT_ONCE = 8
_ORDER: tuple[Verdict, ...] = ("pass", "allow", "ask", "deny")

RunHook = Callable[[Hook, Mapping[str, str], bytes], Completed]
"""Run one hook in the sandbox with these variables and this standard input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the hooks of a trigger said together.

    Attributes:
        verdict: "pass" when none said anything.
        reason: of those that decided.
        arguments: of the call as the hooks leave it; None = unchanged.
        context: words for the model, one item per hook.
        runs: a record for each hook that was run.
    """

    verdict: Literal["pass", "allow", "ask", "deny"] = "pass"
    reason: str = ""
    arguments: Mapping[str, object] | None = None
    context: tuple[str, ...] = ()
    runs: tuple[HookFinished, ...] = ()


class HookEngine:
    """The hooks of one run.

    Args:
        hooks: in the order of the settings.
        not_run: hooks that are known and not run, with the reason.
        session: `session_id`, `cwd`, `permission_mode`: the same in every message.
        secrets: known values that no hook is told.
    """

    def __init__(
        self,
        hooks: Sequence[Hook],
        run: RunHook,
        *,
        session: Mapping[str, str],
        secrets: tuple[str, ...] = (),
        not_run: tuple[tuple[Hook, str], ...] = (),
    ) -> None:
        self._hooks = tuple(hooks)
        self._run = run
        self._session = session
        self._secrets = secrets
        self._not_run = not_run

    def not_run(self) -> tuple[HookFinished, ...]:
        """A record for each hook that is not run, and why."""
        return tuple(
            HookFinished(name=hook.name, trigger=hook.trigger, verdict="not_run", reason=reason, origin=hook.origin)
            for hook, reason in self._not_run
        )

    @property
    def writes(self) -> bool:
        """Whether any hook may change files."""
        return any(hook.writes for hook in self._hooks)

    def has(self, trigger: Trigger) -> bool:
        """Whether any hook waits for this."""
        return any(hook.trigger == trigger for hook in self._hooks)

    def before_agent(self, message: str) -> Outcome:
        """Before a message enters the agent loop."""
        return self._together("before_agent", {"USER_MESSAGE": message}, {"prompt": message})

    def after_agent(self, message: str, response: str) -> Outcome:
        """After the agent returned its result."""
        return self._together(
            "after_agent",
            {"USER_MESSAGE": message, "RESPONSE": response},
            {"last_assistant_message": response, "stop_hook_active": False},
        )

    def on_error(self, error: str) -> Outcome:
        """When the run breaks off."""
        return self._together("on_error", {"ERROR": error}, {"error": error})

    def after_tool(self, tool: str, arguments: Mapping[str, object], result: str) -> Outcome:
        """After a tool has answered."""
        return self._together(
            "after_tool",
            {**_call(tool, arguments), "TOOL_RESULT": result},
            {"tool_name": tool, "tool_input": arguments, "tool_response": result},
            tool=tool,
        )

    def before_tool(self, tool: str, arguments: Mapping[str, object], *, call_id: str = "") -> Outcome:
        """Before a call is judged: one after the other, each sees what the ones before it made of the arguments."""
        now, found = arguments, Outcome()
        for hook in self._of("before_tool", tool):
            facts = {"tool_name": tool, "tool_input": now, "tool_use_id": call_id}
            answer, record = self._ask(hook, _call(tool, now), facts, tool=tool)
            found = _merged(found, [(hook, answer, record)])
            if found.verdict == "deny":
                return found
            now = now if answer.updated is None else answer.updated
        return found if now is arguments else replace(found, arguments=now)

    def _of(self, trigger: Trigger, tool: str) -> list[Hook]:
        return [hook for hook in self._hooks if hook.trigger == trigger and (not tool or hook.concerns(tool))]

    def _together(
        self, trigger: Trigger, variables: Mapping[str, str], facts: Mapping[str, object], *, tool: str = ""
    ) -> Outcome:
        """Run hooks whose order does not matter at the same time; their answers stand in the order of the settings."""
        hooks = self._of(trigger, tool)
        if len(hooks) <= 1:
            return _merged(Outcome(), [(hook, *self._ask(hook, variables, facts, tool=tool)) for hook in hooks])
        from concurrent.futures import ThreadPoolExecutor

        sign = Cancellation()

        def work(hook: Hook) -> tuple[HookAnswer, HookFinished]:
            with under(sign):
                return self._ask(hook, variables, facts, tool=tool)

        with ThreadPoolExecutor(max_workers=min(len(hooks), _MOST_AT_ONCE)) as pool:
            running = [pool.submit(work, hook) for hook in hooks]
            try:
                with interruptible(sign.cancel):
                    answers = [one.result() for one in running]
            except BaseException:  # Ctrl-C reaches this thread alone: end the hooks of the others, too
                pool.shutdown(wait=False, cancel_futures=True)
                sign.cancel()
                raise
        return _merged(Outcome(), [(hook, *answer) for hook, answer in zip(hooks, answers, strict=True)])

    def _ask(
        self, hook: Hook, variables: Mapping[str, str], facts: Mapping[str, object], *, tool: str
    ) -> tuple[HookAnswer, HookFinished]:
        told = {"TRIGGER": hook.trigger, "CWD": self._session.get("cwd", ""), **variables}
        env = {f"AGENTFORGE_{name}": self._variable(text) for name, text in told.items()}
        message = {**self._session, "hook_event_name": CLAUDE_NAMES[hook.trigger], "trigger": hook.trigger, **facts}
        stdin = json.dumps(redact_value(message, secrets=self._secrets), default=str).encode()
        try:
            done = self._run(hook, env, stdin)
        except AgentForgeError as exc:
            answer = self._redacted(HookAnswer(verdict="failed", reason=str(exc)))
            return answer, _record(hook, answer, None, tool=tool)
        answer = self._redacted(read_answer(done, timeout_s=hook.timeout_s, talks=hook.trigger == "before_agent"))
        return answer, _record(hook, answer, done, tool=tool)

    def _variable(self, text: str) -> str:
        """A text as a variable can hold it: no secrets, no NUL, not too long."""
        plain = redact(text, secrets=self._secrets).text.replace("\0", "")
        data = plain.encode("utf-8", "replace")
        if len(data) <= _LONGEST_VARIABLE:
            return data.decode("utf-8", "replace")
        kept = data[:_LONGEST_VARIABLE].decode("utf-8", "ignore")
        return f"{kept}\n... {len(data) - _LONGEST_VARIABLE} bytes omitted; all of it is on standard input"

    def _redacted(self, answer: HookAnswer) -> HookAnswer:
        updated = answer.updated
        if updated is not None:
            changed = redact_value(updated, secrets=self._secrets)
            assert isinstance(changed, dict)
            updated = changed
        return replace(
            answer,
            reason=redact(answer.reason, secrets=self._secrets).text,
            context=redact(answer.context, secrets=self._secrets).text,
            updated=updated,
        )


def output_limit() -> int:
    """How many bytes of a hook's output are kept."""
    return _LONGEST_OUTPUT


def _call(tool: str, arguments: Mapping[str, object]) -> dict[str, str]:
    return {"TOOL_NAME": tool, "TOOL_PARAMS": json.dumps(arguments, ensure_ascii=False, default=str)}


def _record(hook: Hook, answer: HookAnswer, done: Completed | None, *, tool: str) -> HookFinished:
    return HookFinished(
        name=hook.name,
        trigger=hook.trigger,
        verdict=answer.verdict,
        reason=answer.reason,
        tool=tool,
        exit_code=None if done is None else done.exit_code,
        rewrote=answer.updated is not None,
        failure_mode=hook.failure_mode if answer.verdict == "failed" else "",
        origin=hook.origin,
        duration_ms=0 if done is None else int(done.duration_s * 1000),
    )


def _merged(before: Outcome, answers: Iterable[tuple[Hook, HookAnswer, HookFinished]]) -> Outcome:
    merged = before
    for hook, answer, record in answers:
        verdict, reason = _counted(hook, answer)
        worse = _ORDER.index(verdict) > _ORDER.index(merged.verdict)
        same = verdict == merged.verdict and verdict != "pass"
        told = f"{hook.name}: {reason}" if reason else hook.name
        context = f"{hook.name}: {answer.context}" if answer.context else ""
        if not context and answer.verdict == "failed" and hook.failure_mode == "warn":
            context = f"{hook.name} failed: {answer.reason}"
        merged = replace(
            merged,
            verdict=verdict if worse else merged.verdict,
            reason=told if worse else f"{merged.reason}; {told}" if same else merged.reason,
            context=(*merged.context, context) if context else merged.context,
            runs=(*merged.runs, record),
        )
    return merged


def _counted(hook: Hook, answer: HookAnswer) -> tuple[Literal["pass", "allow", "ask", "deny"], str]:
    """What an answer counts as; a hook that failed blocks unless it was told to let pass."""
    if answer.verdict == "failed":
        return ("deny", f"the hook failed: {answer.reason}") if hook.failure_mode == "block" else ("pass", "")
    return answer.verdict, answer.reason
