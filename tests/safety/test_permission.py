"""Proves safety/permission.py: how rules are written and what they match."""

from __future__ import annotations

import pytest

from agentforge.safety.policy.modes import Consent
from agentforge.safety.policy.permission import (
    BadRule,
    first_match,
    host_of,
    matches_command,
    matches_host,
    matches_path,
    may_name,
    read_rule,
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("shell(git push", "not a rule"),
        ("", "not a rule"),
        ("shell()", "pattern is empty"),
        ("*", "yolo"),
        ("shell(x) until tomorrow", "not a date"),
        ("git push", "not a rule"),
    ],
)
def test_a_rule_that_cannot_be_read_says_why(text: str, told: str) -> None:
    with pytest.raises(BadRule, match=told):
        read_rule(text, Consent.ALLOW)


def test_names_of_another_agent_are_understood() -> None:
    assert read_rule("Bash(npm run:*)", Consent.ALLOW).speaks_of("shell")
    assert read_rule("Read(./x)", Consent.DENY).speaks_of("grep")
    assert read_rule("mcp__github__*", Consent.ASK).speaks_of("mcp__github__create_issue")


@pytest.mark.parametrize(
    ("pattern", "line", "matched"),
    [
        ("npm run *", "npm run test", True),
        ("npm run *", "npm run", True),
        ("npm run *", "npm runaway", False),
        ("npm run:*", "npm run x", True),
        ("git push", "git push origin", False),
        ("git * main", "git push origin main", True),
        ("", "anything", True),
        ("a.c", "abc", False),
    ],
)
def test_a_command_pattern_matches_whole_words(pattern: str, line: str, matched: bool) -> None:
    assert matches_command(pattern, line, unknown=False) is matched


def test_a_part_that_only_the_run_knows_is_denied_but_never_allowed() -> None:
    assert matches_command("npm run *", "npm run \0", unknown=True)
    assert not matches_command("npm run *", "npm run \0", unknown=False)
    assert not matches_command("", "npm \0", unknown=False)


@pytest.mark.parametrize(
    ("pattern", "path", "matched"),
    [
        (".env", "/w/a/.env", True),
        ("src/**", "/w/src/a/b.py", True),
        ("./src/a.py", "/w/src/a.py", True),
        ("src/a.py", "/w/x/src/a.py", False),
        ("~/.ssh/**", "/home/ann/.ssh/id", True),
        ("/etc/**", "/etc/passwd", True),
        ("*.pem", "/outside/x.pem", True),
        ("src/*", "/outside/src/x", False),
    ],
)
def test_a_path_pattern(pattern: str, path: str, matched: bool) -> None:
    assert matches_path(pattern, path, root="/w", home="/home/ann") is matched


def test_a_pattern_on_the_line_may_name_a_closed_file() -> None:
    assert may_name("notes/secret.txt", "/w/notes/s*")
    assert may_name("*.pem", "/w/a*")
    assert not may_name("notes/secret.txt", "/w/notes/*.md")
    assert not may_name(".env", "/w/README.md")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Docs.Python.org:443/x", "docs.python.org"),
        ("https://docs.python.org@evil.com/", "evil.com"),
        ("https://evil.com\\@docs.python.org/", ""),
        ("ftp://x", ""),
        ("https://evil.com#docs.python.org", "evil.com"),
        ("https://[::1]:80/", "[::1]"),
    ],
)
def test_the_host_of_an_address(url: str, host: str) -> None:
    assert host_of(url) == host


def test_hosts_match_exactly_or_below() -> None:
    assert matches_host("domain:python.org", "python.org.")
    assert not matches_host("domain:python.org", "docs.python.org")
    assert not matches_host("domain:python.org", "evilpython.org")
    assert matches_host("domain:*.python.org", "docs.python.org")
    assert not matches_host("domain:*.python.org", "python.org")


def test_deny_beats_ask_beats_allow_and_the_expired_says_nothing() -> None:
    allow, ask, deny = (read_rule("shell(x)", verdict) for verdict in (Consent.ALLOW, Consent.ASK, Consent.DENY))
    assert first_match([allow, ask, deny], now="2026-01-01") is deny
    assert first_match([allow, ask], now="2026-01-01") is ask
    old = read_rule("shell(x) until 2025-01-01", Consent.ALLOW)
    assert first_match([old], now="2026-01-01T00:00:00Z") is None
    assert first_match([old], now="2024-12-31T00:00:00Z") is old
