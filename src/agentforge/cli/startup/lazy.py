"""The table of commands and the group that imports a command only when it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from agentforge.cli.startup.flag import Command, help_flag, option, work_mode_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Mapping[str, tuple[str, str]] = {
    "start": ("tasks.start:start", "Turn a request into a verified branch."),
    "run": ("sessions.run:run", "Send one prompt to the agent and print its answer."),
    "status": ("tasks.status:status", "Show the tasks of this repository or of all, or one of them."),
    "sessions": ("sessions.sessions:sessions", "List, show, search, rename, fork and delete the agent's sessions."),
    "export": ("sessions.sessions:export", "Write a session as Markdown, HTML or JSON."),
    "report": ("sessions.sessions:report", "Show the report of a session."),
    "resume": ("tasks.resume:resume", "Continue a task that was interrupted or was waiting."),
    "fetch": ("tasks.fetch:fetch", "Fetch tasks that another machine pushed to the remote."),
    "abort": ("tasks.resume:abort", "End a task for good."),
    "escalations": ("tasks.escalations:escalations", "List and show the questions that wait for a human."),
    "resolve": ("tasks.resolve:resolve", "Answer, approve, reject or abort an escalation."),
    "notify": ("tasks.notify:notify", "Send reminders and held-back messages, and apply deadlines."),
    "inspect": ("history.inspect:inspect", "Look into a task: contexts, actions, diffs, events."),
    "replay": ("history.replay:replay", "Play a task again from its record, or apply its changes elsewhere."),
    "fork": ("tasks.fork:fork", "Make a new task that begins at a step of another one."),
    "compare": ("history.compare:compare", "Show two tasks side by side."),
    "cost": ("history.cost:cost", "Show tokens and money by stage, model and attempt."),
    "metrics": ("history.metrics:metrics", "Show how the tasks of this repository went."),
    "dashboard": ("servers.dashboard:dashboard", "Show tasks live in a browser, and answer their questions."),
    "acp": ("servers.acp:acp", "Serve an editor (Agent Client Protocol)."),
    "mcp": ("servers.mcp:mcp", "Add and list MCP servers, or serve the tasks to other agents."),
    "pr": ("tasks.pr:pr", "Open the pull request of a delivered task, or show its CI results."),
    "continue": ("tasks.pr:go_on", "Answer the review or the failed CI of a pull request with a new delivery."),
    "mark": ("tasks.mark:mark", "Say that a delivery needed rework or had a defect."),
    "verify": ("proof.verify:verify", "Check that the record of a task, branch or bundle is true."),
    "audit": ("proof.audit:audit", "Write one document about a task: md, html, pdf or json."),
    "bundle": ("proof.bundle:bundle", "Pack a task into one file that can be verified anywhere."),
    "keys": ("proof.keys:keys", "Make, list and show the keys that sign deliveries."),
    "gc": ("tasks.gc:gc", "Remove worktrees and old runs that are not needed any more."),
    "repo": ("tasks.repo:repo", "List and name the repositories that you work on."),
    "worker": ("fleet.worker:worker", "Work on the tasks in the queue."),
    "queue": ("fleet.queue:queue", "Show and change the queue that the workers share."),
    "watch": ("fleet.watch:watch", "Start a task for every request file that appears in a folder."),
    "serve-webhook": ("fleet.webhook:serve_webhook", "Start tasks from signed webhooks of issues."),
    "model": ("setup.model:model", "Download a model for this machine; list and test models."),
    "stages": ("tasks.stages:stages", "List the stages and the actions that need them."),
    "contracts": ("code.contracts:contracts", "List, show and check contracts and artifacts."),
    "conformance": (
        "code.conformance:conformance",
        "Check the repository against linters, types and its own contracts.",
    ),
    "violations": ("code.violations:violations", "List and show what the last check found."),
    "fix": ("code.fix:fix", "Repair a violation on a verified branch."),
    "refactor": ("code.refactor:refactor", "Rename, move or delete Python code by its syntax tree, without a model."),
    "init": ("setup.init:init", "Choose a model, for yourself or for a project."),
    "config": ("setup.config:config", "Show the settings, each with its origin, and change them."),
    "skills": ("setup.skills:skills", "List skills, or check one that you write."),
    "policy": ("setup.policy:policy", "Show what the agent may do here without asking, and change it."),
    "tools": ("setup.tools:tools", "List the tools that the agent can call here."),
    "trust": ("setup.trust:trust", "Decide which projects may load their own hooks, tools and skills."),
    "doctor": ("setup.doctor:doctor", "Check what AgentForge needs on this machine."),
    "eval": ("evaluation.evaluate:evaluate", "Measure AgentForge and models: task sets, cheats, attacks."),
    "demo": ("evaluation.demo:demo", "Run the recorded demonstration; needs no model."),
    "completion": ("setup.completion:completion", "Print the completion script of a shell."),
}
"""Command -> (area.module:attribute under cli.commands, short help)."""

_PRINT = ("--print", "-p")
APPROVAL_MODES = ("on-request", "on-failure", "auto", "auto-edit", "never", "yolo")


class LazyGroup(click.Group):
    """A group whose help and completion need nothing but the table."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `-p` for `run`, and a sentence as well where there is no terminal to stay on."""
        first = self._first_word(args)
        word = args[first] if first < len(args) else ""
        printed = any(one in _PRINT for one in (args[:first] if word in COMMANDS else args))
        if printed or (_is_said(word) and not _on_terminal()):
            args = ["run", *(one for one in args if one not in _PRINT)]
        return super().parse_args(ctx, args)

    def _first_word(self, args: list[str]) -> int:
        """Where the first word stands that is neither an option nor the value of one; behind the end where there is none."""
        valued = {name for one in self.params if isinstance(one, click.Option) and not one.is_flag for name in one.opts}
        place = 0
        while place < len(args) and args[place].startswith("-"):
            place += 2 if args[place] in valued else 1
        return place

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(f"agentforge.cli.commands.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Give `--help`."""
        return help_flag(tuple(sorted(self.get_help_option_names(ctx), key=len)))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, without importing one."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; an unknown one is answered with the nearest."""
        name = args[0]
        if _is_said(name):
            return name, _begin_with(ctx), args
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f" - did you mean `agentforge {near[0]}`?" if near else ""
            raise click.UsageError(f"unknown command {name!r}{hint}", ctx=ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`agentforge COMMAND --help` shows options and examples. `agentforge demo` plays a whole run.",
)
@option("--version", "-V", is_flag=True, help="Print the version.")
@option("--model", metavar="PROVIDER/NAME", help="Ask this model.")
@work_mode_option
@option("--approval", type=click.Choice(APPROVAL_MODES), help="What the agent may do without asking you.")
@option("--resume", "-r", "session", metavar="ID", help="Continue this session.")
@option("--continue", "-c", "last", is_flag=True, help="Continue the last session of this folder.")
@option("--cwd", metavar="DIR", help="Work in this folder.")
@option("--plain", is_flag=True, help="Work line by line instead of on the screen.")
@option(*_PRINT, is_flag=True, expose_value=False, help="Print the answer and leave: the same as `agentforge run`.")
@click.pass_context
def agentforge(ctx: click.Context, /, version: bool, **given: Any) -> int | None:
    """Turn a request into a verified branch, with proof. Without a command, open the interactive agent.

    On a terminal, the agent opens the screen; in a pipe, every line is a message to it. A sentence in quotes in the place of
    a command is the first message. The options below are for the agent; each command has options of its own.
    """
    if version:
        from agentforge import __version__

        click.echo(f"agentforge {__version__}")
        return None
    if ctx.invoked_subcommand is not None and not _is_said(ctx.invoked_subcommand):
        _only_for_the_agent(ctx)
        return None
    if ctx.invoked_subcommand is not None:
        return None
    from agentforge.cli.runs.chat_loop import nothing_to_read, talk

    if nothing_to_read():
        click.echo(ctx.get_help())
        return None
    return talk(given)


def _is_said(name: str) -> bool:
    """Whether the first word is a sentence: a message to the agent and no command."""
    return len(name.split()) > 1 and name not in COMMANDS


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _begin_with(ctx: click.Context) -> click.Command:
    """The command that begins a conversation with a sentence; the options of the agent stand before it or behind it."""

    def begin(**given: Any) -> int:
        from agentforge.cli.runs.chat_loop import talk

        return talk({**ctx.params, **{name: value for name, value in given.items() if value}})

    options = [one for one in ctx.command.params if one.name not in ("version", "print")]
    return Command("agentforge", params=[*options, click.Argument(["prompt"])], callback=begin)


def _only_for_the_agent(ctx: click.Context) -> None:
    """An option before a command would be lost; say so."""
    given = [
        option.opts[0]
        for option in ctx.command.params
        if option.name and ctx.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(
            f"{given[0]} stands before the command - write: agentforge {ctx.invoked_subcommand} ... {given[0]}", ctx=ctx
        )
