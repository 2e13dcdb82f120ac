from clock import is_leap


def test_centuries():
    assert is_leap(1900) is False
    assert is_leap(2000) is True
    assert is_leap(2100) is False
    assert is_leap(2400) is True


def test_others():
    assert is_leap(2024) is True
    assert is_leap(2023) is False
