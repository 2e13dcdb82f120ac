from orders import next_state


def test_next_state():
    assert next_state("open") == "paid"
