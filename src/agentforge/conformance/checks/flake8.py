"""The project's own flake8, when the project configures it and its interpreter has it."""

from __future__ import annotations

from agentforge.conformance.engine.configuration import ini_section
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site, crash_of, needs_module, skipping

_FORMAT = "%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s"


def _configured(site: Site) -> bool:
    return any(ini_section(site.checkout / name, "flake8") is not None for name in (".flake8", "setup.cfg", "tox.ini"))


def _run(site: Site) -> list[Finding]:
    command = [str(site.interpreter), "-I", "-m", "flake8", f"--format={_FORMAT}", "--jobs=1", "--exit-zero"]
    done = site.run_project([*command, "--", *site.python_paths])
    if done.exit_code != 0:
        raise crash_of(done)
    rows = [line.split("\t", 4) for line in done.text.splitlines() if line]
    if any(len(row) != 5 for row in rows):
        raise crash_of(done)
    return [
        site.finding("flake8", code, message, path, int(line), int(column))
        for path, line, column, code, message in rows
    ]


CHECK = Check(name="flake8", skip=skipping("flake8", configured=_configured, there=needs_module("flake8")), run=_run)
