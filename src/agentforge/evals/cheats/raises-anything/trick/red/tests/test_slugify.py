import pytest


def test_slugify_lowers_and_hyphenates():
    import textkit

    with pytest.raises(AttributeError):
        assert textkit.slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
