"""The project's own pyright, when the project configures it and its environment has it."""

from __future__ import annotations

import json

from agentforge.conformance.engine.configuration import any_file, tool_table
from agentforge.conformance.engine.finding import Finding, level_of
from agentforge.conformance.engine.site import Check, Site, crash_of, has_module, not_installed, skipping


def _configured(site: Site) -> bool:
    return tool_table(site.checkout, "pyright") is not None or any_file(site.checkout, ("pyrightconfig.json",))


def _there(site: Site) -> None:
    if not _command(site):
        raise not_installed("the project's environment has no pyright", check="pyright")


def _command(site: Site) -> list[str]:
    if (site.mount_at / "node_modules/.bin/pyright").is_file():
        return [str(site.mount_at / "node_modules/.bin/pyright")]
    return [str(site.interpreter), "-I", "-m", "pyright"] if has_module(site, "pyright") else []


def _run(site: Site) -> list[Finding]:
    done = site.run_project([*_command(site), "--outputjson", *site.python_paths])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    return [
        site.finding(
            "pyright", str(item.get("rule", "error")), " ".join(str(item["message"]).split()), item["file"],
            item["range"]["start"]["line"] + 1, item["range"]["start"]["character"] + 1, level=level_of(item["severity"]),
        )
        for item in json.loads(done.output)["generalDiagnostics"]
    ]  # fmt: skip


CHECK = Check(name="pyright", skip=skipping("pyright", configured=_configured, there=_there), run=_run)
