import textkit


def test_it_is_gone():
    assert not hasattr(textkit, "mumble")


def test_the_rest_stays():
    assert textkit.shout("hi") == "HI!"
    assert textkit.initials("ab cd") == "AC"
    assert textkit.count_words("a b a") == {"a": 2, "b": 1}
