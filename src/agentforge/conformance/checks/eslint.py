"""The project's own eslint, when the project configures it and it stands in node_modules."""

from __future__ import annotations

import json

from agentforge.conformance.configuration import STEERING, any_file
from agentforge.conformance.finding import Finding, Level
from agentforge.conformance.site import Check, Site, crash_of

_SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_CONFIGS = tuple(name for name in STEERING if "eslint" in name and name != ".eslintignore")
_ERROR = 2


def _skip(site: Site) -> str | None:
    if not site.paths_with(*_SUFFIXES):
        return "no JavaScript or TypeScript file among the changed files"
    if not any_file(site.checkout, _CONFIGS) and not _in_package(site):
        return "the project does not configure eslint"
    if not (site.mount_at / "node_modules/.bin/eslint").is_file():
        return "configured, but eslint is not in node_modules"
    if site.sandbox.kind != "bubblewrap" and not (site.checkout / "node_modules").exists():
        return "configured, but node_modules cannot be shown to a fresh checkout without bubblewrap"
    return None


def _in_package(site: Site) -> bool:
    package = site.checkout / "package.json"
    return package.is_file() and "eslintConfig" in json.loads(package.read_text(encoding="utf-8"))


def _run(site: Site) -> list[Finding]:
    command = ["node_modules/.bin/eslint", "--format", "json", "--no-error-on-unmatched-pattern", "--"]
    done = site.run_project([*command, *site.paths_with(*_SUFFIXES)])
    if done.exit_code not in (0, 1):
        raise crash_of(done)
    return [
        Finding(
            check="eslint",
            rule_id=message.get("ruleId") or "parsing",
            level=_level(message["severity"]),
            message=message["message"],
            path=site.relative(result["filePath"]),
            line=message.get("line") or 0,
            column=message.get("column") or 0,
        )
        for result in json.loads(done.output)
        for message in result["messages"]
    ]


def _level(severity: int) -> Level:
    return "error" if severity == _ERROR else "warning"


CHECK = Check(name="eslint", skip=_skip, run=_run)
