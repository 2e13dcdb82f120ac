"""What the checks of JavaScript projects have in common: their files, and programs of node_modules/.bin."""

from __future__ import annotations

import json
from typing import Any

from agentforge.conformance.engine.site import Site, not_installed

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
NO_FILE = "no JavaScript or TypeScript file among the changed files"


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
