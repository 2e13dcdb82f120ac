from decorators import tagged


def test_tagged():
    assert tagged("a")(lambda: 1).tag == "a"
