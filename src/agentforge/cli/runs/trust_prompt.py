"""Asking once, at the terminal, whether what a project would run may be used."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

import click

from agentforge.cli.output.terminal import printable
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.config.paths import project_tops
from agentforge.config.steering_files import OF_A_CONVERSATION, OF_A_TASK, OF_OTHER_AGENTS
from agentforge.config.trust import Trust, TrustChange, decline, grant, is_declined, require_trust, trusted
from agentforge.store.log.records import utc_now

_KINDS = {
    "mcp": "MCP servers",
    "environment": "variables",
    "protection": "protects less than your settings",
    "hook": "a hook: runs by itself",
    "settings": "subagents",
}
"""What the kinds mean whose name does not say it."""
_SHOWN, _SHOWN_BYTES = 40, 20_000
_WORDS = {"new": "+", "changed": "~", "removed": "-"}


def ensure_trust(place: Place, *, given: bool, kinds: Collection[str] | None = OF_A_TASK) -> Place:
    """See to it that the project may be used: trusted already, by `--trust`, or by the person at the terminal.

    Returns:
        The place, with the settings that hold now.
    Raises:
        TrustRequired: nobody is there to ask, or the answer was no; names the files.
    Side effects: prompts; records the trust that was given.
    """
    granted = False
    for top in tops_of(place):
        trust = trusted(top, place.environ, kinds=kinds)
        if trust.holds(kinds) and not (given and trust.pending({"protection"})):
            continue
        if given or (_somebody_is_here() and _agreed(trust)):
            grant(trust, place.environ, now=utc_now())
            granted = True
        else:
            require_trust(top, place.environ, kinds=kinds)
    return open_place(str(place.cwd), flags=place.flags) if granted else place


def offer_trust(place: Place, *, given: bool = False) -> Place:
    """Ask before a conversation whether what the project brings may be used; without it the conversation goes on, too.

    Args:
        given: by `--trust`: nobody is asked.
    Returns:
        The place, with the settings that hold now.
    Side effects: prompts, once for the same bytes; records the answer.
    """
    granted = False
    for top in tops_of(place):
        waiting = trusted(top, place.environ, kinds=("mcp",)).pending((*OF_A_CONVERSATION, "protection"))
        if all(one.name in OF_OTHER_AGENTS for one in waiting):
            continue
        found = trusted(top, place.environ)
        if not given and (not _somebody_is_here() or is_declined(found, place.environ)):
            continue
        if given or _agreed(found):
            grant(found, place.environ, now=utc_now())
            granted = True
        else:
            decline(found, place.environ)
    return open_place(str(place.cwd), flags=place.flags) if granted else place


def show(trust: Trust) -> None:
    """Print what is new, changed or gone since the project was trusted."""
    for one in trust.changes:
        click.echo(
            f"  {_WORDS[one.what]} {printable(one.name)}"
            + (f"  ({_KINDS.get(one.kind, one.kind)})" if one.kind else "")
        )


def tops_of(place: Place) -> tuple[Path, ...]:
    """The folders from which something of the project is loaded: the repository's top and that of its settings."""
    return project_tops(place.cwd, place.environ)


def _agreed(trust: Trust) -> bool:
    changed = "changed since you trusted it" if trust.since else "brings things that you have not agreed to"
    click.echo(f"{printable(str(trust.project))} {changed}:")
    show(trust)
    while True:
        words = "They can run programs and steer the agent. Use them? [y/N, s shows what is in them]"
        answer = str(click.prompt(words, default="n", show_default=False)).strip().lower()
        if answer in ("y", "yes", "n", "no"):
            return answer.startswith("y")
        if answer in ("s", "show"):
            for one in trust.changes:
                _show_inside(trust.project, one)


def _show_inside(project: Path, one: TrustChange) -> None:
    """Print what stands in a file of the project; of its variables only the names."""
    name = one.name.partition(": ")[0]
    if one.what == "removed":
        return
    lines = (project / name).read_bytes()[:_SHOWN_BYTES].decode("utf-8", "replace").splitlines()
    if one.kind == "environment":
        lines = [f"{line.partition('=')[0]}=..." for line in lines if "=" in line]
    more = [f"... {len(lines) - _SHOWN} lines more"] if len(lines) > _SHOWN else []
    click.echo("\n".join([f"--- {printable(name)}", *(printable(line) for line in lines[:_SHOWN]), *more]))


def _somebody_is_here() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
