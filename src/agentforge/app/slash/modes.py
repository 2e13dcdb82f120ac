"""/plan, /build, /approval: how much the agent may do."""

from __future__ import annotations

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import UsageError
from agentforge.safety.policy.modes import MODE_MEANING, Mode


def _plan(chat: Chat, _rest: str) -> SlashReply:
    chat.change(work_mode="plan")
    running = chat.workshop.running()
    still = f" Still running in the background: {', '.join(running)}; `/jobs stop all` ends them." if running else ""
    return SlashReply(text=f"Plan mode: nothing is changed until `/build`.{still}", data={"mode": "plan"})


def _build(chat: Chat, rest: str) -> SlashReply:
    chat.change(work_mode="build")
    return SlashReply(text="Build mode.", data={"mode": "build"}, action="say" if rest else "", prompt=rest)


def _approval(chat: Chat, rest: str) -> SlashReply:
    if not rest:
        now = chat.workshop.policy().mode
        rows = [f"- {'**' + mode + '**' if mode == now else mode}: {meaning}" for mode, meaning in MODE_MEANING.items()]
        return SlashReply(text="\n".join(rows), data={"approval": now})
    if rest not in list(Mode):
        raise UsageError(f"there is no approval mode {rest!r}", hint="one of " + ", ".join(Mode))
    chat.change(approval=rest)
    return SlashReply(text=f"Approval: {rest}: {MODE_MEANING[Mode(rest)]}.", data={"approval": rest})


def _approval_words(_chat: Chat, word: str) -> tuple[str, ...]:
    return tuple(mode for mode in Mode if mode.startswith(word))


COMMANDS = (
    SlashCommand(name="plan", summary="Only look and plan.", run=_plan),
    SlashCommand(name="build", usage="[words]", summary="Work: change files, run commands.", run=_build),
    SlashCommand(
        name="approval",
        usage="[mode]",
        summary="Show or set what needs your approval.",
        run=_approval,
        complete=_approval_words,
        aliases=("permissions",),
    ),
)
