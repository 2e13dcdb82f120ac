"""Import floors: the project's own import-linter contracts, when it configures them and its interpreter has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from agentforge.conformance.engine.configuration import any_file, ini_section, tool_table
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site, crash_of, needs_module, skipping

_PROGRAM = Path(__file__).parents[1] / "programs" / "import_program.py"
_ROOTS = ("", "src/", "lib/")


def _configured_in(site: Site) -> str | None:
    if any_file(site.checkout, (".importlinter",)):
        return ".importlinter"
    if tool_table(site.checkout, "importlinter") is not None:
        return "pyproject.toml"
    return "setup.cfg" if ini_section(site.checkout / "setup.cfg", "importlinter") is not None else None


def _run(site: Site) -> list[Finding]:
    done = site.run_project([str(site.interpreter), "-I", "-c", _PROGRAM.read_text("utf-8")])
    if done.exit_code != 0:
        raise crash_of(done)
    return list(_findings(site, json.loads(done.output)))


def _findings(site: Site, broken: list[dict[str, object]]) -> Iterator[Finding]:
    """One finding per import that breaks a contract; a contract that names none is told where it stands."""
    for contract in broken:
        name, imports = str(contract["name"]), contract["imports"]
        places = [(_path_of(site, str(one[0])), one) for one in imports] if isinstance(imports, list) else []
        for path, (importer, imported, line) in places:
            message = f"{name}: {importer} must not import {imported}"
            yield _finding(name, message, path=path or str(_configured_in(site)), line=line if path else 0)
        if not places:
            yield _finding(name, f"{name}: the contract is broken", path=str(_configured_in(site)), line=0)


def _finding(name: str, message: str, *, path: str, line: int) -> Finding:
    words = "-".join("".join(sign if sign.isalnum() else " " for sign in name.lower()).split())
    return Finding(check="imports", rule_id=words, level="error", message=message, path=path, line=line)


def _path_of(site: Site, module: str) -> str | None:
    """The file of a module; None when it lies in no usual place."""
    stem = module.replace(".", "/")
    for root in _ROOTS:
        for path in (f"{root}{stem}.py", f"{root}{stem}/__init__.py"):
            if (site.checkout / path).is_file():
                return path
    return None


_THERE = needs_module("importlinter", name="import-linter", check="imports")
CHECK = Check(name="imports", skip=skipping("import-linter", configured=_configured_in, there=_THERE), run=_run)
