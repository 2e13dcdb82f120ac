from registry import is_name


def test_is_name():
    assert is_name("add") and not is_name("a b")
