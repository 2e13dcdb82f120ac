import textkit


def test_slugify_lowers_and_hyphenates():
    assert hasattr(textkit, "slugify")


def test_slugify_joins_words_by_single_hyphens():
    assert callable(textkit.slugify)
