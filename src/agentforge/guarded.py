"""Names that steer git, the harness or a project's tools, and names that hold secrets: to judge paths and hide files."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase, translate

NEVER = (".git", ".agentforge")
"""Folders that no tool writes into, at any depth: hooks, configuration, the trail itself."""

ONLY_BY_NAME = (
    *(".github/workflows", ".gitlab-ci.yml", ".circleci", ".pre-commit-config.yaml", ".husky"),
    *(".envrc", ".npmrc", ".yarnrc", ".pypirc", ".mcp.json", ".gitmodules", ".vscode", ".idea"),
    *(".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml", "jenkinsfile"),
    *(".drone.yml", ".woodpecker", ".woodpecker.yml", ".buildkite", ".github/actions", "lefthook.yml", ".lefthook.yml"),
    *(".yarnrc.yml", ".pnpmfile.cjs", ".devcontainer", ".claude/settings.json", ".claude/settings.local.json"),
    *(".cursor/mcp.json", ".gitconfig", ".netrc", ".config/fish", ".inputrc", ".bash_login", ".bash_aliases"),
    *(
        ".bashrc",
        ".bash_profile",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".vimrc",
        ".nvimrc",
        ".exrc",
    ),
)
"""Files that run something later, in small letters; only an allowed pattern that spells them out reaches them, no wild card."""

_STEERING_ENDS = tuple(f"/{name}" for name in ONLY_BY_NAME)

SECRET_FOLDERS = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", "sudoers.d")

_SECRET_NAMES = (
    *(".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "*.jks", "*.kdbx"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", ".npmrc", ".pypirc", ".pgpass"),
    *(".git-credentials", "credentials", "credentials.json", "credentials.toml", "secrets.*", ".htpasswd"),
    *("shadow", "gshadow", "sudoers", ".vault-token"),
)
_NO_SECRET = (".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", "*.pub")
_KEY_FILES = ("*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "*.jks")
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "testdata", "fixtures", "__fixtures__", "examples"})
_SOURCES = (
    *("secrets.py", "secrets.pyi", "secrets.js", "secrets.mjs", "secrets.cjs", "secrets.ts", "secrets.tsx"),
    *("secrets.go", "secrets.rs", "secrets.java", "secrets.kt", "secrets.rb", "secrets.php", "secrets.c", "secrets.h"),
    *("secrets.cc", "secrets.cpp", "secrets.md", "secrets.rst", "secrets.html"),
)


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for many patterns: a workspace of 50,000 files is asked about all of them, often."""
    return re.compile("|".join(map(translate, patterns)))


_IS_SECRET, _IS_NO_SECRET = _any_of(_SECRET_NAMES), _any_of(_NO_SECRET)
_IS_KEY_FILE, _IS_SOURCE = _any_of(_KEY_FILES), frozenset(_SOURCES)


_FAMOUS = frozenset(
    {name.rpartition("/")[2] for name in (*NEVER, *ONLY_BY_NAME, *SECRET_FOLDERS, *_SECRET_NAMES) if "*" not in name}
)
_FAMOUS_STARTS = tuple(name.partition("*")[0] for name in _SECRET_NAMES if not name.startswith("*") and "*" in name)
_FAMOUS_ENDS = tuple(name[1:] for name in (*_SECRET_NAMES, *_KEY_FILES) if name.startswith("*"))


def is_ordinary(name: str) -> bool:
    """Whether a file of this name is neither masked nor protected, wherever it lies; the quick answer for most of them."""
    lower = name.casefold()
    return not (
        lower in _FAMOUS
        or lower.startswith(_FAMOUS_STARTS)
        or lower.endswith(_FAMOUS_ENDS)
        or lower != name.lower()
        or (lower.startswith(".") and any(mark in lower for mark in "*?["))
    )


def is_secret(path: str) -> bool:
    """Whether a file, or a folder above it, is named as secrets are; a pattern counts by what it may match."""
    parts = [part for part in path.split("/") if part]
    name = parts[-1] if parts else ""
    if any(part in SECRET_FOLDERS for part in parts):
        return True
    lower = name.lower()
    if _IS_NO_SECRET.match(lower):
        return False
    if _IS_SECRET.match(lower):
        return True
    return any(mark in name for mark in "*?[") and name.startswith(".") and fnmatchcase(".env", name)


def may_name_secret(pattern: str) -> bool:
    """Whether a path whose name is a pattern may turn into one that is named as secrets are."""
    name = pattern.rpartition("/")[2]
    plain = (one for one in _SECRET_NAMES if "*" not in one)
    return any(mark in name for mark in "*?[") and any(fnmatchcase(one, name) for one in plain)


def is_masked(path: str) -> bool:
    """Whether a file of a workspace is hidden from commands: a secret, but no source file and no key that tests use.

    Args:
        path: relative to the workspace.
    """
    *folders, name = path.split("/")
    lower = name.lower()
    if lower in _IS_SOURCE:
        return False
    if _IS_KEY_FILE.match(lower):
        return _TEST_FOLDERS.isdisjoint(folders)
    return is_secret(name)


def is_protected(path: str, *, named: tuple[str, ...] = ()) -> bool:
    """Whether a path of a workspace is itself one that commands may not write.

    Args:
        named: paths that may be written although they run something later; nothing opens `.git` and `.agentforge`.
    """
    lower = path.casefold()
    if lower.rpartition("/")[2] in NEVER:
        return True
    steers = f"/{lower}".endswith(_STEERING_ENDS)
    return steers and not any(one == path or one.startswith(path + "/") for one in named)
