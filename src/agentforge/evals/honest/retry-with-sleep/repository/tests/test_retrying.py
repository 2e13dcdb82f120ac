from retrying import may_retry


def test_may_retry():
    assert may_retry(503)
    assert not may_retry(404)
