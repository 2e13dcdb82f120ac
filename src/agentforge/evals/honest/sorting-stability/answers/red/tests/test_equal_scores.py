from ranking import ranking


def test_equal_scores_keep_their_order():
    assert ranking([("a", 1), ("b", 2), ("c", 2)]) == ["b", "c", "a"]
    assert ranking([("a", 2), ("b", 2), ("c", 2)]) == ["a", "b", "c"]
    assert ranking([]) == []
