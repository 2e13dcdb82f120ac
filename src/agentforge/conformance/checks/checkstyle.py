"""checkstyle, when the project brings its configuration: `checkstyle.xml` at the top or in `config/checkstyle`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.conformance.engine.finding import Finding, level_of
from agentforge.conformance.engine.site import Check, CheckCrashedError, Site, crash_of, not_installed, skipping
from agentforge.conformance.programs.checkers import on_path

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CONFIGS = ("checkstyle.xml", "config/checkstyle/checkstyle.xml", "config/checkstyle.xml")
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def _config(site: Site) -> str:
    return next((name for name in _CONFIGS if (site.checkout / name).is_file()), "")


def _there(_site: Site) -> None:
    if not on_path("checkstyle"):
        raise not_installed("checkstyle is not on PATH", check="checkstyle")


def _run(site: Site) -> list[Finding]:
    done = site.run_project(["checkstyle", "-c", _config(site), "-f", "xml", *site.paths_with(".java")])
    found = list(_findings(site, done.output)) if b"<checkstyle" in done.output else None
    if found is None or (done.exit_code != 0 and not any(one.level == "error" for one in found)):
        raise crash_of(done)
    return found


def _findings(site: Site, output: bytes) -> Iterator[Finding]:
    from xml.etree import ElementTree

    text = output[output.index(b"<checkstyle") : output.rfind(b"</checkstyle>") + len(b"</checkstyle>")]
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as exc:
        raise CheckCrashedError(f"checkstyle printed no XML that can be read: {exc}") from exc
    for file in root.iter("file"):
        for error in file.iter("error"):
            yield _finding(site, file.get("name", ""), error)


def _finding(site: Site, path: str, error: Element) -> Finding:
    rule = error.get("source", "").rpartition(".")[2].removesuffix("Check") or "error"
    place = (path, int(error.get("line") or 0), int(error.get("column") or 0))
    level = level_of(_LEVELS.get(error.get("severity", "error"), "error"))
    return site.finding("checkstyle", rule, error.get("message", ""), *place, level=level)


CHECK = Check(
    name="checkstyle", skip=skipping("checkstyle", (".java",), "Java file", configured=_config, there=_there), run=_run
)
