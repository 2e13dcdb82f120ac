"""`agentforge completion`: the script that teaches a shell our commands and flags."""

from __future__ import annotations

import click

from agentforge.cli.startup.lazy import agentforge


@click.command(
    epilog="""\b
Examples:
  eval "$(agentforge completion bash)"
  agentforge completion zsh > ~/.zfunc/_agentforge
  agentforge completion fish > ~/.config/fish/completions/agentforge.fish
"""
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the completion script for SHELL."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # the three shells are click's own
    click.echo(kind(agentforge, {}, "agentforge", "_AGENTFORGE_COMPLETE").source())
    return 0
