"""Proves safety/places.py: where a path leads and what that means."""

from __future__ import annotations

import pytest

from agentforge.safety.policy.modes import Consent
from agentforge.safety.policy.path_policy import PathPolicy, absolute, is_secret, judge_read, judge_write
from agentforge.safety.shell.grammar.syntax import Word

LINKS = {"/w/link": "/outside", "/w/dir/up": "/w"}


def real(path: str) -> str:
    for link, target in LINKS.items():
        if path == link or path.startswith(f"{link}/"):
            return target + path[len(link) :]
    return path


GROUND = PathPolicy(root="/w", folder="/w", home="/home/ann", real=real)


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("/w/src/a.py", "allow"),
        ("/w/link/x", "ask"),
        ("/w/dir/up/src/a.py", "allow"),
        ("/outside/x", "ask"),
        ("/usr/lib/x", "allow"),
        ("/etc/passwd", "allow"),
        ("/etc/shadow", "ask"),
        ("/tmp/x", "allow"),
        ("/w/.env", "ask"),
        ("/w/.env.example", "allow"),
        ("/w/.e*", "ask"),
        ("/proc/self/environ", "ask"),
        ("/proc/cpuinfo", "allow"),
        ("/dev/null", "allow"),
        ("/dev/tcp/1.2.3.4/80", "deny"),
        (None, "ask"),
    ],
)
def test_reading(path: str | None, verdict: str) -> None:
    assert judge_read(path, GROUND).verdict == verdict


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("/w/src/a.py", "allow"),
        ("/w/link/x", "deny"),
        ("/outside/x", "deny"),
        ("/tmp/x", "allow"),
        ("/w/.git/hooks/pre-commit", "deny"),
        ("/w/vendor/.GIT/config", "deny"),
        ("/w/.agentforge/x", "deny"),
        ("/w/web/.npmrc", "deny"),
        ("/w/.github/workflows/ci.yml", "deny"),
        ("/w/.g*/config", "deny"),
        ("/w/.gitignore", "allow"),
        (None, "ask"),
    ],
)
def test_writing(path: str | None, verdict: str) -> None:
    assert judge_write(path, GROUND).verdict == verdict


def test_without_a_sandbox_temporary_folders_are_not_private() -> None:
    bare = PathPolicy(root="/w", folder="/w", home="/home/ann", scratch=())
    assert judge_write("/tmp/x", bare).verdict is Consent.DENY
    assert judge_read("/tmp/x", bare).verdict is Consent.ASK


def test_a_protected_file_opens_only_by_its_name() -> None:
    named = PathPolicy(root="/w", folder="/w", home="/h", named=(".github/workflows/ci.yml",))
    assert judge_write("/w/.github/workflows/ci.yml", named).verdict is Consent.ALLOW
    assert judge_write("/w/.github/workflows/other.yml", named).verdict is Consent.DENY


@pytest.mark.parametrize("name", ["id_rsa", ".netrc", "a/.ssh/config", "x.pem", "credentials.json", ".env.local"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["src/env.py", "keys.md", "id_rsa.pub", "environment.yml", "token.py"])
def test_names_that_only_sound_like_secrets(name: str) -> None:
    assert not is_secret(name)


def test_words_become_paths() -> None:
    word = Word(text="~/x", pieces=("~/x",), tilde=True)
    assert absolute(word, "", GROUND) == "/home/ann/x"
    assert absolute(Word(text="~ben/x", pieces=("~ben/x",), tilde=True), "", GROUND) == "/home/ben/x"
    assert absolute(Word(text="~-/x", pieces=("~-/x",), tilde=True), "", GROUND) is None
    assert absolute(Word(text=".?/x", pieces=(".?/x",), glob=True), "", GROUND) == "/x"
    assert absolute(Word(text="../a", pieces=("../a",)), "src", GROUND) == "/w/a"
    assert absolute(Word(text="a", pieces=("a",)), None, GROUND) is None
    assert absolute(Word(text="$x", pieces=(None,)), "", GROUND) is None
