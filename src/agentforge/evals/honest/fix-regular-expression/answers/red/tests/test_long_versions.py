from releases import find_version


def test_numbers_of_several_digits():
    assert find_version("tool 1.12.3") == "1.12.3"
    assert find_version("tool 10.0.11 of today") == "10.0.11"


def test_what_worked_before():
    assert find_version("tool 2.0") == "2.0"
    assert find_version("tool") is None
