from grouping import pairs


def test_pairs():
    assert list(pairs([1, 2, 3])) == [(1, 2), (2, 3)]
