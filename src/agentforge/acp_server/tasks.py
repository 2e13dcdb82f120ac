"""The mode `task`: a prompt becomes a task of the pipeline; its stages are the plan, what it asks is asked in the editor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp.helpers import plan_entry, text_block, tool_content, update_plan
from acp.schema import AgentPlanUpdate, PermissionOption, ToolCallUpdate

from agentforge.acp_server.updates import Teller
from agentforge.app.composition import task_queries as looking
from agentforge.app.composition.run_result import RunResult, outcome_of, result_value
from agentforge.app.tasks import answers, runs as tasks
from agentforge.app.tasks.start_options import StartOptions
from agentforge.cancellation import under
from agentforge.config.paths import project_tops
from agentforge.config.steering_files import OF_A_TASK
from agentforge.config.trust import require_trust
from agentforge.errors import UsageError
from agentforge.events import kinds
from agentforge.events.fold.verification import to_repair
from agentforge.events.kinds.choices import choices_of, taken
from agentforge.events.kinds.event import Event
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.pipeline.plugins.stage_order import names_of
from agentforge.store.blobs import Blobs

if TYPE_CHECKING:
    from agentforge.acp_server.session import EditorSession

_STATUS = {"verified": "completed", "skipped": "completed", "pending": "pending"}
_ANSWERABLE = ("approval", "limit", "in_doubt", "conflict")
_DECISIONS = {
    "approve": ("Approve", "allow_once"),
    "later": ("Decide later", "reject_once"),
    "abort": ("End the task", "reject_always"),
}
_FINDINGS = 5


def work_on_task(session: EditorSession, text: str) -> str:
    """Start a task with what the person said, or answer with it what the session's task asks.

    Returns:
        The protocol's stop reason.
    Raises:
        AgentForgeError: nothing was started.
        KeyboardInterrupt: the person stopped it; `resume` goes on.
    """
    watch = _Watch(session)
    with under(session.stop_sign):
        waiting = _waiting(session)
        result = _answered(session, waiting, text, watch) if waiting else _started(session, text, watch)
        while result.state.people.open_escalations and _settled(session, result, watch):
            result = _resumed(session, result.state.identity.run_id, watch)
    _close(session, text, result)
    return "end_turn"


def plan_of_stages(state: RunState) -> AgentPlanUpdate:
    """The stages of a task as a plan."""
    entries = []
    for name in names_of(state):
        known = state.progress.stages.get(name)
        status = _STATUS.get(known.status, "in_progress") if known is not None else "pending"
        again = f" (attempt {known.attempt})" if known is not None and known.attempt > 1 else ""
        skipped = " (not needed)" if known is not None and known.status == "skipped" else ""
        entries.append(plan_entry(f"{name}{again}{skipped}", priority="high", status=status))  # type: ignore[arg-type] # one of three
    return update_plan(entries)


class _Watch:
    """Hears a task's events and tells the editor."""

    def __init__(self, session: EditorSession) -> None:
        self._session = session
        self._teller: Teller | None = None

    def __call__(self, event: Event, state: RunState) -> None:
        """Tell one event."""
        session = self._session
        if self._teller is None:
            session.chat.change(task=state.identity.run_id)
            folder = Path(state.identity.repo) / ".agentforge" / "tasks" / state.identity.run_id
            self._teller = Teller(Path(state.identity.worktree), _blobs(folder), prefix=f"{state.identity.run_id}-")
            session.say_line(f"Task `{state.identity.run_id}`.\n\n")
        if isinstance(event, kinds.ModelReplied):
            event = _without_words(event)
        session.link.send(*self._teller.told(event, state))
        if isinstance(event, _PLANNED):
            session.link.send(plan_of_stages(state))
        if isinstance(event, kinds.StageVerified):
            session.say_line(_verdict(event))


_PLANNED = (kinds.StageStarted, kinds.StageSkipped, kinds.StagePassed, kinds.StageReopened, kinds.RunFinished)


def _blobs(folder: Path) -> Callable[[str], bytes]:
    return Blobs(folder / "blobs").get


def _without_words(event: kinds.ModelReplied) -> kinds.ModelReplied:
    """The steps of a task are shown by their calls; what is submitted is shown when it is verified."""
    return replace(event, text="")


def _verdict(event: kinds.StageVerified) -> str:
    failed = to_repair(event.results)
    if event.passed:
        rules = len(event.results)
        return f"- {event.stage}: verified, {rules} rule{'s' * (rules != 1)}\n"
    lines = [f"  - {item.get('rule')}: {' '.join(str(item.get('message', '')).split())[:300]}" for item in failed]
    more = [f"  - and {len(failed) - _FINDINGS} more"] if len(failed) > _FINDINGS else []
    return "\n".join(
        [
            f"- {event.stage}: not accepted, {len(failed)} finding{'s' * (len(failed) != 1)}",
            *lines[:_FINDINGS],
            *more,
            "",
        ]
    )


def _started(session: EditorSession, text: str, watch: _Watch) -> RunResult:
    for top in project_tops(session.root, session.environ):
        require_trust(top, session.environ, kinds=OF_A_TASK)
    settings = session.settings()
    model = session.chat.workshop.setting("model") or session.chat.options.model
    options = StartOptions(request=text, cwd=session.root, model=model or None, apply=settings.flag("deliver.apply"))
    return tasks.start(options, settings=settings, environ=session.environ, watch=watch)


def _resumed(session: EditorSession, task_id: str, watch: _Watch) -> RunResult:
    return tasks.resume(session.root, task_id, settings=session.settings(), environ=session.environ, watch=watch)


def _waiting(session: EditorSession) -> RunResult | None:
    """The session's task when it waits for an answer."""
    task_id = str(session.chat.state.talk.settings.get("task") or "")
    if not task_id:
        return None
    try:
        found = looking.load(session.root, task_id)
    except UsageError:  # it was removed meanwhile
        return None
    return found if found.state.people.open_escalations and not found.running else None


def _answered(session: EditorSession, waiting: RunResult | None, text: str, watch: _Watch) -> RunResult:
    assert waiting is not None
    item = waiting.state.people.open_escalations[0]
    decision: Any = "reject" if item.kind == "approval" else "answer"
    word = text.strip().rstrip(".!").lower()
    if word in ("approve", "abort"):
        decision, text = word, ""
    _resolve(session, waiting, item, decision, text)
    return _resumed(session, waiting.state.identity.run_id, watch)


def _settled(session: EditorSession, result: RunResult, _watch: _Watch) -> bool:
    """Ask what is open; whether the task can go on."""
    for item in result.state.people.open_escalations:
        session.say_line(f"\n**{item.reason}**\n\n{item.question}\n")
        if not item.options and item.kind not in _ANSWERABLE:
            session.say_line("\nYour next message is the answer.\n")
            return False
        if not _decided(session, result, item):
            return False
    return True


def _decided(session: EditorSession, result: RunResult, item: Escalation) -> bool:
    choices = _choices(item)
    options = [
        PermissionOption(option_id=option, name=name[:200], kind=kind)  # type: ignore[arg-type] # one of the protocol's kinds
        for option, (name, kind) in choices.items()
    ]
    address = f"{result.state.identity.run_id}.{item.escalation_id}"
    call = ToolCallUpdate(
        tool_call_id=address,
        title=f"{item.stage}: {item.reason}"[:200],
        kind="think",
        status="pending",
        content=[tool_content(text_block(item.question))],
    )
    chosen = session.link.ask(call, options)
    if chosen in ("approve", "abort"):
        _resolve(session, result, item, chosen, "")
        return True
    if chosen.startswith("option-"):
        _resolve(session, result, item, "answer", choices[chosen][0])
        return True
    session.say_line(f"\n`{address}` waits. Your next message rejects or answers it.\n")
    return False


def _choices(item: Escalation) -> dict[str, tuple[str, str]]:
    offered = choices_of(item)
    words = [choice.text for choice in offered if choice.text]
    own = {f"option-{number}": (text, "allow_once") for number, text in enumerate(words)}
    approves = {"approve": _DECISIONS["approve"]} if taken(item, decision="approve") is not None else {}
    return {**own, **approves, "later": _DECISIONS["later"], "abort": _DECISIONS["abort"]}


def _resolve(session: EditorSession, result: RunResult, item: Escalation, decision: Any, text: str) -> None:
    address = f"{result.state.identity.run_id}.{item.escalation_id}"
    by = session.environ.get("USER", "user")
    answers.resolve(session.root, address, decision=decision, text=text, by=by, settings=session.settings())


def _close(session: EditorSession, text: str, result: RunResult) -> None:
    """Tell how it stands, and record in the conversation what was asked of whom."""
    state = result.state
    value = result_value(result)
    outcome = outcome_of(state)
    lines = [f"\n**{outcome}**"]
    if state.work.delivered:
        lines += [f"Branch `{value['branch']}`, commit `{str(value['commit'])[:12]}`.", _proof(state.identity.run_id)]
    elif result.error is not None:
        lines.append(f"{result.error} - go on with: `agentforge resume {state.identity.run_id}`")
    session.say_line("\n\n".join(lines) + "\n")
    turn = session.chat.state.talk.turn + 1
    note = f"(This was given to the pipeline as task {state.identity.run_id}; it is {outcome}.)"
    session.chat.log.append(kinds.UserSaid(turn=turn, text=text, notes=(note,), as_stage="task"))
    session.chat.drop(outcome="completed", reason=f"task {state.identity.run_id}: {outcome}")


def _proof(task_id: str) -> str:
    return f"Check it: `agentforge verify {task_id}`; read about it: `agentforge audit {task_id}`."
