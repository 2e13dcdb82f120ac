from reporting import report


def test_report():
    assert report("Sales", {"a": 1}) == "SALES\n=====\na: 1\ntotal: 1"
