from ranking import ranking


def test_the_best_comes_first():
    assert ranking([("a", 1), ("b", 3), ("c", 2)]) == ["b", "c", "a"]
