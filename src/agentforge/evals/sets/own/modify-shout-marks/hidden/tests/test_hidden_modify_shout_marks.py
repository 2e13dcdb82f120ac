from textkit import shout


def test_marks():
    assert shout("hi", marks=3) == "HI!!!"
    assert shout("hi", marks=2) == "HI!!"
    assert shout("hi", marks=0) == "HI"
    assert shout("hi") == "HI!"
    assert shout("", marks=2) == "!!"
