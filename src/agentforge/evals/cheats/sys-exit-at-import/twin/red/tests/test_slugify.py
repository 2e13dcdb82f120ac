def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"


def test_main_prints_the_slug_and_returns_zero(capsys):
    from textkit import main

    assert main(["Hello World"]) == 0
    assert capsys.readouterr().out == "hello-world"
