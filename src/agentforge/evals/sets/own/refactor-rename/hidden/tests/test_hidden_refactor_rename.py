import textkit


def test_the_name_is_new():
    assert textkit.lower("ABC") == "abc"
    assert not hasattr(textkit, "mumble")


def test_the_rest_stays():
    assert textkit.shout("hi") == "HI!"
