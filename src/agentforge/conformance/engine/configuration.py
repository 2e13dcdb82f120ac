"""The files that steer linters: reading them, and looking at a tree with those of its base."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

STEERING = (
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "ruff.toml",
    ".ruff.toml",
    "ty.toml",
    "mypy.ini",
    ".mypy.ini",
    ".flake8",
    "pyrightconfig.json",
    ".importlinter",
    ".bandit",
    "bandit.yaml",
    "clippy.toml",
    ".clippy.toml",
    "rustfmt.toml",
    ".rustfmt.toml",
    "checkstyle.xml",
    "config/checkstyle.xml",
    "config/checkstyle/checkstyle.xml",
    "package.json",
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".eslintrc.yaml",
    ".eslintignore",
    "tsconfig.json",
    "biome.json",
    "biome.jsonc",
    ".prettierrc",
    ".prettierrc.json",
    ".prettierrc.json5",
    ".prettierrc.yml",
    ".prettierrc.yaml",
    ".prettierrc.toml",
    ".prettierrc.js",
    ".prettierrc.cjs",
    ".prettierrc.mjs",
    "prettier.config.js",
    "prettier.config.cjs",
    "prettier.config.mjs",
    "prettier.config.ts",
    ".prettierignore",
)
_ASIDE = ".agentforge-aside"
_OF_PYTHON = ("pyproject.toml", "ruff.toml", ".ruff.toml", "ty.toml")
_OUTSIDE = re.compile(rb"\bextend\s*=|\bextra-paths\b|\btypeshed\b|\benvironment\b")


def tool_table(folder: Path, name: str) -> dict[str, object] | None:
    """Read `[tool.NAME]` of a folder's pyproject.toml; None when it is not there or the file cannot be read."""
    import tomllib

    try:
        document = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    tools = document.get("tool")
    table = tools.get(name) if isinstance(tools, dict) else None
    return table if isinstance(table, dict) else None


def ini_section(path: Path, section: str) -> dict[str, str] | None:
    """Read a section of an INI file; None when it is not there or the file cannot be read."""
    from configparser import ConfigParser, Error

    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, Error):
        return None
    return dict(parser[section]) if parser.has_section(section) else None


def any_file(folder: Path, names: Iterable[str]) -> bool:
    """Whether one of the names is a file of the folder."""
    return any((folder / name).is_file() for name in names)


def folders_of(paths: Iterable[str]) -> list[str]:
    """The folders of paths up to the top, "." first."""
    found = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return sorted(found | {"."})


def reaches_out(folder: Path, paths: Iterable[str]) -> bool:
    """Whether a configuration of the Python checks names what may lie outside of the checkout."""
    files = [folder / place / name for place in folders_of(paths) for name in _OF_PYTHON]
    return any(_OUTSIDE.search(_bytes(file) or b"") for file in files)


@contextmanager
def steered_by(base: Path | None, checkout: Path, *, paths: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Let the base commit's configuration stand in the checkout for a while; its own is put back afterwards.

    Args:
        base: a checkout of the base commit; None = the checkout's own configuration stands.
    Returns:
        The configuration files that differ, relative paths.
    Side effects: renames and writes files of `checkout`.
    """
    changed: list[str] = []
    try:
        for name in _steering_files(paths) if base else ():
            if base and _bytes(base / name) != _bytes(checkout / name):
                changed.append(name)
                _set_aside(checkout / name, _bytes(base / name))
        yield tuple(changed)
    finally:
        for name in changed:
            _put_back(checkout / name)


def _steering_files(paths: Iterable[str]) -> Iterator[str]:
    for folder in folders_of(paths):
        for name in STEERING:
            yield name if folder == "." else f"{folder}/{name}"


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _set_aside(path: Path, base_content: bytes | None) -> None:
    if path.is_symlink() or path.exists():
        path.rename(path.with_name(path.name + _ASIDE))
    if base_content is not None:
        path.write_bytes(base_content)


def _put_back(path: Path) -> None:
    aside = path.with_name(path.name + _ASIDE)
    path.unlink(missing_ok=True)
    if aside.is_symlink() or aside.exists():
        aside.rename(path)
