from textkit import shout, slugify


def test_words_are_joined():
    assert slugify("Hello World") == "hello-world"
    assert slugify("A b C") == "a-b-c"
    assert slugify("Tic\tTAC\n toe") == "tic-tac-toe"


def test_blanks_around_and_nothing():
    assert slugify("  One   two ") == "one-two"
    assert slugify("") == ""
    assert slugify("   ") == ""


def test_the_rest_stays():
    assert shout("ab") == "AB!"
