"""Where a command works: the folder, the user's environment, the settings that hold there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path

from agentforge.cli.output.terminal import printable
from agentforge.config.dotenv import merged_environment, untrusted_files
from agentforge.config.model_choice import explain, keyless_fallbacks
from agentforge.config.paths import project_top
from agentforge.config.settings import Settings, load
from agentforge.errors import ModelNotConfigured, UsageError
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What every use case needs to know about its surroundings."""

    cwd: Path
    environ: Mapping[str, str]
    settings: Settings
    flags: Mapping[str, object] = field(default_factory=dict)


def open_place(
    cwd: str | None, *, flags: Mapping[str, object] | None = None, trusting: bool = False, asks: bool = False
) -> Place:
    """Read settings and environment for work in `cwd`; say what of the project's settings waits for trust.

    Args:
        cwd: a folder; None = the current one.
        flags: settings given on the command line, dotted key -> value.
        trusting: `ensure_trust` comes next and agrees, so that nothing has to be said.
        asks: the command asks a model: what keeps a model or its key from being used is said.
    Raises:
        UsageError: no such folder.
        ConfigError: settings that are wrong.
    """
    folder = folder_of(cwd)
    environ = merged_environment(os.environ, cwd=folder)
    settings = load(folder, environ, flags=flags)
    if settings.waiting and not trusting:
        _tell_once(waiting_words(settings))
    for text in (*_unread(folder, environ), *_without_key(settings, environ)) if asks and not trusting else ():
        _tell_once(text)
    return Place(cwd=folder, environ=environ, settings=settings, flags=flags or {})


def _unread(folder: Path, environ: Mapping[str, str]) -> list[str]:
    """The `.env` files that would choose or open a model, and are not read because nobody trusts them."""
    return [
        f"{path} is not read: it sets {', '.join(names)}, and you have not trusted it. Look at it, then run `agentforge trust`"
        for path, names in untrusted_files(folder, environ)
    ]


def _without_key(settings: Settings, environ: Mapping[str, str]) -> list[str]:
    """The fallbacks that are left out of the chain."""
    if not settings.get("model.fallbacks"):
        return []
    try:
        now = explain(settings, environ).spec.provider
    except ModelNotConfigured:
        return []
    return [
        f"fallback {name} is left out: it has no key; set {key}"
        for name, key in keyless_fallbacks(settings, environ, now=now)
    ]


@cache
def _tell_once(text: str) -> None:
    sys.stderr.write(f"note: {printable(text)}\n")


def waiting_words(settings: Settings) -> str:
    """What of the project's settings does not hold, because less would be protected, and what to type."""
    named = ", ".join(f"{one.key} = {json.dumps(one.value)} ({one.origin})" for one in settings.waiting)
    return (
        f"the project sets less protection than holds without it; this is left out: {named}. Look at it, then run "
        "`agentforge trust`"
    )


def open_working_place(cwd: str | None, *, trusting: bool = False) -> Place:
    """Like `open_place`, for a conversation: without `cwd` the setting of that name says where it happens.

    A project's setting leads to a folder of this project only.
    Raises:
        UsageError: no such folder, or one outside of the project that names it.
        ConfigError: settings that are wrong.
    """
    place = open_place(cwd, trusting=trusting, asks=True)
    wanted = place.settings.text("cwd")
    if cwd or not wanted:
        return place
    base = _base_of(place, wanted)
    folder = folder_of(str(base / Path(wanted).expanduser()))
    return place if folder == place.cwd else open_place(str(folder), trusting=trusting, asks=True)


def _base_of(place: Place, wanted: str) -> Path:
    """What a relative `cwd` is relative to: the project whose settings say it, else the current folder."""
    named = next(layer for layer in reversed(place.settings.layers) if "cwd" in layer.values)
    top = project_top(place.cwd, place.environ) if named.project else None
    if top is None:
        return place.cwd
    if not (top / wanted).resolve().is_relative_to(top.resolve()):
        raise UsageError(f"{named.place(('cwd',))}: cwd {wanted!r} leads out of the project", hint="pass --cwd")
    return top


def folder_of(cwd: str | None, *, hint: str = "pass a folder to --cwd") -> Path:
    """Return the folder as an absolute path.

    Raises:
        UsageError: no such folder.
    """
    try:
        folder = Path(cwd).expanduser().resolve() if cwd else Path.cwd()
    except FileNotFoundError as exc:
        raise UsageError("the current folder was deleted", hint="change into another one") from exc
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", hint=hint)
    return folder
