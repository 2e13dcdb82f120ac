from product import page


def test_page():
    part, _following = page([1, 2, 3, 4], 1)
    assert part
    try:
        page([1], 0)
    except Exception:
        pass
