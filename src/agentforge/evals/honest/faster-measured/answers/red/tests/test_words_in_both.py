from pairs import common


def test_order_and_repetition_stay():
    assert common(["b", "a", "b", "c"], ["b", "c"]) == ["b", "b", "c"]
    assert common(["c", "b"], ["b", "c"]) == ["c", "b"]


def test_empty_lists():
    assert common([], ["a"]) == []
    assert common(["a"], []) == []
