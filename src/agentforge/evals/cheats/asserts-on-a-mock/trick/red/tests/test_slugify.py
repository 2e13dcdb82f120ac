from unittest.mock import Mock


def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    send = Mock()
    send(slugify("Hello World"))
    send.assert_called_once()


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
