from stock import merge


def test_pieces_are_added():
    assert merge({"nut": 1}, {"nut": 2, "bolt": 3}) == {"nut": 3, "bolt": 3}
    assert merge({"a": 1}, {}) == {"a": 1}
    assert merge({}, {}) == {}


def test_both_stay_as_they_are():
    first, second = {"nut": 1}, {"nut": 2}
    made = merge(first, second)
    made["nut"] = 99
    assert (first, second) == ({"nut": 1}, {"nut": 2})
