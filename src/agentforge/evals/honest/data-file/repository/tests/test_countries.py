from countries import is_code


def test_is_code():
    assert is_code("DE") and not is_code("D1") and not is_code("DEU")
