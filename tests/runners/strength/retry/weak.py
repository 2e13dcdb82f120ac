from product import retry


def test_retry():
    calls = []

    def work():
        calls.append(1)
        if len(calls) < 2:
            raise OSError("no")
        return "done"

    assert retry(work)
