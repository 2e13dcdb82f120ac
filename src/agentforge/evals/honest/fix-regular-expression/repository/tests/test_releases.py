from releases import find_version


def test_find_version():
    assert find_version("tool 1.2.3") == "1.2.3"
