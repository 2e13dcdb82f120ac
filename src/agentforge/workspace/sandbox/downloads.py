"""What the user's package tools have downloaded: which variables lead a tool there, offline, from another home."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


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
