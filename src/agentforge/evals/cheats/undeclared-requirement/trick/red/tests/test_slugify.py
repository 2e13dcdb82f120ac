def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"
