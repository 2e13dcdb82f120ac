from versions import parse_version


def test_equal_texts_are_parsed_once():
    parse_version.cache_clear()
    first = parse_version("1.2")
    assert parse_version("1.2") is first
    info = parse_version.cache_info()
    assert (info.hits, info.misses, info.maxsize) == (1, 1, 256)
    assert first == (1, 2)
