"""/skills, /skill, /unskill: what is known about how to do kinds of work, and what of it is active."""

from __future__ import annotations

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import UsageError
from agentforge.skills import read_body


def _skills(chat: Chat, _rest: str) -> SlashReply:
    skills = chat.workshop.around.skills
    if not skills.enabled:
        return SlashReply(text="Skills are switched off (skills_enabled, or --bare).", data={"enabled": False})
    known, skipped = skills.catalogue.skills, skills.catalogue.skipped
    rows = [
        f"- {'**' + name + '** (active)' if name in skills.active else name}: {skill.description}"
        for name, skill in known.items()
    ]
    rows += [f"- skipped: {one.reason}" for one in skipped]
    rows += [f"- {notice}" for notice in _untrusted(chat)]
    data = {
        "enabled": True,
        "active": list(skills.active),
        "skills": [{"name": one.name, "description": one.description, "file": str(one.file)} for one in known.values()],
        "skipped": [{"file": str(one.file), "reason": one.reason} for one in skipped],
    }
    return SlashReply(text="\n".join(rows) or "There are no skills; /paths shows where they are looked for.", data=data)


def _untrusted(chat: Chat) -> list[str]:
    """What the project brings that waits for trust, skills among it."""
    return [notice for notice in chat.workshop.around.project.notices if "not trusted" in notice and "skill" in notice]


def _skill(chat: Chat, rest: str) -> SlashReply:
    if not rest:
        return _skills(chat, rest)

    skills = chat.workshop.around.skills
    if not skills.enabled:
        raise UsageError("skills are switched off", hint="set skills_enabled = true")
    skill = skills.find(rest)
    lines = len(read_body(skill.file).splitlines())
    chat.change(skills=list(dict.fromkeys((*skills.active, skill.name))))
    narrowed = f" Tools while it is active: {', '.join(skill.allowed_tools)}." if skill.allowed_tools else ""
    return SlashReply(
        text=f"Skill {skill.name} goes with your next message ({lines} lines of {skill.file}).{narrowed}",
        data={"active": list(skills.active)},
    )


def _unskill(chat: Chat, rest: str) -> SlashReply:
    skills = chat.workshop.around.skills
    wanted = rest.casefold()
    names = [name for name in skills.active if wanted in (name.casefold(), "--all", "all")]
    if not names:
        raise UsageError(f"the skill {rest!r} is not active", hint=f"active: {', '.join(skills.active) or 'none'}")
    chat.change(skills=[name for name in skills.active if name not in names])
    return SlashReply(text=f"Put away: {', '.join(names)}.", data={"active": list(skills.active)})


def _known(chat: Chat, word: str) -> tuple[str, ...]:
    return tuple(name for name in chat.workshop.around.skills.catalogue.skills if name.startswith(word))


def _active(chat: Chat, word: str) -> tuple[str, ...]:
    return tuple(name for name in chat.workshop.around.skills.active if name.startswith(word))


COMMANDS = (
    SlashCommand(name="skills", summary="List the skills, the active ones marked.", run=_skills),
    SlashCommand(name="skill", usage="NAME", summary="Activate a skill.", run=_skill, complete=_known),
    SlashCommand(name="unskill", usage="NAME", summary="Put a skill away.", run=_unskill, complete=_active),
)
