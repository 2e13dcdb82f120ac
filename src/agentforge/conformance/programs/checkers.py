"""How the checkers of Go, Rust and Java are run: whether they are there, and where they may keep what they build.

What the checks of JavaScript projects have in common: their files, and programs of node_modules/.bin.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.conformance.engine.site import Site, not_installed
from agentforge.workspace.sandbox.toolchain import cargo_downloads, go_downloads

_HOME = Path(os.environ.get("HOME") or Path.home())


def on_path(program: str) -> bool:
    """Whether a program of the user's machine can be run."""
    return shutil.which(program) is not None


def go_environment() -> Mapping[str, str]:
    """Offline, with the modules that the user has downloaded, and our own build cache, which only compilers write."""
    return {**go_downloads(os.environ), "GOCACHE": str(go_cache())}


def go_cache() -> Path:
    """The build cache of the Go runner; made when it is missing."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or _HOME / ".cache") / "agentforge" / "go-build"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cargo_environment(target: str) -> Mapping[str, str]:
    """Offline, with the registry that the user has downloaded.

    Args:
        target: a folder for what is built, outside of the checkout.
    """
    return {"CARGO_TARGET_DIR": target, **cargo_downloads(os.environ)}


def folders_with(site: Site, marker: str, suffix: str) -> dict[str, list[str]]:
    """The asked files of a suffix by the nearest folder above them that holds a marker file like go.mod; "." is the top."""
    found: dict[str, list[str]] = {}
    for path in site.paths_with(suffix):
        folder = next((one for one in PurePosixPath(path).parents if (site.checkout / one / marker).is_file()), None)
        if folder is not None:
            found.setdefault(str(folder), []).append(path)
    return found


SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
SCRIPTS = "JavaScript or TypeScript file"


def package_of(site: Site) -> dict[str, Any]:
    """The package.json at the top of the checkout; {} when there is none, or it is none."""
    try:
        value = json.loads((site.checkout / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def program_of(site: Site, name: str) -> str:
    """The path of a program in node_modules, relative to the checkout.

    Raises:
        CheckCrashedError: it is not installed, or cannot be shown to a fresh checkout.
    """
    if not (site.mount_at / "node_modules/.bin" / name).is_file():
        how = "npm ci" if (site.checkout / "package-lock.json").is_file() else "npm install"
        raise not_installed(f"{name} is not in node_modules (run: {how})", check=name)
    if site.sandbox.kind != "bubblewrap" and not (site.checkout / "node_modules").exists():
        raise not_installed("node_modules cannot be shown to a fresh checkout without bubblewrap", check=name)
    return f"node_modules/.bin/{name}"
