from product import slug


def test_slug():
    assert isinstance(slug("Hello World this is far too long"), str)
    assert slug("")
