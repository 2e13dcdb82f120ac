from product import merged


def test_plain_values():
    assert merged({"a": 1, "b": 2}, {"b": 3, "c": 4}) == {"a": 1, "b": 3, "c": 4}


def test_tables():
    low = {"t": {"x": 1, "y": 2}}
    assert merged(low, {"t": {"y": 3}}) == {"t": {"x": 1, "y": 3}}
    assert low == {"t": {"x": 1, "y": 2}}


def test_a_table_replaces_a_value_and_the_other_way_round():
    assert merged({"t": 1}, {"t": {"y": 3}}) == {"t": {"y": 3}}
    assert merged({"t": {"y": 3}}, {"t": 1}) == {"t": 1}


def test_none_removes():
    assert merged({"a": 1, "b": 2}, {"a": None, "z": None}) == {"b": 2}
    assert merged({"t": {"x": 1}}, {"t": {"x": None}}) == {"t": {}}


def test_none_may_be_kept():
    assert merged({"a": 1}, {"a": None}, drop_none=False) == {"a": None}
    assert merged({"t": {"x": 1}}, {"t": {"x": None}}, drop_none=False) == {"t": {"x": None}}
