from wares import label


def test_label():
    assert label("tea", 250) == "tea: 2.50"
