"""`agentforge refactor`: rename, move and delete Python code or change its parameters, by syntax tree and without a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from agentforge.app.refactoring.refactor_run import Refactoring, TestResult, apply, as_task, planned, tested
from agentforge.app.tasks.runs import start
from agentforge.app.tasks.start_options import StartOptions
from agentforge.cli.output.terminal import printable, printable_lines
from agentforge.cli.runs.follow import follow
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import Form, result_line, write_json
from agentforge.cli.startup.options import cwd_option, form_of, form_options
from agentforge.errors import UsageError
from agentforge.python_refactoring import RefactoringRequest

Command = Callable[..., Any]
_SHARED = (
    click.option(
        "--in",
        "place",
        metavar="PATH|MODULE|CLASS",
        default="",
        help="Where SYMBOL is defined, if several places define it.",
    ),
    click.option("--dry-run", is_flag=True, help="Show the diff and change nothing."),
    click.option("--apply", "apply_here", is_flag=True, help="Change your checkout as it is, if all tests still pass."),
    click.option("--tests", multiple=True, metavar="PATH", help="Tests of yours that show the change. Repeatable."),
    click.option("--base", metavar="REV", help="Start from this revision instead of HEAD."),
    cwd_option,
    form_options,
)


def _shared(command: Command) -> Command:
    """Add the options that every refactoring has."""
    for add in reversed(_SHARED):
        command = add(command)
    return command


@click.group(
    epilog="""\b
Examples:
  agentforge refactor rename shout yell
  agentforge refactor move parse_args cli/arguments.py --apply
  agentforge refactor delete legacy.py --dry-run
  agentforge refactor signature render --add "indent: int = 2"
"""
)
def refactor() -> None:
    """Rename, move or delete Python code, or change parameters, with every place that uses it; no model is asked.

    The result is a verified branch, like that of `start`. With --apply your checkout is changed instead, after the tests
    passed with the change in a fresh checkout. AgentForge refuses what the syntax tree alone cannot decide, and names
    the places.
    """


@refactor.command(
    epilog="""\b
Examples:
  agentforge refactor rename shout yell
  agentforge refactor rename Cart.total Cart.amount --apply
  agentforge refactor rename parse read --in src/app/config.py --dry-run
"""
)
@click.argument("symbol")
@click.argument("new_name")
@_shared
def rename(symbol: str, new_name: str, **given: Any) -> int:
    """Give the function, class, method or constant SYMBOL the name NEW_NAME, in imports, uses, `__all__` and entry points.

    Exit codes: 0 done, 2 refused, 3 a human is asked, 4 a test no longer passes.
    """
    owner, _, last = new_name.rpartition(".")
    if owner and owner != symbol.rpartition(".")[0]:
        raise UsageError(f"{new_name} is in another class than {symbol}", hint="use `refactor move` to move code")
    return _carry_out(RefactoringRequest(what="rename", names=(symbol,), place=given["place"], new=last), given)


@refactor.command(
    epilog="""\b
Examples:
  agentforge refactor move shout voice.py --new
  agentforge refactor move Cart Item shop/models.py --apply
  agentforge refactor move Cart shop.models --reexport --json
"""
)
@click.argument("symbols", nargs=-1, required=True, metavar="SYMBOL...")
@click.argument("module")
@click.option("--new", "fresh", is_flag=True, help="MODULE does not exist yet.")
@click.option("--reexport", is_flag=True, help="The old module keeps offering what was moved.")
@_shared
def move(symbols: tuple[str, ...], module: str, fresh: bool, reexport: bool, **given: Any) -> int:
    """Move the definitions SYMBOL... to MODULE, a path or a dotted name, with what they import.

    Exit codes: 0 done, 2 refused, 3 a human is asked, 4 a test no longer passes.
    """
    wanted = RefactoringRequest(
        what="move", names=symbols, place=given["place"], target=module, fresh=fresh, reexport=reexport
    )
    return _carry_out(wanted, given)


@refactor.command(
    epilog="""\b
Examples:
  agentforge refactor delete mumble
  agentforge refactor delete src/legacy.py --apply
  agentforge refactor delete Cart.empty --dry-run
"""
)
@click.argument("symbols", nargs=-1, required=True, metavar="SYMBOL...")
@_shared
def delete(symbols: tuple[str, ...], **given: Any) -> int:
    """Delete the definitions or files SYMBOL..., their imports, and the tests that test nothing else; refused if still used.

    Exit codes: 0 done, 2 refused, 3 a human is asked, 4 a test no longer passes.
    """
    return _carry_out(RefactoringRequest(what="delete", names=symbols, place=given["place"]), given)


@refactor.command(
    epilog="""\b
Examples:
  agentforge refactor signature render --add "indent: int = 2"
  agentforge refactor signature shout --rename text=words --apply
  agentforge refactor signature Voice.shout --drop loud
  agentforge refactor signature draw --sort
"""
)
@click.argument("function")
@click.option("--add", metavar="NAME[:TYPE]=DEFAULT", help="Add a parameter; every call gets the default.")
@click.option("--keyword-only", is_flag=True, help="With --add: it can be passed by its name only.")
@click.option(
    "--rename", "renamed", metavar="OLD=NEW", help="Rename a parameter, in every call that passes it by name."
)
@click.option("--drop", metavar="NAME", help="Remove a parameter that the function does not use, and its arguments.")
@click.option("--sort", "sort", is_flag=True, help="Sort the keyword-only parameters by name.")
@click.option("--order", metavar="A,B,...", help="Put the keyword-only parameters into this order.")
@_shared
def signature(function: str, **given: Any) -> int:
    """Change the parameters of FUNCTION (name, Class.method, or Class for its `__init__`) and every call of it.

    Exit codes: 0 done, 2 refused, 3 a human is asked, 4 a test no longer passes.
    """
    chosen = [name for name in ("add", "renamed", "drop", "sort", "order") if given[name]]
    if len(chosen) != 1:
        raise UsageError("name one change of the signature", hint="--add, --rename, --drop, --sort or --order")
    return _carry_out(_signature(function, chosen[0], given), given)


def _signature(function: str, chosen: str, given: dict[str, Any]) -> RefactoringRequest:
    names, place = (function,), given["place"]
    if chosen == "add":
        head, sign, default = given["add"].partition("=")
        name, _, annotation = head.partition(":")
        if not sign:
            raise UsageError(
                f"--add {given['add']}: a new parameter needs a default", hint='such as --add "indent: int = 2"'
            )
        return RefactoringRequest(
            what="add",
            names=names,
            place=place,
            parameter=name.strip(),
            annotation=annotation.strip(),
            default=default.strip(),
            keyword_only=given["keyword_only"],
        )
    if chosen == "renamed":
        old, sign, new = given["renamed"].partition("=")
        if not (old and sign and new):
            raise UsageError(f"--rename {given['renamed']}: write OLD=NEW")
        return RefactoringRequest(what="rename", names=names, place=place, parameter=old.strip(), new=new.strip())
    if chosen == "drop":
        return RefactoringRequest(what="drop", names=names, place=place, parameter=given["drop"])
    order = tuple(part.strip() for part in (given["order"] or "").split(",") if part.strip())
    return RefactoringRequest(what="order", names=names, place=place, order=order)


def _carry_out(wanted: RefactoringRequest, given: dict[str, Any]) -> int:
    """Show the change, then test and apply it, or start the run that delivers it."""
    form = form_of(given["output_format"], as_json=given["as_json"])
    if given["apply_here"] and (given["base"] or given["tests"]):
        raise UsageError("--apply changes the checkout as it is", hint="leave --base and --tests out")
    place = open_place(given["cwd"])
    options = StartOptions(request="", cwd=place.cwd, base=given["base"], tests=given["tests"])
    here = bool(given["apply_here"])
    change = planned(wanted, options, as_they_are=here, settings=place.settings, environ=place.environ)
    if form == "text":
        click.echo("\n".join(printable_lines(change.diff)))
    if given["dry_run"]:
        return _told(change, form, result=None, applied=False)
    if here:
        result = tested(change, settings=place.settings)
        apply(change)
        return _told(change, form, result=result, applied=True)
    return _deliver(change, options, place=place, form=form)


def _deliver(change: Refactoring, options: StartOptions, *, place: Place, form: Form) -> int:
    task = as_task(change, options)
    return follow(
        lambda watch: start(task, settings=place.settings, environ=place.environ, watch=watch), place=place, form=form
    )


def _told(change: Refactoring, form: Form, *, result: TestResult | None, applied: bool) -> int:
    if form != "text":
        value = {**change.value(), "applied": applied, "tests": result.value() if result is not None else None}
        write_json(result_line(value, form=form), form=form)
        return 0
    verb = "changed" if applied else "would change"
    files = len(change.plan.files)
    click.echo(f"{printable(change.plan.told)}: {verb} {files} {'file' if files == 1 else 'files'}")
    if result is not None:
        failing = f", {len(result.failing)} failed before and still fail" if result.failing else ""
        click.echo(f"tests: {result.passed} pass{failing}" if not result.problems else f"tests: {result.problems[0]}")
    return 0
