from running import shown


def test_shown():
    assert shown(["echo", "a b"]) == "echo 'a b'"
