def test_slugify_lowers_and_hyphenates(request):
    from textkit import slugify

    assert request.node.name.startswith("test_slugify")
    assert slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
