"""Which version of an artifact a commit holds: said by a file of its name, or by the manifest of a package."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentforge.canonical import digest_bytes
from agentforge.contracts.versions import satisfies
from agentforge.errors import UsageError
from agentforge.workspace.git.repository import Git

_ENDS_WITH = (".json", ".yaml", ".yml", ".toml")
_MANIFESTS = ("pyproject.toml", "package.json")


def versions_in(repo: Path, commit: str, artifact: str) -> Iterator[tuple[str, str, str]]:
    """Find (path, version, digest) of the files of a commit that say which version of the artifact they are."""
    git = Git.open(repo)
    for path in git.list_files(commit):
        name = path.rpartition("/")[2]
        if name in _MANIFESTS or (name.startswith(f"{artifact}.") and name.endswith(_ENDS_WITH)):
            data = git.show(commit, path) or b""
            version = _version_of(name, data, artifact)
            if version:
                yield path, version, digest_bytes(data)


def satisfies_or_fails(version: str, condition: str) -> bool:
    """Whether a version meets a condition; what is written in a delivered file may be no version at all: then not.

    Raises:
        UsageError: the condition itself is wrong.
    """
    satisfies("0", condition)
    try:
        return satisfies(version, condition)
    except UsageError:
        return False


def _version_of(name: str, data: bytes, artifact: str) -> str:
    """The version that a file states of the artifact, "" when it states none."""
    value = _parsed(name, data)
    if name in _MANIFESTS:
        value = value.get("project", {}) if name == "pyproject.toml" else value
        if not isinstance(value, Mapping) or value.get("name") != artifact:
            return ""
    version = value.get("version")
    return version if isinstance(version, str) else ""


def _parsed(name: str, data: bytes) -> Any:
    """The mapping that a file holds; one that is broken states nothing."""
    import tomllib

    import yaml

    try:
        text = data.decode("utf-8")
        if name.endswith(".toml"):
            value: object = tomllib.loads(text)
        else:
            value = json.loads(text) if name.endswith(".json") else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError):
        return {}
    return value if isinstance(value, Mapping) else {}
