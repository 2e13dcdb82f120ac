from pathlib import Path

from places import beside


def test_beside():
    assert beside(Path("/a/b"), "c") == Path("/a/c")
