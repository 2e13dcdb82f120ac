"""`agentforge policy`: what would be allowed, asked or refused here, and why; nothing is run."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path

import click

from agentforge.cli.output.terminal import printable, shown_table
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.paths import home_dir, project_top
from agentforge.config.permissions import mode_of, permission_rules, remember_rule
from agentforge.errors import UsageError
from agentforge.safety.policy.decision import Decision, decide_command
from agentforge.safety.policy.modes import MODE_MEANING, TABLE, Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.policy.permission import RULE_DAYS
from agentforge.safety.policy.suggestion import suggest
from agentforge.safety.shell.programs.classes import MEANING
from agentforge.toolbox import find, names
from agentforge.tools.base import ToolError
from agentforge.tools.dispatch.approval import decide_tool
from agentforge.tools.dispatch.arguments import check_arguments, parse_arguments

_EXIT = {"allow": 0, "ask": 3, "deny": 4}


@click.group(
    epilog="""\b
Rules stand in your settings, deny before ask before allow:
  [permissions]
  allow = ["shell(npm run *)", "web_fetch(domain:docs.python.org)"]
  ask   = ["shell(git push *)"]
  deny  = ["read_file(.env)", "shell(curl *) until 2027-01-31"]
\b
Examples:
  agentforge policy test 'git log --oneline | head'
  agentforge policy modes
  agentforge policy rules
  agentforge policy add allow 'shell(npm run *)'
"""
)
def policy() -> None:
    """Explain what may be done here without a question, and change it by rules."""


@policy.command(
    epilog="""\b
Exit codes: 0 allow, 3 ask, 4 deny.
\b
Examples:
  agentforge policy test 'rm -rf build'
  agentforge policy test 'npm test && git push' --mode auto --json
  agentforge policy test --tool read_file --arguments '{"path": ".env"}'
"""
)
@click.argument("command", required=False)
@click.option("--tool", help="Another tool than shell; pass its arguments with --arguments.")
@click.option("--arguments", metavar="JSON", default="{}", show_default=True, help="The arguments of --tool.")
@click.option("--mode", help="The mode to decide in; the setting `approval` when left out.")
@cwd_option
@json_option
def test(
    command: str | None, tool: str | None, arguments: str, mode: str | None, cwd: str | None, as_json: bool
) -> int:
    """Say what AgentForge would do with a shell command or another tool's call, part by part."""
    if (command is None) == (tool is None):
        raise UsageError("give a command or --tool", hint="agentforge policy test 'git status'")
    policy_here = policy_of(open_place(cwd), mode)
    decision = decide_command(command, policy_here) if command is not None else _of_tool(tool, arguments, policy_here)
    offers = suggest(command, policy_here) if command is not None else ()
    if as_json:
        write_json({**decision.value(), "suggestions": [offer.value() for offer in offers]})
        return _EXIT[decision.verdict]
    rows = [
        (part.verdict.value, part.kind.value, printable(part.text), printable(part.rule or part.reason))
        for part in decision.parts
    ]
    click.echo(f"{decision.verdict.value} in mode {decision.mode.value}")
    if rows:
        click.echo(shown_table(rows, head=("VERDICT", "CLASS", "PART", "WHY")))
    for offer in offers:
        click.echo(f"to allow it until {offer.until}: agentforge policy add allow {shlex.quote(offer.rule)}")
        click.echo(f"  would match: {'; '.join(offer.matches)}")
        click.echo(f"  would still ask: {'; '.join(offer.still_asked)}")
    return _EXIT[decision.verdict]


@policy.command(
    epilog="""\b
Examples:
  agentforge policy add allow 'shell(npm run *)'
  agentforge policy add allow 'web_fetch(domain:docs.python.org)' --days 7
  agentforge policy add deny 'shell(curl *)'
"""
)
@click.argument("verdict", type=click.Choice(["allow", "ask", "deny"]))
@click.argument("rule")
@click.option(
    "--days",
    type=click.IntRange(min=1),
    help="How many days the rule applies; by default 30 for allow, and for ever for the others.",
)
@click.option("--for-ever", is_flag=True, help="The rule applies until you remove it.")
@json_option
def add(verdict: str, rule: str, days: int | None, for_ever: bool, as_json: bool) -> int:
    """Write a RULE into your own settings; rules of a project stand in its own."""
    if days is not None and for_ever:
        raise UsageError("--days and --for-ever cannot be used together", hint="give one of them")
    if ")" in rule and rule.rpartition(")")[2].strip():
        raise UsageError(f"{rule!r} already has an end", hint="write the rule alone, and --days N")
    usual = RULE_DAYS if verdict == "allow" and not for_ever else None
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    environ = open_place(None).environ
    written = remember_rule(rule, Consent(verdict), environ=environ, now=now, days=days or usual)
    if as_json:
        write_json(
            {"rule": written.written, "verdict": verdict, "until": written.expires or None, "file": written.origin}
        )
    else:
        until = f" until {written.expires}" if written.expires else ""
        click.echo(f"{verdict} {written.written}{until}, in {written.origin}")
    return 0


def _of_tool(name: str | None, arguments: str, policy_here: Policy) -> Decision:
    """Decide about a call of a tool.

    Raises:
        UsageError: no such tool, or arguments that it does not take.
    """
    if name not in names():
        raise UsageError(f"there is no tool {name!r}", hint=f"one of {', '.join(names())}")
    found = find((name,))[name]
    try:
        given = parse_arguments(found, arguments)
        check_arguments(found, given)
    except ToolError as exc:
        raise UsageError(exc.observation.summary, hint=exc.observation.text.splitlines()[-1]) from exc
    return decide_tool(found, given, policy_here)


@policy.command(
    epilog="""\b
Examples:
  agentforge policy modes
  agentforge policy modes --json
"""
)
@json_option
def modes(as_json: bool) -> int:
    """Show what each mode allows, asks about and refuses."""
    if as_json:
        write_json(
            {mode.value: {kind.value: verdict.value for kind, verdict in row.items()} for mode, row in TABLE.items()}
        )
        return 0
    rows = [(kind.value, *(TABLE[mode][kind].value for mode in Mode)) for kind in MEANING]
    click.echo(shown_table(rows, head=("CLASS", *(mode.value for mode in Mode))))
    click.echo()
    click.echo(shown_table(list(MEANING.items()), head=("CLASS", "MEANING")))
    click.echo()
    click.echo(shown_table(list(MODE_MEANING.items()), head=("MODE", "MEANING")))
    return 0


@policy.command(
    epilog="""\b
Examples:
  agentforge policy rules
  agentforge policy rules --json
"""
)
@cwd_option
@json_option
def rules(cwd: str | None, as_json: bool) -> int:
    """List the rules that apply here, the strictest first, each with its place."""
    policy_here = policy_of(open_place(cwd), None)
    order = ("deny", "ask", "allow")
    found = sorted(policy_here.rules, key=lambda rule: order.index(rule.verdict.value))
    if as_json:
        write_json(
            [
                {"verdict": one.verdict.value, "rule": one.written, "expires": one.expires, "origin": one.origin}
                for one in found
            ]
        )
        return 0
    if not found:
        click.echo("no rules: the mode alone decides (see `agentforge policy modes`)")
        return 0
    rows = [(one.verdict.value, one.written, one.expires or "-", one.origin) for one in found]
    click.echo(shown_table(rows, head=("VERDICT", "RULE", "UNTIL", "ORIGIN")))
    return 0


def policy_of(place: Place, mode: str | None) -> Policy:
    """The policy that holds in a place.

    Raises:
        ConfigError: an unknown mode, a rule that cannot be read.
    """
    root = (project_top(place.cwd, place.environ) or place.cwd).resolve()
    ground = PathPolicy(
        root=str(root), folder=str(place.cwd.resolve()), home=str(home_dir(place.environ)), real=real_path
    )
    return Policy(
        mode=mode_of(place.settings, mode),
        rules=permission_rules(place.settings),
        ground=ground,
        now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def real_path(path: str) -> str:
    """Resolve the links of an absolute path; what does not exist stays as it is written."""
    return str(Path(path).resolve())
