"""Where interpreters, compilers and their libraries live below hidden folders; which variables a child may see.

What the user's package tools have downloaded: which variables lead a tool there, offline, from another home.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

_ROOT_VARIABLES = (
    "PYENV_ROOT",
    "NVM_DIR",
    "RUSTUP_HOME",
    "GOROOT",
    "JAVA_HOME",
    "VOLTA_HOME",
    "CONDA_PREFIX",
    "VIRTUAL_ENV",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
)

# Only folders that hold programs and libraries: `~/.cargo`, `~/.m2` and their like also hold credentials.
_BELOW_HOME = (
    ".pyenv",
    ".nvm",
    ".rustup",
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/pipx",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".local/share/mise",
    ".local/share/pnpm",
    ".asdf",
    ".volta",
    ".bun/bin",
    ".deno/bin",
    ".npm-global",
    ".sdkman/candidates",
    ".m2/repository",
    ".gradle/wrapper",
    "go/bin",
    "go/pkg",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    ".nix-profile",
)

_ALLOWED = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "TZ", "LANG", "LANGUAGE",
        "PYTHONPATH", "PYTHONUTF8", "PYTHONIOENCODING", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV",
        "PYENV_ROOT", "PYENV_VERSION", "UV_PYTHON_INSTALL_DIR", "UV_TOOL_DIR", "UV_PROJECT_ENVIRONMENT",
        "NVM_DIR", "NODE_PATH", "VOLTA_HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
        "GOPATH", "GOROOT", "GOFLAGS", "GOTOOLCHAIN", "JAVA_HOME", "ASDF_DATA_DIR", "MISE_DATA_DIR",
        "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "SOURCE_DATE_EPOCH",
    }
)  # fmt: skip

_FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin"


def child_environment(environ: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Build the environment of a command: an allow-list of the user's variables, then `extra`.

    Keys, tokens, proxies, agents' sockets and everything else that is not named here stay out.
    """
    kept = {name: value for name, value in environ.items() if name in _ALLOWED or name.startswith("LC_")}
    kept.setdefault("PATH", _FALLBACK_PATH)
    return {**kept, **extra}


def toolchain_paths(environ: Mapping[str, str], *, home: Path, interpreters: Iterable[Path] = ()) -> tuple[Path, ...]:
    """List existing folders that commands need and that a hidden home would take away.

    Args:
        home: never listed itself, nor a folder above it.
        interpreters: executables, such as the project's python, whose installation must stay readable.
    Returns:
        Absolute folders, both as they are named and as they resolve, sorted, none inside another.
    """
    found = {Path(sys.prefix), Path(sys.base_prefix)}
    found |= {Path(environ[name]) for name in _ROOT_VARIABLES if environ.get(name)}
    found |= {home / name for name in _BELOW_HOME}
    on_path = {Path(entry) for entry in environ.get("PATH", "").split(":") if entry}
    found |= on_path | {folder.parent for folder in on_path if (folder.parent / "pyvenv.cfg").is_file()}
    for interpreter in (Path(sys.executable), *interpreters):
        found.update(installation_roots(interpreter))
    named = {path for path in found if path.is_absolute() and os.access(path, os.X_OK) and path.is_dir()}
    named |= {path.resolve() for path in named}
    above_home = {home, home.resolve(), *home.parents, *home.resolve().parents}
    return outermost(named - above_home)


def installation_roots(interpreter: Path) -> tuple[Path, ...]:
    """Follow an interpreter through its links and its `pyvenv.cfg` to the folders that it is installed in."""
    roots: list[Path] = []
    at = interpreter.absolute()
    for _ in range(16):
        if at.parent.name in ("bin", "Scripts"):
            roots.append(at.parent.parent)
            roots.extend(_base_of_venv(at.parent.parent))
        if not at.is_symlink():
            break
        at = at.parent / at.readlink()
    resolved = at.resolve()
    if resolved.parent.name == "bin":
        roots.append(resolved.parent.parent)
    return tuple(dict.fromkeys(root for root in roots if root != Path("/")))


def outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Sort the paths and drop those that lie inside another one."""
    kept: list[Path] = []
    for path in sorted(set(paths)):
        if not any(path == outer or str(path).startswith(f"{str(outer).rstrip('/')}/") for outer in kept):
            kept.append(path)
    return tuple(kept)


def _base_of_venv(root: Path) -> list[Path]:
    config = root / "pyvenv.cfg"
    if not config.is_file():
        return []
    for line in config.read_text("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip():
            return [Path(value.strip()).parent]
    return []


def go_downloads(environ: Mapping[str, str]) -> dict[str, str]:
    """Go's modules; nothing is fetched."""
    path = environ.get("GOPATH", "").split(":")[0] or str(_home(environ) / "go")
    return {
        "GOPROXY": "off",
        "GOSUMDB": "off",
        "GOTOOLCHAIN": "local",
        "GOMODCACHE": environ.get("GOMODCACHE") or f"{path}/pkg/mod",
    }


def cargo_downloads(environ: Mapping[str, str]) -> dict[str, str]:
    """Cargo's registry and the toolchains of rustup; nothing is fetched."""
    home = _home(environ)
    return {
        "CARGO_HOME": environ.get("CARGO_HOME") or str(home / ".cargo"),
        "RUSTUP_HOME": environ.get("RUSTUP_HOME") or str(home / ".rustup"),
        "CARGO_NET_OFFLINE": "true",
    }


def maven_options(environ: Mapping[str, str]) -> str:
    """Options of the Java machine by which Maven finds the user's local repository; those of MAVEN_OPTS come first."""
    own = environ.get("MAVEN_OPTS", "")
    local = _home(environ) / ".m2" / "repository"
    found = [f"-Dmaven.repo.local={local}"] if "maven.repo.local" not in own and local.is_dir() else []
    return " ".join([*([own] if own else []), *found, *JVM])


def every_download(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of all tools, for a command of which nobody knows what it starts."""
    rust = cargo_downloads(environ)
    there = any(Path(rust[name]).is_dir() for name in ("CARGO_HOME", "RUSTUP_HOME"))
    return {**go_downloads(environ), **(rust if there else {}), "MAVEN_OPTS": maven_options(environ)}


JVM = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:-UseContainerSupport")
"""Options for a Java machine in a box: it looks for control groups that the box does not show, and some releases fail there."""


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or Path.home())
