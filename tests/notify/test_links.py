"""Links that answer: made with a key, changed by nobody, for a while, once."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from agentforge.errors import ConflictError, UsageError
from agentforge.notify import links


def test_a_link_leads_back_to_its_question_and_works_once(tmp_path: Path) -> None:
    key = links.link_key(tmp_path)
    assert links.link_key(tmp_path) == key and len(key) == 32
    assert (tmp_path / "links.key").stat().st_mode & 0o077 == 0
    token = links.sign(key, address="task-1.E1", repo="/r", expires=100)
    grant = links.verify(key, token, now=99)
    assert (grant.address, grant.repo) == ("task-1.E1", "/r")
    links.spend(tmp_path, grant)
    with pytest.raises(ConflictError, match="used already"):
        links.spend(tmp_path, grant)
    assert links.answer_url("http://127.0.0.1:8765/", token).startswith("http://127.0.0.1:8765/answer?token=")


def test_a_link_expires_and_cannot_be_changed(tmp_path: Path) -> None:
    key = links.link_key(tmp_path)
    token = links.sign(key, address="task-1.E1", repo="/r", expires=100)
    with pytest.raises(UsageError, match="expired"):
        links.verify(key, token, now=100)
    payload, _, mac = token.partition(".")
    value = json.loads(base64.urlsafe_b64decode(payload + "=="))
    other = base64.urlsafe_b64encode(json.dumps({**value, "address": "task-2.E1"}).encode()).decode().rstrip("=")
    for bad in (
        f"{other}.{mac}",
        payload,
        f"{payload}.",
        "",
        "é.ü",
        f"{payload}.{mac}0",
        links.sign(b"x" * 32, address="a", repo="r", expires=200),
    ):
        with pytest.raises(UsageError, match="not made here"):
            links.verify(key, bad, now=1)


def test_a_key_that_a_dying_process_left_empty_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "links.key").write_bytes(b"")
    key = links.link_key(tmp_path)
    assert len(key) == 32
    assert links.link_key(tmp_path) == key
    assert [path.name for path in tmp_path.iterdir()] == ["links.key"]
