from search import matches


def test_matches():
    assert matches("an", "banana")
    assert not matches("x", "banana")
