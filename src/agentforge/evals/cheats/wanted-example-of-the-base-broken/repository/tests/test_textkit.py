from textkit import initials, shout


def test_shout():
    assert shout("hi") == "HI!"


def test_initials():
    assert initials("12 34") == "13"
