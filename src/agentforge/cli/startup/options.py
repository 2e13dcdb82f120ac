"""Flags that several commands share, and the kinds of value they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from agentforge.app.tasks.limit_changes import GivenLimits, Increase
from agentforge.cli.startup.flag import Folder, option
from agentforge.cli.startup.form import FORMS, Form
from agentforge.config.durations import parse_duration

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Bound(click.ParamType[object]):
    """A number greater than zero, "none" for no bound, or an increase such as +5 where a task has a limit already.

    Args:
        kind: int for things that are counted, float for money.
    """

    def __init__(self, kind: type[int] | type[float], *, increase: bool = False) -> None:
        self.kind = kind
        self.name = "n" if kind is int else "usd"
        self.increase = increase

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Read the number; "none" stays a word, as in the settings."""
        if value == "none" or isinstance(value, Increase):
            return value
        if self.increase and str(value).startswith("+"):
            return Increase(by=float(str(self._number(str(value)[1:], param, ctx))))
        return self._number(value, param, ctx)

    def _number(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        if str(value).startswith("+"):
            self.fail(f"{value!r}: there is nothing to add to; write the limit itself", param, ctx)
        try:
            number = self.kind(str(value))
        except ValueError:
            number = self.kind(0)
        if not 0 < number < float("inf"):
            self.fail(f'{value!r} is not a number greater than 0, nor "none"', param, ctx)
        return number


class Duration(click.ParamType[object]):
    """A duration such as 90, 45s, 30m, 2h or 1h30m, "none", or an increase such as +30m."""

    name = "time"

    def __init__(self, *, increase: bool = False) -> None:
        self.increase = increase

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Read the duration as seconds; "none" stays a word, as in the settings."""
        if value == "none" or isinstance(value, Increase):
            return value
        try:
            if self.increase and str(value).startswith("+"):
                return Increase(by=parse_duration(str(value)[1:]))
            return parse_duration(str(value))
        except ValueError as exc:
            self.fail(str(exc), param, ctx)


def cwd_option(command: Decorated) -> Decorated:
    """Add `--cwd`."""
    return option("--cwd", type=Folder(), metavar="DIR", help="Work in this folder instead of the current one.")(
        command
    )


def json_option(command: Decorated) -> Decorated:
    """Add `--json`."""
    return option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def form_options(command: Decorated) -> Decorated:
    """Add `--output-format` and `--json`; read them with `form_of`."""
    command = option("--json", "as_json", is_flag=True, help="Same as --output-format json.")(command)
    return option(
        "--output-format",
        type=click.Choice(FORMS),
        default="text",
        show_default=True,
        help="Text, one JSON object at the end, or one JSON line per event.",
    )(command)


def trust_option(command: Decorated) -> Decorated:
    """Add `--trust`."""
    return option(
        "--trust", is_flag=True, help="Use the hooks, tools and checks that the project brings, as they are now."
    )(command)


def log_option(command: Decorated) -> Decorated:
    """Add `--log-format`; it is the setting telemetry.log_format."""
    return option(
        "--log-format",
        type=click.Choice(("text", "json")),
        help="With json, write one JSON line per event to standard error, without the words of people and models.",
    )(command)


def form_of(output_format: Form, *, as_json: bool) -> Form:
    """Combine the two flags."""
    return "json" if as_json and output_format == "text" else output_format


def limit_options(command: Decorated) -> Decorated:
    """Add the limits of a run; read them with `limits_of`."""
    return _with_limits(command, increase=False)


def raised_limit_options(command: Decorated) -> Decorated:
    """Add the limits of a run that has some already: +N raises one by N. Read them with `limits_of`."""
    return _with_limits(command, increase=True)


def _with_limits(command: Decorated, *, increase: bool) -> Decorated:
    number, money = Bound(int, increase=increase), Bound(float, increase=increase)
    for name, kind, text in reversed(
        (
            ("--max-steps", number, "Stop after this many model calls."),
            ("--budget-tokens", number, "Stop after this many prompt and completion tokens."),
            ("--budget-usd", money, "Stop after this much money; a model without a known price counts as zero."),
            (
                "--deadline",
                Duration(increase=increase),
                "Stop after this working time, such as 30m or 2h; waiting for humans does not count.",
            ),
            ("--stage-attempts", click.IntRange(min=1), "Attempts at a stage before AgentForge asks a human."),
            ("--usd-per-minute", money, "Pause the task when a minute costs more."),
            ("--tokens-per-minute", number, "Pause the task when a minute uses more tokens."),
        )
    ):
        command = option(name, type=kind, help=text)(command)
    return command


def limits_of(values: Mapping[str, Any]) -> dict[str, int | float | Increase | None]:
    """Pick the limits that were given, under the names of `events.state.Limits`; "none" becomes None."""
    names = {
        "max_steps": "max_steps",
        "budget_tokens": "budget_tokens",
        "budget_usd": "budget_usd",
        "deadline": "deadline_s",
        "stage_attempts": "attempts",
        "usd_per_minute": "usd_per_minute",
        "tokens_per_minute": "tokens_per_minute",
    }
    given = {names[name]: value for name, value in values.items() if name in names and value is not None}
    return {name: None if value == "none" else value for name, value in given.items()}


def plain(limits: GivenLimits) -> dict[str, int | float | None]:
    """The limits of a run that begins: `limit_options` reads no increases."""
    return {name: value for name, value in limits.items() if not isinstance(value, Increase)}


def limit_settings(limits: GivenLimits) -> dict[str, object]:
    """The same limits as settings of the command line; an increase is none."""
    return {
        f"limits.{name.removesuffix('_s')}": "none" if value is None else value
        for name, value in limits.items()
        if not isinstance(value, Increase)
    }
