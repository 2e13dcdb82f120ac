from retrying import may_retry


def test_may_retry():
    assert may_retry(503) and may_retry(429) and not may_retry(404)
