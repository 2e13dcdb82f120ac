"""Proves safety/redaction.py and safety/shapes.py. The secrets here are made up, and put together so that no scanner rings."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from agentforge.safety.text.redaction import known_secrets, redact, redact_value
from agentforge.safety.text.shapes import SHAPES

R = "q7Gd2kLm9XpT4vBn8WsR3yZc6HfJ5aEu1oQiNxKbVtMwPzSg" * 3
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
UPPER = "Q7GD2KLM4XPT5VBN3WSR6YZC7HFJ2AEU" * 3

SECRETS = {
    "anthropic-key": "sk-" + "ant-api03-" + R[:80],
    "openrouter-key": "sk-" + "or-v1-" + HEX,
    "openai-key": "sk-" + "proj-" + R[:60],
    "github-token": "ghp" + "_" + R[:36],
    "gitlab-token": "glpat" + "-" + R[:20],
    "slack-token": "xoxb" + "-1234567890-" + R[:24],
    "slack-webhook": "hooks.slack" + ".com/services/T0AB12CD3/B0AB12CD3/" + R[:24],
    "discord-webhook": "discord" + ".com/api/webhooks/123456789012345678/" + R[:68],
    "aws-key-id": "AKIA" + UPPER[:16],
    "aws-secret": "aws_secret_access_key = " + R[:40],
    "google-key": "AIza" + R[:35],
    "google-oauth": "GOCSPX-" + R[:28],
    "stripe-key": "sk" + "_live_" + R[:24],
    "npm-token": "npm" + "_" + R[:36],
    "pypi-token": "pypi-" + "AgEIcHlwaS5vcmc" + R[:60],
    "huggingface-token": "hf" + "_" + re.sub(r"\d", "", R)[:34],
    "groq-key": "gsk" + "_" + R[:52],
    "xai-key": "xai" + "-" + R[:80],
    "replicate-token": "r8" + "_" + R[:37],
    "perplexity-key": "pplx" + "-" + R[:48],
    "sendgrid-key": "SG" + "." + R[:22] + "." + R[30:73],
    "mailgun-key": "key" + "-" + HEX[:32],
    "twilio-key": "SK" + HEX[:32],
    "shopify-token": "shpat" + "_" + HEX[:32],
    "digitalocean-token": "dop" + "_v1_" + HEX,
    "azure-storage-key": "AccountKey=" + R[:86] + "==",
    "databricks-token": "dapi" + HEX[:32],
    "linear-key": "lin_" + "api_" + R[:40],
    "vault-token": "hvs" + "." + R[:24],
    "telegram-token": "123456789" + ":AA" + R[:33],
    "age-key": "AGE-SECRET" + "-KEY-1" + UPPER[:58],
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + "." + "eyJzdWIiOiIxMjM0In0" + "." + R[:43],
    "bearer": "Authorization: Bearer " + R[:30],
    "basic-auth": "authorization: Basic " + R[:24] + "==",
    "url-password": "postgres://admin:" + "s3cr3-hunt2!" + "@db.internal/app",
    "atlassian-token": "ATATT" + "3" + R[:60],
    "docker-token": "dckr" + "_pat_" + R[:27],
    "rubygems-key": "rubygems" + "_" + HEX[:48],
    "crates-token": "cio" + R[:32],
    "postman-key": "PMAK" + "-" + HEX[:24] + "-" + HEX[:34],
    "pulumi-token": "pul" + "-" + HEX[:40],
    "terraform-token": R[:14] + ".atlas" + "v1." + R[:64],
    "sentry-token": "sntrys" + "_" + R[:60],
    "newrelic-key": "NRAK" + "-" + UPPER[:27],
    "grafana-token": "glsa" + "_" + R[:32] + "_" + HEX[:8],
    "doppler-token": "dp" + ".pt." + R[:43],
    "fly-token": "fm2" + "_" + R[:60],
    "netlify-token": "nfp" + "_" + R[:40],
    "supabase-token": "sbp" + "_" + HEX[:40],
    "planetscale-token": "pscale" + "_tkn_" + R[:43],
    "heroku-key": "HRKU" + "-" + R[:60],
    "buildkite-token": "bkua" + "_" + HEX[:40],
    "circleci-token": "CCIPAT" + "_" + R[:22] + "_" + HEX[:40],
    "sonarqube-token": "sqp" + "_" + HEX[:40],
    "figma-token": "figd" + "_" + R[:44],
    "notion-token": "ntn" + "_" + R[:46],
    "brevo-key": "xkeysib" + "-" + HEX + "-" + R[:16],
    "onepassword-token": "ops" + "_eyJ" + R[:120],
    "langsmith-key": "lsv2" + "_pt_" + HEX[:32] + "_" + HEX[:10],
    "tavily-key": "tvly" + "-" + R[:32],
    "elevenlabs-key": "sk" + "_" + HEX[:48],
    "square-token": "sq0" + "atp-" + R[:22],
    "alibaba-key": "LTAI" + R[:20],
    "azure-client-secret": R[:3] + "8Q~" + R[:34],
    "contentful-token": "CFPAT" + "-" + R[:43],
    "artifactory-key": "AKCp" + R[:69],
    "private-key": "-----BEGIN RSA "
    + "PRIVATE KEY-----\n"
    + "\n".join([R[:64]] * 4)
    + "\n-----END RSA "
    + "PRIVATE KEY-----",
    "assignment": "export SERVICE_API_KEY=" + R[:32],
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_of_each_shape_is_taken_out(kind: str) -> None:
    secret = SECRETS[kind]
    done = redact(f"before\n{secret}\nafter")
    assert done.kinds == (kind,)
    assert done.count == 1
    assert f"[redacted: {kind}]" in done.text
    assert done.text.startswith("before\n") and done.text.endswith("\nafter")
    assert not any(random[:16] in done.text for random in (R, HEX, UPPER, "s3cr3-hunt2!", "eyJzdWI"))


def test_every_shape_has_an_example_here() -> None:
    assert {shape.kind for shape in SHAPES} - set(SECRETS) == set()


def test_the_words_around_a_secret_stay() -> None:
    done = redact(SECRETS["url-password"] + " and " + SECRETS["bearer"])
    assert (
        done.text
        == "postgres://admin:[redacted: url-password]@db.internal/app and Authorization: Bearer [redacted: bearer]"
    )


def test_fine_grained_tokens_are_known() -> None:
    assert redact("github_" + "pat_" + R[:22] + "_" + R[:59]).kinds == ("github-token",)


def test_a_key_block_that_was_cut_off_loses_no_text_behind_it() -> None:
    block = SECRETS["private-key"].rpartition("\n")[0]
    done = redact(block + "\n... 3 lines omitted ...\nstill here")
    assert done.kinds == ("private-key",)
    assert done.text.endswith("still here")


@pytest.mark.parametrize(
    "line",
    [
        "max_tokens = 4096",
        "API_KEY = os.environ['API_KEY']",
        "token = get_token(request)",
        "password: str | None = None",
        "SECRET_KEY=changeme-please-0000000",
        "export API_TOKEN=your-token-goes-here-123",
        "export API_KEY=$(cat /run/key)",
        "KEY=abc",
        "CACHE_KEY=projects/widgets/index/all",
        "SORT_KEY=created_at_then_updated_at",
        "http://user:password@example.com/",
        "http://user:pass@host",
        "redis://:${REDIS_PASSWORD}@localhost",
        "sk-learn and sk-something-else-entirely-with-words",
        "Authorization: Bearer <token>",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "git@github.com:owner/name.git",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----",
        "KEYBOARD=us",
        "MAX_TOKENS=40960000",
        "TOKEN=settings.TOKEN",
        "Client(API_TOKEN=load_token())",
        "PASSWORD_FILE=/run/secrets/db",
        "TOKEN_URL=https://example.org/token",
        "DB_PASSWORD=/run/secrets/database",
        "GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}",
        "PASSWORD=$(pass show db/main)",
        "PASSWORD=required",
        "SECRET_NAME=my-app-secret",
        "OLDPWD=/home/ada/project",
        "xoxo-hugs",
    ],
)
def test_ordinary_lines_stay_as_they_are(line: str) -> None:
    assert redact(line).text == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("PASSWORD=hunter2hunter2", "PASSWORD=[redacted: assignment]"),
        ("TOKEN=abcdefghijklmnop", "TOKEN=[redacted: assignment]"),
        ("API_KEY=letmein-please", "API_KEY=[redacted: assignment]"),
        ("SECRET='correct-horse'", "SECRET='[redacted: assignment]'"),
        ("export DB_PASSWORD=tr0ub4dor && ./run", "export DB_PASSWORD=[redacted: assignment] && ./run"),
        ("A=1 MYSQL_PWD=hunter22 mysql -u root", "A=1 MYSQL_PWD=[redacted: assignment] mysql -u root"),
        (
            "docker run -e POSTGRES_PASSWORD=hunter2hunter2 db",
            "docker run -e POSTGRES_PASSWORD=[redacted: assignment] db",
        ),
        ('["API_TOKEN=abcdefghij", "A=b"]', '["API_TOKEN=[redacted: assignment]", "A=b"]'),
        (
            "PATH=/bin\nREFRESH_TOKEN=abcdefghij\nHOME=/root",
            "PATH=/bin\nREFRESH_TOKEN=[redacted: assignment]\nHOME=/root",
        ),
        ("Environment=AWS_SECRET_ACCESS_KEY=abcdefghijkl", "Environment=AWS_SECRET_ACCESS_KEY=[redacted: assignment]"),
    ],
)
def test_what_is_assigned_to_a_secret_is_taken_out_however_plain_it_looks(text: str, shown: str) -> None:
    done = redact(text)
    assert (done.text, done.kinds, done.count) == (shown, ("assignment",), 1)


def test_known_values_are_taken_out_wherever_they_stand() -> None:
    done = redact("got hunter2-long in hunter2-long-url", secrets=("hunter2-long",))
    assert done.text == "got [redacted: known-value] in [redacted: known-value]-url"
    assert done.count == 2


def test_short_known_values_are_left_alone() -> None:
    assert redact("the test passed", secrets=("test",)).text == "the test passed"


def test_known_secrets_are_the_values_of_key_variables_the_longest_first() -> None:
    environment = {
        "OPENAI_API_KEY": "abcdefgh",
        "GITHUB_TOKEN": "abcdefghij",
        "DB_PASSWORD": "short",
        "SSH_KEY": "/home/ada/.ssh/id",
        "KEYBOARD_LAYOUT": "us-international",
        "PATH": "/usr/bin:/bin",
        "MONKEY_BUSINESS": "bananas-for-all",
    }
    assert known_secrets(environment) == ("abcdefghij", "abcdefgh")


def test_values_are_redacted_at_every_depth() -> None:
    key = SECRETS["github-token"]
    assert redact_value({"a": [key, 1, None, True], key: {"b": key}}) == {
        "a": ["[redacted: github-token]", 1, None, True],
        "[redacted: github-token]": {"b": "[redacted: github-token]"},
    }


def test_source_code_is_never_changed() -> None:
    roots = [Path(sysconfig.get_paths()["stdlib"]), Path(sysconfig.get_paths()["purelib"])]
    files = [file for root in roots for file in sorted(root.rglob("*.py"))[::12]]
    shown = {
        "apprise",
        "genai",
        "oauthlib",
        "requests_oauthlib",
        "tests",
        "test",
    }  # keys in their real shape, in comments and data
    files = [file for file in files if not shown & set(file.parts)]
    changed = [str(file) for file in files if redact(file.read_text("utf-8", "replace")).count]
    assert len(files) > 300
    assert changed == []


@given(st.text())
def test_redaction_finds_nothing_in_what_it_has_redacted(text: str) -> None:
    once = redact(text, secrets=("0123456789",))
    assert redact(once.text, secrets=("0123456789",)).count == 0


@pytest.mark.parametrize("way", ["base64", "base64 with more", "urlsafe", "hex", "percent", "json", "reversed"])
def test_a_known_value_is_found_in_the_ways_in_which_it_is_written(way: str) -> None:
    import base64
    import json
    from urllib.parse import quote

    secret = 'p?ss/w0rd"~>>ü-hunter2'
    raw = secret.encode()
    written = {
        "base64": base64.b64encode(raw).decode(),
        "base64 with more": base64.b64encode(b"TOKEN=" + raw + b"\n").decode(),
        "urlsafe": base64.urlsafe_b64encode(b"a" + raw).decode(),
        "hex": raw.hex(),
        "percent": quote(secret, safe=""),
        "json": json.dumps(secret)[1:-1],
        "reversed": secret[::-1],
    }[way]
    done = redact(f"before {written} after", secrets=(secret,))
    assert done.kinds == ("known-value",)
    assert done.text.startswith("before ") and done.text.endswith(" after")


def test_the_id_of_a_test_keeps_what_looks_like_a_secret_and_loses_what_is_one() -> None:
    row = "tests/test_url.py::TestHost::test_host[http://anna:s3cret-word@shop.example/a b]"
    assert redact_value({"id": row, row: 1}) == {"id": row, row: 1}
    assert redact_value([f"{row} failed"]) != [f"{row} failed"]
    assert redact_value(row, secrets=("s3cret-word",)) == row.replace("s3cret-word", "[redacted: known-value]")
