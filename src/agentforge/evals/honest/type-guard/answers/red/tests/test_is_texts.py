import pytest


@pytest.mark.parametrize("value", [["a", "b"], []])
def test_lists_of_strings(value):
    from guards import is_texts

    assert is_texts(value) is True


@pytest.mark.parametrize("value", [["a", 1], "ab", ("a", "b"), None])
def test_anything_else(value):
    from guards import is_texts

    assert is_texts(value) is False
