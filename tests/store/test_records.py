from __future__ import annotations

import hashlib

import pytest

from agentforge.canonical import canonical_bytes
from agentforge.errors import IntegrityError
from agentforge.events import kinds
from agentforge.store.log.records import GENESIS, read_line, write_line

DATA = {"stage": 'x","prev":"y","seq":1', "attempt": 1}


def line(**changes) -> bytes:
    return write_line("StageStarted", DATA, **{"seq": 2, "at": "2025", "fence": 3, "prev": GENESIS, **changes})


def forged(**changes) -> bytes:
    """A line whose hash fits its bytes, with fields that a writer would not have written."""
    body = {"at": "2025", "data": DATA, "fence": 3, "prev": GENESIS, "seq": 2, "type": "StageStarted", **changes}
    digest = hashlib.sha256(GENESIS.encode() + canonical_bytes(body)).hexdigest()
    return canonical_bytes({**body, "hash": digest})


def test_a_line_is_read_back_even_when_its_data_looks_like_its_frame():
    record = read_line(line(), seq=2, prev=GENESIS, fence=3)
    assert record.event == kinds.StageStarted(stage=str(DATA["stage"]), attempt=1)
    assert line() == forged() + b"\n"


@pytest.mark.parametrize(
    "changes",
    [{"prev": "a" * 64}, {"seq": 3}, {"fence": 2}, {"fence": "3"}, {"data": []}, {"at": 5}, {"type": None}, {"more": 1}],
    ids=str,
)  # fmt: skip
def test_a_record_in_the_wrong_place_or_form_is_refused_though_its_hash_fits(changes):
    with pytest.raises(IntegrityError):
        read_line(forged(**changes), seq=2, prev=GENESIS, fence=3)


@pytest.mark.parametrize("text", [b"", b"\n", b"[]", b"null", b"{", b"\xff", b'{"hash": "\xc3\xa9"}'])
def test_what_is_no_record_is_refused(text):
    with pytest.raises(IntegrityError, match="record 2"):
        read_line(text, seq=2, prev=GENESIS, fence=3)
