"""go vet, over the packages of the files that are looked at."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator
from typing import Any

from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, CheckCrashedError, Site, crash_of
from agentforge.conformance.programs.checkers import folders_with, go_cache, go_environment, on_path


def _skip(site: Site) -> str | None:
    if not folders_with(site, "go.mod", ".go"):
        return "no file of a Go module among the changed files"
    return None if on_path("go") else "go is not installed"


def _run(site: Site) -> list[Finding]:
    found: list[Finding] = []
    for module, files in folders_with(site, "go.mod", ".go").items():
        packages = sorted({f"./{posixpath.relpath(posixpath.dirname(one) or '.', module)}" for one in files})
        done = site.run_project(
            ["sh", "-c", 'cd "$1" && shift && exec go vet -json "$@"', "sh", module, *packages],
            env=go_environment(), writable=(go_cache(),),
        )  # fmt: skip
        if done.exit_code != 0:
            raise crash_of(done)
        found += [
            finding
            for value in _objects(done.text + done.stderr.decode("utf-8", "replace"))
            for finding in _findings(site, value)
        ]
    return site.within(list(dict.fromkeys(found)))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects among the lines that name packages."""
    decoder = json.JSONDecoder()
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    at = plain.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(plain, at)
        except ValueError as exc:
            raise CheckCrashedError(f"go vet printed what cannot be read: {plain[at : at + 200]}") from exc
        yield value
        at = plain.find("{", end)


def _findings(site: Site, value: dict[str, Any]) -> Iterator[Finding]:
    for analysers in value.values():
        for name, told in analysers.items():
            if not isinstance(told, list):
                raise CheckCrashedError(
                    f"go vet's {name} failed: {told.get('error', told) if isinstance(told, dict) else told}"
                )
            for one in told:
                path, line, column = str(one["posn"]).rsplit(":", 2)
                yield site.finding("govet", str(name), str(one["message"]), path, int(line), int(column), ours=True)


CHECK = Check(name="govet", skip=_skip, run=_run)
