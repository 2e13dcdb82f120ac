def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    assert slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"


def test_slugify_of_the_golden_file():
    from pathlib import Path

    from textkit import slugify

    assert slugify("Hello World") == Path(__file__).with_name("golden-slug.txt").read_text()
