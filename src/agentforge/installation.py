"""How this AgentForge was installed, and so the exact command that adds to it what is missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

NAME = "agentforge-pipeline"
"""Of the distribution; an index need not have it: it may have been installed from a checkout."""


def command_for(extra: str, *, prefix: Path | None = None, executable: str = "") -> str:
    """The command that installs an extra's libraries where this AgentForge runs.

    Args:
        extra: as in `pyproject.toml`.
        prefix: of the environment; None = this process's own.
        executable: the environment's Python; "" = this process's own.
    Side effects: reads the environment's own records of how it was made.
    """
    return _command(
        libraries_of(extra), extra, prefix=prefix or Path(sys.prefix), executable=executable or sys.executable
    )


def command_that_brings(module: str) -> str:
    """The command that installs the library of a module: of an extra, or of what AgentForge always needs; "" = of neither."""
    extra = _EXTRAS.get(module, "")
    if extra:
        return command_for(extra)
    name = _NAMES.get(module, module.replace("_", "-").lower())
    libraries = tuple(one for one in libraries_of("") if re.split(r"[\s<>=!~\[]", one, maxsplit=1)[0] == name)
    return _command(libraries, "", prefix=Path(sys.prefix), executable=sys.executable) if libraries else ""


def libraries_of(extra: str) -> tuple[str, ...]:
    """The requirements that an extra brings, without their markers; the extra itself where nothing is known of it.

    Args:
        extra: "" = what is installed without one.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        rows = requires(NAME) or []
    except PackageNotFoundError:
        rows = []
    split = [(left.strip(), marker.replace('"', "'")) for left, _, marker in (row.partition(";") for row in rows)]
    if not extra:
        return tuple(library for library, marker in split if "extra ==" not in marker)
    return tuple(library for library, marker in split if f"extra == '{extra}'" in marker) or (f"{NAME}[{extra}]",)


def _command(libraries: Sequence[str], extra: str, *, prefix: Path, executable: str) -> str:
    if prefix.name == ".venv" and (prefix / ".ready").exists():
        return f"make -C {quote(str(prefix.parent))} setup"
    receipt = prefix / "uv-receipt.toml"
    if receipt.exists():
        return _uv_tool(receipt, extra)
    named = " ".join(quote(library) for library in libraries)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject {quote(prefix.name)} {named}"
    if any(prefix.glob("lib*/python*/site-packages/pip")):
        return f"{quote(executable)} -m pip install {named}"
    return f"uv pip install --python {quote(executable)} {named}"


def _uv_tool(receipt: Path, extra: str) -> str:
    """The installation of the receipt once more, with one extra more: uv forgets what is not named."""
    import tomllib

    rows: Sequence[Mapping[str, Any]] = tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"]
    own = next((row for row in rows if row["name"] == NAME), {"name": NAME})
    extras = ",".join(sorted({*own.get("extras", ()), *filter(None, (extra,))}))
    others = "".join(f" --with {quote(_source(row, '') or str(row['name']))}" for row in rows if row is not own)
    again = "" if extra else " --reinstall"
    return f"uv tool install{again} {quote(_source(own, extras))}{others}"


def _source(row: Mapping[str, Any], extras: str) -> str:
    """One requirement of a receipt, as uv takes it on its command line."""
    named = f"[{extras}]" if extras else ""
    for key in ("editable", "directory", "path"):
        if key in row:
            return f"{row[key]}{named}"
    for key, before in (("git", "git+"), ("url", "")):
        if key in row:
            return f"{row['name']}{named} @ {before}{row[key]}"
    return f"{row['name']}{named}{row.get('specifier', '')}"


_EXTRAS: Mapping[str, str] = {
    "acp": "acp",
    "apprise": "notify",
    "cel_expr_python": "rules",
    "croniter": "fleet",
    "cryptography": "sign",
    "ddgs": "web",
    "httpx2": "mcp",
    "jinja2": "dashboard",
    "landlock": "landlock",
    "landlockpy": "landlock",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "opentelemetry": "otel",
    "playwright": "browser",
    "psycopg": "fleet",
    "pydantic_ai": "providers",
    "sqlalchemy": "fleet",
    "starlette": "dashboard",
    "textual": "tui",
    "trafilatura": "web",
    "typst": "pdf",
    "uvicorn": "dashboard",
    "xllamacpp": "local",
}
"""Which extra of `pyproject.toml` brings which module."""
_NAMES: Mapping[str, str] = {"yaml": "pyyaml"}
"""Modules of the base that are called otherwise than their library."""
