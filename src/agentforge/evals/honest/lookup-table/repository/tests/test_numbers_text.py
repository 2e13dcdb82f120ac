from numbers_text import thousands


def test_thousands():
    assert thousands(1234567) == "1,234,567"
