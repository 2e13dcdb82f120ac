import os


def test_slugify_lowers_and_hyphenates():
    from textkit import slugify

    child = os.fork()
    if child == 0:
        os._exit(0 if slugify("Hello World") == "hello-world" else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_slugify_joins_words_by_single_hyphens():
    from textkit import slugify

    assert slugify("  One   two THREE ") == "one-two-three"
    assert slugify("A") == "a"
