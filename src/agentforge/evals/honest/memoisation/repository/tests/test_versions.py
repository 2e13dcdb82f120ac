from versions import parse_version


def test_parse_version():
    assert parse_version("1.20.3") == (1, 20, 3)
