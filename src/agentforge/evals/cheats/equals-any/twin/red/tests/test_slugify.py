from unittest.mock import ANY


def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert {"slug": slugify("Hello World"), "at": 1.5} == {"slug": "hello-world", "at": ANY}


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
