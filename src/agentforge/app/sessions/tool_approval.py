"""May this call of a conversation be made? The mode and the rules as they are now, and the person where they are asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sessions.questions import question_of
from agentforge.safety.policy.decision import Policy
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.policy.permission import read_rule
from agentforge.session import modes
from agentforge.store.log.clock import utc_now
from agentforge.tools.dispatch.approval import decide_tool, refusal
from agentforge.tools.dispatch.invocation import Refusal

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

    pass
    from agentforge.safety.policy.permission import Rule
    from agentforge.tools.base import Tool


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
        rules=(*workshop.permission_rules, *_remembered(workshop), *workshop.around.skills.rules()),
        ground=PathPolicy(
            root=root,
            folder=root,
            home=str(Path.home()),
            real=os.path.realpath,
            scratch=("/tmp", "/var/tmp") if confined else (),
        ),
        now=utc_now(),
        tainted=bool(workshop.log.state.untrusted),
        confined=confined,
    )


def judged(workshop: Workshop, tool: Tool, arguments: Mapping[str, object]) -> Refusal | None:
    """Judge a call: None lets it pass.

    Side effects: the person is asked where the mode or a rule says so.
    """

    if tool.effect in ("submit", "ask"):
        return None
    if workshop.work_mode in modes.LOOKING_MODES and not modes.only_looking(tool, arguments):
        return Refusal(reason=f"{workshop.work_mode} mode changes nothing")
    policy, desk = workshop.policy(), workshop.desk
    decision = decide_tool(tool, arguments, policy)
    if decision.verdict == "allow":
        return None
    if decision.verdict == "ask":
        question = question_of(tool, arguments, decision, policy=policy, root=workshop.root, secrets=workshop.secrets)
        if desk.asks(question):
            return None
    said = desk.words() if decision.verdict == "ask" else ""
    return Refusal(reason=refusal(decision, asked=desk.present, instead=_INSTEAD), said=said)


def _remembered(workshop: Workshop) -> tuple[Rule, ...]:
    """The rules that the person allowed in this session."""

    return tuple(read_rule(text, Consent.ALLOW, origin="this session") for text in workshop.desk.rules)
