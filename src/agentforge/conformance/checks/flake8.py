"""The project's own flake8, when the project configures it and its interpreter has it."""

from __future__ import annotations

from agentforge.conformance.engine.configuration import ini_section
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site, crash_of, has_module, not_installed

_FORMAT = "%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s"


def _skip(site: Site) -> str | None:
    if not site.python_paths:
        return "no Python file among the changed files"
    if all(ini_section(site.checkout / name, "flake8") is None for name in (".flake8", "setup.cfg", "tox.ini")):
        return "the project does not configure flake8"
    if not has_module(site, "flake8"):
        raise not_installed("the project's interpreter has no flake8", check="flake8")
    return None


def _run(site: Site) -> list[Finding]:
    command = [str(site.interpreter), "-I", "-m", "flake8", f"--format={_FORMAT}", "--jobs=1", "--exit-zero"]
    done = site.run_project([*command, "--", *site.python_paths])
    if done.exit_code != 0:
        raise crash_of(done)
    rows = [line.split("\t", 4) for line in done.text.splitlines() if line]
    if any(len(row) != 5 for row in rows):
        raise crash_of(done)
    return [
        Finding(
            check="flake8",
            rule_id=code,
            level="error",
            message=message,
            path=site.relative(path),
            line=int(line),
            column=int(column),
        )
        for path, line, column, code, message in rows
    ]


CHECK = Check(name="flake8", skip=_skip, run=_run)
