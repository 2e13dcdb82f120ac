"""Secrets that stand in files, in the shapes of their vendors. Tests are full of made-up ones: there they are notes."""

from __future__ import annotations

from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site
from agentforge.safety.text.redaction import secret_lines
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import read_source


def _skip(site: Site) -> str | None:
    return None if site.paths else "no file to look at"


def _run(site: Site) -> list[Finding]:
    return [
        Finding(
            check="secrets",
            rule_id=kind,
            level="note" if is_test_path(path) else "error",
            message=f"a secret ({kind}) stands in the file",
            path=path,
            line=line,
            hint="take it out of the file and of the history, and revoke it; read it from the environment",
        )
        for path in site.paths
        if (text := read_source(site.checkout, path)) is not None
        for line, kind in secret_lines(text)
    ]


CHECK = Check(name="secrets", skip=_skip, run=_run)
