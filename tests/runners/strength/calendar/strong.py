import pytest
from product import days, is_leap


@pytest.mark.parametrize(
    ("year", "leap"),
    [(2023, False), (2024, True), (1900, False), (2000, True), (2100, False), (2400, True), (2025, False)],
)
def test_leap_years(year, leap):
    assert is_leap(year) is leap


def test_all_months():
    assert [days(month, 2023) for month in range(1, 13)] == [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    assert days(2, 2024) == 29
