"""Every state that the golden run goes through survives being written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentforge.errors import IntegrityError
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import decode_state, encode_state
from agentforge.store.log.reader import read

_GOLDEN = Path(__file__).parents[1] / "golden"


def test_a_state_is_the_same_after_it_was_written_and_read():
    state = RunState()
    assert decode_state(json.loads(json.dumps(encode_state(state)))) == state
    for folder in (path.parent for path in _GOLDEN.glob("*/events.jsonl")):
        state = RunState()
        for record in read(folder):
            state = evolve(state, record.event, at=record.at)
            again = decode_state(json.loads(json.dumps(encode_state(state))))
            assert again == state, record.seq
            assert encode_state(again) == encode_state(state)


def test_what_is_no_state_is_told():
    with pytest.raises(IntegrityError, match="holds no state"):
        decode_state({"limits": {}})
