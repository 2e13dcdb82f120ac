from recipes import scale


def test_scale_doubles():
    assert scale({"flour": 250, "eggs": 2}, 4, 8) == {"flour": 500, "eggs": 4}
