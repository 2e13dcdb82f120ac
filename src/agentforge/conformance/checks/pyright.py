"""The project's own pyright, when the project configures it and its environment has it."""

from __future__ import annotations

import json

from agentforge.conformance.engine.configuration import any_file, tool_table
from agentforge.conformance.engine.finding import Finding, level_of
from agentforge.conformance.engine.site import Check, Site, crash_of, has_module, not_installed


def _skip(site: Site) -> str | None:
    if not site.python_paths:
        return "no Python file among the changed files"
    if tool_table(site.checkout, "pyright") is None and not any_file(site.checkout, ("pyrightconfig.json",)):
        return "the project does not configure pyright"
    if not _command(site):
        raise not_installed("the project's environment has no pyright", check="pyright")
    return None


def _command(site: Site) -> list[str]:
    if (site.mount_at / "node_modules/.bin/pyright").is_file():
        return [str(site.mount_at / "node_modules/.bin/pyright")]
    return [str(site.interpreter), "-I", "-m", "pyright"] if has_module(site, "pyright") else []


def _run(site: Site) -> list[Finding]:
    done = site.run_project([*_command(site), "--outputjson", *site.python_paths])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    return [
        Finding(
            check="pyright",
            rule_id=str(item.get("rule", "error")),
            level=level_of(item["severity"]),
            message=" ".join(str(item["message"]).split()),
            path=site.relative(item["file"]),
            line=item["range"]["start"]["line"] + 1,
            column=item["range"]["start"]["character"] + 1,
        )
        for item in json.loads(done.output)["generalDiagnostics"]
    ]


CHECK = Check(name="pyright", skip=_skip, run=_run)
