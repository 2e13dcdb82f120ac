from distances import distance


def test_words():
    assert distance("kitten", "sitting") == 3
    assert distance("", "abc") == 3
