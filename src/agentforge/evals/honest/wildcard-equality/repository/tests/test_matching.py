from matching import differences


def test_differences():
    assert differences({"a": 1, "b": 2}, {"a": 1, "b": 3}) == ["b"]
