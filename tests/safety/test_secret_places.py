"""Kinds of secrets in the places where they stand in real projects: none is left in plain text."""

from __future__ import annotations

import json
import random
import string

import pytest

from agentforge.safety.text.redaction import redact, secret_lines

CHANCE = random.Random(29)
ALL, HEX = string.ascii_letters + string.digits, "0123456789abcdef"


def _some(length: int, signs: str = ALL) -> str:
    return "".join(CHANCE.choice(signs) for _ in range(length))


def _of_own_words() -> str:
    return f"{_some(5, string.ascii_lowercase)}-{_some(3, string.digits)}-{_some(6)}"


KINDS = {
    "anthropic": "sk-" + "ant-api03-" + _some(80),
    "openai": "sk-" + "proj-" + _some(60),
    "openrouter": "sk-" + "or-v1-" + _some(64, HEX),
    "github": "ghp" + "_" + _some(36),
    "github fine": "github_" + "pat_" + _some(22) + "_" + _some(59),
    "gitlab": "glpat" + "-" + _some(20),
    "slack": "xoxb" + "-1234567890-" + _some(24),
    "aws id": "AKIA" + _some(16, string.ascii_uppercase + "234567"),
    "aws secret": _some(40, ALL + "+/"),
    "google": "AIza" + _some(35),
    "stripe": "sk" + "_live_" + _some(24),
    "npm": "npm" + "_" + _some(36),
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + _some(60),
    "hugging face": "hf" + "_" + _some(34),
    "groq": "gsk" + "_" + _some(52),
    "xai": "xai" + "-" + _some(80),
    "replicate": "r8" + "_" + _some(37),
    "sendgrid": "SG" + "." + _some(22) + "." + _some(43),
    "digitalocean": "dop" + "_v1_" + _some(64, HEX),
    "databricks": "dapi" + _some(32, HEX),
    "vault": "hvs" + "." + _some(24),
    "telegram": "123456789" + ":AA" + _some(33),
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + _some(43),
    "docker": "dckr" + "_pat_" + _some(27),
    "openssh key": "b3BlbnNzaC1rZXktdjE" + "AAAAABG5vbmUAAAAEbm9uZQ" + _some(180),
    "database url": "postgres://admin:" + _of_own_words() + "@db.internal/app",
    "hex key": _some(64, HEX),
    "password": _of_own_words(),
    "random token": _some(43),
}
NAMED = ("hex key", "password", "random token")
"""Kinds that nothing but the name of what they are assigned to makes a secret."""


def _places(kind: str, secret: str) -> dict[str, str]:
    name = "SECRET_KEY" if kind in NAMED else "VALUE"
    return {
        "a file of variables": f"DEBUG=1\n{name}={secret}\nPORT=80\n",
        "source code": f'import os\n\n{name.lower()} = "{secret}"\n',
        "JSON": json.dumps({"port": 80, name.lower(): secret}, indent=2),
        "JSON in one line": json.dumps({name: secret}),
        "YAML": f'app:\n  {name.lower()}: "{secret}"\n',
        "text with escaped breaks": json.dumps(f"the log says\n{name}={secret}\nand goes on"),
        "a command": f"{name}={secret} ./deploy --to production",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_no_secret_stays_wherever_it_stands(kind: str) -> None:
    secret = KINDS[kind]
    hidden = secret.split(":")[2].split("@")[0] if kind == "database url" else secret
    left = [place for place, text in _places(kind, secret).items() if hidden in redact(text).text]
    assert left == []


def test_a_key_of_forty_signs_is_found_as_often_as_it_is_thrown() -> None:
    chance = random.Random(1)
    thrown = ["".join(chance.choice(ALL + "+/") for _ in range(40)) for _ in range(1000)]
    assert sum(redact(f"key {one} end").count for one in thrown) >= 985


@pytest.mark.parametrize(
    "line",
    [
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "AbstractSingletonProxyFactoryBean2Builder",
        "class HTTPSConnectionPoolManagerFactoryV2Test:",
        "/usr/lib/python3/dist/packages/setuptools/x",
        'token = "get_token_from_request"',
        'password_label = "Your new password 2"',
        '"secret": "from-the-environment"',
        'key = "first_name_of_person_1"',
        'assert token == "NAME"',
    ],
)
def test_what_only_looks_a_little_like_one_stays(line: str) -> None:
    assert redact(line).text == line


def test_a_password_in_a_test_is_hidden_and_not_held_against_it() -> None:
    line = f'client.login(password = "{_of_own_words()}")'
    assert (redact(line).count, secret_lines(line)) == (1, [])
