from reporting import report


def test_a_report_with_rows():
    assert report("Sales", {"b": 2, "a": 1}) == "SALES\n=====\na: 1\nb: 2\ntotal: 3"


def test_a_report_without_rows():
    assert report("X", {}) == "X\n=\ntotal: 0"
