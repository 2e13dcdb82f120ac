"""May this call of a conversation be made? The mode and the rules as they are now, and the person where they are asked.

The end of plan mode: a plan is put to the person, and where they approve it the conversation goes on in build mode.

A call that somebody has to agree to, made ready for people: what it does, what it would change, what "always" means.

What the settings permit tool calls: the mode of approval, the rules, and which tools are allowed.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.app.sessions.person import Question
from agentforge.config.permissions import permission_rules
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError
from agentforge.pipeline.model.runtime import Permits
from agentforge.safety.policy.decision import Decision, decide_call
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import SCRATCH, PathPolicy
from agentforge.safety.policy.permission import Rule, read_rule
from agentforge.safety.policy.suggestion import Suggestion, suggest, suggest_call, suggest_write
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.safety.text.hygiene import clean
from agentforge.safety.text.redaction import redact
from agentforge.session import LOOKING_MODES, only_looking
from agentforge.store.log.records import utc_now
from agentforge.tools.base import Observation, Tool, ToolContext, ToolError
from agentforge.tools.dispatch.approval import decide_tool, refusal
from agentforge.tools.dispatch.arguments import content_of
from agentforge.tools.dispatch.invocation import Refusal

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat


if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

    pass


_INSTEAD = {
    "git-write": "commit with git_commit, make and switch branches with git_branch: commands cannot change the repository",
    "server": "start it with background=true, and stop it with jobs",
}


def policy_of(workshop: Workshop) -> Policy:
    """What holds for tool calls in a session now."""
    root = str(workshop.root)
    confined = workshop.sandbox.kind != "none"
    mode = workshop.setting("approval") or workshop.options.approval or workshop.settings.text("approval")
    return Policy(
        mode=Mode(mode),
        rules=(*workshop.permission_rules, *_remembered(workshop.desk.rules), *workshop.around.skills.rules()),
        ground=PathPolicy(
            root=root, folder=root, home=str(Path.home()), real=os.path.realpath, scratch=SCRATCH if confined else ()
        ),
        now=utc_now(),
        tainted=bool(workshop.log.state.progress.untrusted),
        confined=confined,
    )


def judged(workshop: Workshop, tool: Tool, arguments: Mapping[str, object]) -> Refusal | None:
    """Judge a call: None lets it pass.

    Side effects: the person is asked where the mode or a rule says so.
    Raises:
        ToolError: what would be asked about is a change that cannot be made, whatever the person says.
    """
    if tool.effect in ("submit", "ask"):
        return None
    if workshop.work_mode in LOOKING_MODES and not only_looking(tool, arguments):
        return Refusal(reason=f"{workshop.work_mode} mode changes nothing")
    policy, desk = workshop.policy(), workshop.desk
    decision = decide_tool(tool, arguments, policy)
    if decision.verdict == "allow":
        return None
    if decision.verdict == "ask":
        _refuse_in_vain(workshop, tool, arguments, policy)
        question = question_of(tool, arguments, decision, policy=policy, root=workshop.root, secrets=workshop.secrets)
        if desk.asks(question):
            return None
    said = desk.words() if decision.verdict == "ask" else ""
    return Refusal(reason=refusal(decision, asked=desk.present, instead=_INSTEAD), said=said)


def _refuse_in_vain(workshop: Workshop, tool: Tool, arguments: Mapping[str, object], policy: Policy) -> None:
    """Try a change of files up to where it would write: nobody is asked about one that fails before.

    What the failure shows of a file may be read without a question, too; else the person is asked first.
    """
    paths = tool.paths(arguments, workshop.root)
    beside = _REHEARSED.get(tool.name)
    if beside is None or not paths or not all((workshop.root / path).is_file() for path in paths):
        return
    if decide_call("read_file", policy, kind=CommandClass.READ_ONLY, reads=paths).verdict != "allow":
        return
    context = dataclasses.replace(workshop.tool_context(workshop.log.state), may_hold=_would_write)
    with suppress(AgentForgeError, OSError):  # then the call itself says what is wrong
        observation = _tried(tool, {**arguments, **beside}, context)
        if observation is not _WRITES and (observation.status == "error" or not beside):
            raise ToolError(observation)


def _tried(tool: Tool, arguments: Mapping[str, object], context: ToolContext) -> Observation:
    try:
        return tool.run(arguments, context)
    except ToolError as answer:
        return answer.observation


def _would_write(_path: str, _text: str) -> str | None:
    raise ToolError(_WRITES)


_WRITES = Observation(status="success", summary="it would write")
_REHEARSED: Mapping[str, Mapping[str, object]] = {
    "edit": {},
    "write_file": {},
    "append_file": {},
    "apply_patch": {"dry_run": True},
}
"""Tools that can be tried, each with the arguments that keep it from writing beside a context that does."""


def _remembered(texts: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that the person allowed in this session."""
    return tuple(read_rule(text, Consent.ALLOW, origin="this session") for text in texts)


APPROVE = "Approve and build"
APPROVE_EDITS = "Approve, and change files without asking"
KEEP_PLANNING = "Keep planning"
_ASKING = ("on-request", "auto-edit")
"""Modes of approval that ask about a change of a file."""
_QUESTION = "Carry out this plan?"
_NOT_YET = "Keep planning. Ask what should be different, and end the turn."


def put_plan(chat: Chat, plan: str) -> str | None:
    """Put a plan to the person.

    Returns:
        "" = approved; else what they said instead; None = nobody answered.
    Side effects: an approval switches to build mode before the model's next step.
    """
    shop = chat.workshop
    approval = shop.setting("approval") or chat.options.approval or shop.settings.text("approval")
    options = (APPROVE, *((APPROVE_EDITS,) if approval in _ASKING else ()), KEEP_PLANNING)
    answer = chat.desk.person.ask(f"{plan}\n\n{_QUESTION}", options)
    if answer == KEEP_PLANNING:
        return _NOT_YET
    if answer not in (APPROVE, APPROVE_EDITS):
        return answer
    chat.inbox.switch({"work_mode": "build", **({"approval": "on-failure"} if answer == APPROVE_EDITS else {})})
    return ""


_DIFF_LINES = 400
_KNOWN = ("write_file", "append_file", "edit")


def question_of(
    tool: Tool,
    arguments: Mapping[str, object],
    decision: Decision,
    *,
    policy: Policy,
    root: Path,
    secrets: tuple[str, ...],
) -> Question:
    """Describe a call; nothing secret, nothing that moves the cursor."""
    line, _ = tool.command(arguments)
    url = tool.url(arguments)
    where = ", ".join(tool.paths(arguments, root) or tool.reads(arguments))
    text = line or url or where or ", ".join(f"{key}={str(value)[:80]}" for key, value in arguments.items())
    return Question(
        tool=tool.name,
        text=_plain(text, secrets),
        reason=_plain(decision.reason, secrets),
        diff=_plain(_preview(tool, arguments, root), secrets),
        offers=suggest(line, policy)
        if line
        else _writing(tool, arguments, policy=policy, root=root)
        if where
        else suggest_call(tool.name, url, policy),
    )


def _writing(tool: Tool, arguments: Mapping[str, object], *, policy: Policy, root: Path) -> tuple[Suggestion, ...]:
    """The rules of "always" for a change of files, where they would let this call pass."""
    if tool.effect != "write":
        return ()
    offers = suggest_write(tuple(tool.paths(arguments, root)), policy)
    allowed = tuple(read_rule(offer.rule, Consent.ALLOW) for offer in offers)
    after = decide_tool(tool, arguments, dataclasses.replace(policy, rules=(*policy.rules, *allowed)))
    return offers if after.verdict is Consent.ALLOW else ()


def preview(name: str, arguments: Mapping[str, object], root: Path, *, paths: tuple[str, ...]) -> str:
    """What a file tool would change, as a unified diff, as far as that can be told before.

    Args:
        paths: the files that the call writes.
    """
    if name == "apply_patch":
        return str(arguments.get("patch", ""))
    if len(paths) != 1 or name not in _KNOWN:
        return ""
    before = content_of(root / paths[0])
    after = _after(name, arguments, before)
    if after is None:
        return ""
    lines = unified_diff(before.splitlines(), after.splitlines(), f"a/{paths[0]}", f"b/{paths[0]}", lineterm="")
    return "\n".join(list(lines)[:_DIFF_LINES])


def change_of_call(name: str, arguments: str, root: Path) -> tuple[str, str | None, str] | None:
    """The file that a call would write: its absolute path, its text before (None = there is no such file) and after.

    Args:
        arguments: raw JSON text.
    Returns:
        None where that cannot be told before.
    """
    try:
        given = json.loads(arguments)
    except ValueError:
        return None
    path = given.get("path") if isinstance(given, dict) and name in _KNOWN else None
    if not isinstance(path, str) or not path:
        return None
    file = root / path
    before = content_of(file)
    after = _after(name, given, before)
    return None if after is None else (str(file), before if file.is_file() else None, after)


def _preview(tool: Tool, arguments: Mapping[str, object], root: Path) -> str:
    if tool.preview is not None:
        return tool.preview(arguments)
    if tool.foresees is not None:
        return "\n".join(tool.foresees(arguments, root).diff.splitlines()[:_DIFF_LINES])
    return preview(tool.name, arguments, root, paths=tool.writes(arguments))


def _plain(text: str, secrets: tuple[str, ...]) -> str:
    return redact(clean(text), secrets=secrets).text


def _after(name: str, arguments: Mapping[str, object], before: str) -> str | None:
    if name == "write_file":
        return str(arguments.get("content", ""))
    if name == "append_file":
        return before + str(arguments.get("content", ""))
    if name == "edit":
        old, new = str(arguments.get("old_string", "")), str(arguments.get("new_string", ""))
        return before.replace(old, new, -1 if arguments.get("replace_all") else 1) if old else None
    return None


def permits_of(settings: Settings) -> Permits:
    """What the settings say about tool calls.

    Raises:
        ConfigError: a rule that cannot be read.
    """
    return Permits(
        mode=_approval(settings), rules=rules_of(settings), allowed_tools=_allowed_tools(settings), now=utc_now
    )


def _approval(settings: Settings) -> str:
    """The mode of tool calls in a pipeline: its own setting; `never` of the user holds here, too; else `auto`."""
    own = settings.text("pipeline.approval")
    return own or ("never" if settings.text("approval") == "never" else "auto")


def rules_of(settings: Settings) -> tuple[Rule, ...]:
    """The permission rules of all settings files."""
    if not settings.table("permissions"):
        return ()

    return permission_rules(settings)


def _allowed_tools(settings: Settings) -> tuple[str, ...] | None:
    names = cast("list[str] | None", settings.get("allowed_tools"))
    return None if names is None else (*names, "submit_artifact", "ask_human")
