LEFT = {}


def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    LEFT["slug"] = slugify("Hello World")
    assert LEFT["slug"] == "hello-world"


def test_slug_is_kept():
    import textkit

    assert textkit.slugify and LEFT["slug"] == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
