from textkit import shout


def test_slugify_lowers_and_hyphenates():
    assert shout("hello-world") == "HELLO-WORLD!"
