import pytest

from orders import next_state


def test_states_equal_their_texts():
    from orders import State

    assert [State.OPEN, State.PAID, State.SENT] == ["open", "paid", "sent"]


def test_the_next_state():
    from orders import State

    assert next_state("open") is State.PAID
    assert next_state(State.PAID) is State.SENT
    assert next_state("sent") is State.SENT


def test_an_unknown_state():
    with pytest.raises(ValueError, match="lost"):
        next_state("lost")
