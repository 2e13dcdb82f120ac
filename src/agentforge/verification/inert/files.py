"""Documents and settings: which files nothing that runs reads."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from agentforge.verification.inert.context import InertContext, InertDifference, Kind, text_of
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import language_of

_PROSE = (".md", ".mdx", ".rst", ".adoc", ".asciidoc", ".org", ".textile")
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".pdf", ".drawio", ".puml")
_TITLES = (
    "README CHANGELOG CHANGES HISTORY NEWS LICENSE LICENCE COPYING NOTICE AUTHORS CONTRIBUTORS CONTRIBUTING "
    "MAINTAINERS SECURITY CODE_OF_CONDUCT GOVERNANCE SUPPORT ROADMAP TODO UPGRADING MIGRATION CITATION CODEOWNERS"
)
_FOLDERS = frozenset({"docs", "doc"})
_DECLARING = (".pyi", ".d.ts", ".d.mts", ".d.cts")
_UNREAD = (
    *("mkdocs.yml", "mkdocs.yaml", ".readthedocs.yml", ".readthedocs.yaml", "docs/conf.py", "doc/conf.py"),
    *(".gitignore", ".editorconfig", ".mailmap", "CITATION.cff", ".all-contributorsrc", ".git-blame-ignore-revs"),
    *(
        ".github/*",
        ".gitlab-ci.yml",
        ".circleci/*",
        ".travis.yml",
        "azure-pipelines.yml",
        "codecov.yml",
        ".codecov.yml",
    ),
    *(".pre-commit-config.yaml", "renovate.json", ".prettierrc*", ".prettierignore", ".eslintignore", ".eslintrc*"),
    *(
        "ruff.toml",
        ".ruff.toml",
        ".flake8",
        ".pylintrc",
        "mypy.ini",
        "pyrightconfig.json",
        ".markdownlint*",
        "cliff.toml",
    ),
)
"""Configuration that no test run and no product reads. Whether a check may be changed is asked elsewhere."""
_TOLD_PROJECT = "description readme keywords classifiers urls authors maintainers license license-files"
_TOLD_TOOLS = (
    "ruff flake8 pylint bandit importlinter mypy ty pyright pyre coverage black isort towncrier codespell "
    "commitizen bumpversion interrogate pydocstyle semantic_release"
)
_TOLD_PACKAGE = "description keywords homepage repository bugs author contributors maintainers license funding"
_PLACES = (
    "__file__",
    "__dirname",
    "import.meta",
    "include_str!",
    "include_bytes!",
    "go:embed",
    "resources",
    "getResource",
)
"""How code finds a file beside itself."""


def looked_at_file(path: str, ground: InertContext) -> Kind | InertDifference | None:
    """What a change of a file is that is no code; None for code."""
    if any(fnmatchcase(path, pattern) for pattern in _UNREAD):
        return "documentation" if path.endswith(_PROSE) or "conf.py" in path else "configuration"
    name = PurePosixPath(path).name
    if name == "py.typed" or path.endswith(_DECLARING):
        return "types"
    if name in ("pyproject.toml", "package.json"):
        return _metadata(path, ground)
    return _document(path, ground) if _is_document(path) else None


def _is_document(path: str) -> bool:
    pure = PurePosixPath(path)
    if pure.suffix.lower() in (*_PROSE, *_PICTURES):
        return True
    titled = pure.stem.upper().replace("-", "_") in _TITLES.split() and pure.suffix.lower() in ("", ".txt")
    below = bool(_FOLDERS & set(pure.parts[:-1])) and language_of(path) is None
    return titled or below


def _document(path: str, ground: InertContext) -> Kind | InertDifference:
    pure = PurePosixPath(path)
    for parent in pure.parents:
        folder = f"{parent}/" if parent.name else ""
        if parent.name in _FOLDERS and f"{parent.parent}/__init__.py".removeprefix("./") not in ground.files:
            break
        beside = (one for one in ground.files if one.startswith(folder) and "/" not in one[len(folder) :])
        if folder and not _is_titled(pure) and any(language_of(one) is not None for one in beside):
            return InertDifference(path=path, line=0, why=f"lies among the code of {folder}, which may read it")
    for reader in ground.mentions(pure.name):
        text = text_of(ground.after(reader))
        if _may_read(reader, text, pure.name):
            return InertDifference(path=path, line=0, why=f"is read by {reader}")
    return "documentation"


def _is_titled(pure: PurePosixPath) -> bool:
    return pure.stem.upper().replace("-", "_") in _TITLES.split()


def _may_read(reader: str, text: str, name: str) -> bool:
    """Whether a product file names a document and finds files beside itself; what only packages the project is none."""
    if language_of(reader) is None or is_test_path(reader) or PurePosixPath(reader).name in ("setup.py", "conf.py"):
        return False
    lines = [one for one in text.splitlines() if name in one and "doc = include_str!" not in one]
    return bool(lines) and any(place in text for place in _PLACES)


def _metadata(path: str, ground: InertContext) -> Kind | InertDifference:
    old, new = _tables(path, ground.before(path)), _tables(path, ground.after(path))
    if old is None or new is None:
        return InertDifference(path=path, line=0, why="says how the project is built or run")
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            return InertDifference(
                path=path, line=0, why=f"says something else in {key}, which decides what is built or run"
            )
    return "configuration"


def _tables(path: str, data: bytes | None) -> Mapping[str, object] | None:
    """What a project's file says, flat, without what only people or checkers read."""
    if data is None:
        return None
    try:
        if path.endswith("package.json"):
            value = json.loads(data)
            return {key: value[key] for key in value if key not in _TOLD_PACKAGE.split()}
        value = tomllib.loads(data.decode("utf-8", "replace"))
    except (ValueError, tomllib.TOMLDecodeError):
        return None
    if not isinstance(value, dict):
        return None
    out: dict[str, object] = {key: value[key] for key in value if key not in ("project", "tool")}
    for table, told in (("project", _TOLD_PROJECT), ("tool", _TOLD_TOOLS)):
        inner = value.get(table)
        out |= (
            {f"{table}.{key}": inner[key] for key in inner if key not in told.split()}
            if isinstance(inner, dict)
            else {}
        )
    return out
