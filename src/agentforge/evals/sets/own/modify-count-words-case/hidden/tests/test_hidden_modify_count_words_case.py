from textkit import count_words


def test_case_does_not_matter():
    assert count_words("A b a") == {"a": 2, "b": 1}
    assert count_words("The the THE") == {"the": 3}
    assert count_words("") == {}
    assert count_words("x X y") == {"x": 2, "y": 1}
