"""cargo clippy: everything where the project configures lints, else what clippy itself calls an error."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import Any

from agentforge.conformance.engine.configuration import any_file
from agentforge.conformance.engine.finding import Finding, Level
from agentforge.conformance.engine.site import Check, CheckCrashedError, Site, crash_of, not_installed
from agentforge.conformance.programs.checkers import cargo_environment, on_path

_CONFIGS = ("clippy.toml", ".clippy.toml")
_ARGV = ["cargo", "clippy", "--offline", "--bins", "--tests", "--message-format=json", "--quiet"]
"""Library, programs and tests; benchmarks may need another compiler."""


def _skip(site: Site) -> str | None:
    if not site.paths_with(".rs"):
        return "no Rust file among the changed files"
    if not (site.checkout / "Cargo.toml").is_file():
        return "no Cargo.toml at the top"
    if on_path("cargo-clippy"):
        return None
    if _is_configured(site):
        raise not_installed("cargo clippy is not installed", check="clippy")
    return "cargo clippy is not installed"


def _is_configured(site: Site) -> bool:
    """Whether the project says which lints it wants: clippy.toml, or `[lints]` in a manifest."""
    if any_file(site.checkout, _CONFIGS):
        return True
    manifest = tomllib.loads((site.checkout / "Cargo.toml").read_text("utf-8", "replace"))
    return bool(manifest.get("lints") or manifest.get("workspace", {}).get("lints"))


def _run(site: Site) -> list[Finding]:
    with TemporaryDirectory(prefix="clippy-") as folder:
        own, target = Path(folder) / "copy", Path(folder) / "target"
        copytree(site.checkout, own, symlinks=True, ignore=ignore_patterns(".git", "target", "node_modules", ".venv"))
        argv = [*_ARGV, "--manifest-path", str(own / "Cargo.toml")]  # a copy: cargo writes a missing Cargo.lock
        done = site.run_project(argv, env=cargo_environment(str(target)), writable=(Path(folder),))
    configured = _is_configured(site)
    found = [finding for record in _records(done.text) if (finding := _finding(site, record, configured=configured))]
    if done.exit_code != 0 and not any(one.level == "error" for one in found):
        raise crash_of(done)
    return site.within(list(dict.fromkeys(found)))


def _records(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            value = json.loads(line)
            if value.get("reason") == "compiler-message":
                yield value["message"]


def _finding(site: Site, message: dict[str, Any], *, configured: bool) -> Finding | None:
    """One message with a lint's name; an error without one means that the code does not compile."""
    code = str((message.get("code") or {}).get("code", ""))
    span = next((one for one in message.get("spans") or () if one.get("is_primary")), None)
    if message["level"] not in ("error", "warning") or span is None:
        return None
    if message["level"] == "error" and (not code or code.startswith("E0")):
        raise CheckCrashedError(
            f"the code does not compile: {str(message.get('rendered') or message['message'])[:400]}"
        )
    level: Level = message["level"] if configured or message["level"] == "error" else "note"
    place = (str(span["file_name"]), int(span["line_start"]), int(span["column_start"]))
    return site.finding("clippy", code or "rustc", str(message["message"]), *place, level=level, ours=not configured)


CHECK = Check(name="clippy", skip=_skip, run=_run)
