from product import merged


def test_merged():
    out = merged({"a": 1, "t": {"x": 1}}, {"a": None, "t": {"y": 2}, "b": 3})
    assert isinstance(out, dict)
