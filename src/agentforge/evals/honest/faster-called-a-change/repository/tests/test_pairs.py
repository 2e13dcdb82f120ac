from pairs import common


def test_common():
    assert common(["a", "b"], ["b"]) == ["b"]
