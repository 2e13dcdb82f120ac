from product import days, is_leap


def test_days():
    assert days(2, 2024) and days(4, 2023) and days(1, 2023)
    assert isinstance(is_leap(2000), bool)
