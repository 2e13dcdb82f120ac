"""/init: the agent looks at the project and writes down in AGENTS.md what every agent that works on it should know."""

from __future__ import annotations

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply

_FILE = "AGENTS.md"
_OTHERS = ("CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md", "GEMINI.md")
_ASKED = """\
{deed} {file} at the top of this repository: what an agent that works here should know and cannot see at a glance.

Find out first, with the tools that you have: how the project is set up, built, checked and tested (also a single test), from its
build files, CI and scripts, and run what is cheap and harmless to see that it works; how it is laid out and what depends on what;
and what its own rules are, from its contributing guide, linters and the code itself.{others}

Then write it: at most 60 lines of Markdown, commands in code blocks as they are typed here, one line for each rule. Leave out
what every programmer knows, what the file listing shows, and everything that you have not seen in this repository.{kept}"""


def _init(chat: Chat, rest: str) -> SlashReply:
    root = chat.workshop.root
    exists = (root / _FILE).is_file()
    others = [name for name in _OTHERS if (root / name).is_file()]
    prompt = _ASKED.format(
        deed="Improve" if exists else "Write",
        file=_FILE,
        others=f" Take over what still holds from {', '.join(others)}." if others else "",
        kept=" Keep what is in the file and still true; say afterwards what you changed." if exists else "",
    )
    wish = f"\n\nThe user adds: {rest}" if rest else ""
    return SlashReply(text=f"The agent looks at the project and writes {_FILE}.", action="say", prompt=prompt + wish)


COMMANDS = (
    SlashCommand(
        name="init", usage="[what to mind]", summary="Let the agent write AGENTS.md for this project.", run=_init
    ),
)
