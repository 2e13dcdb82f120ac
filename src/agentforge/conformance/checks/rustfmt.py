"""rustfmt: counts where the project configures it; elsewhere it is a note."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from agentforge.conformance.engine.configuration import any_file
from agentforge.conformance.engine.difference import with_difference
from agentforge.conformance.engine.finding import Finding, Level
from agentforge.conformance.engine.site import Check, Site, crash_of, not_installed
from agentforge.conformance.programs.checkers import on_path

_CONFIGS = ("rustfmt.toml", ".rustfmt.toml")
_RULE = "unformatted"


def _skip(site: Site) -> str | None:
    if not site.paths_with(".rs"):
        return "no Rust file among the changed files"
    if on_path("rustfmt"):
        return None
    if any_file(site.checkout, _CONFIGS):
        raise not_installed("rustfmt is not on PATH", check="rustfmt")
    return "rustfmt is not installed"


def _run(site: Site) -> list[Finding]:
    level: Level = "error" if any_file(site.checkout, _CONFIGS) else "note"
    message = "the file is not as `rustfmt` writes it"
    found = [
        site.finding("rustfmt", _RULE, message, path, level=level, fixable=True)
        for path in site.paths_with(".rs")
        if _formatted(site, path) != (site.checkout / path).read_bytes()
    ]
    return with_difference(site, found, _fix)


def _formatted(site: Site, path: str) -> bytes:
    """What rustfmt makes of a file alone; it is read from its input, so that modules below it are left out."""
    near = next(
        (
            one / name
            for one in PurePosixPath(path).parents
            for name in _CONFIGS
            if (site.checkout / one / name).is_file()
        ),
        None,
    )
    config = ["--config-path", str(site.top / near)] if near is not None else []
    argv = ["rustfmt", "--edition", _edition(site, path), "--emit", "stdout", *config]
    done = site.run_project(argv, stdin=(site.checkout / path).read_bytes())
    if done.exit_code != 0:
        raise crash_of(done)
    return done.output


def _edition(site: Site, path: str) -> str:
    """The edition of the nearest manifest."""
    folder = posixpath.dirname(path)
    while True:
        manifest = site.checkout / folder / "Cargo.toml"
        if manifest.is_file():
            value = tomllib.loads(manifest.read_text("utf-8", "replace"))
            told = value.get("package", {}).get("edition") or value.get("workspace", {}).get("package", {}).get(
                "edition"
            )
            if isinstance(told, str):
                return told
        if not folder:
            return "2021"
        folder = posixpath.dirname(folder)


def _fix(site: Site, findings: Sequence[Finding]) -> Mapping[str, bytes]:
    return {path: _formatted(site, path) for path in sorted({finding.path for finding in findings})}


CHECK = Check(name="rustfmt", skip=_skip, run=_run, fix=_fix)
