from pathlib import Path

from textkit import shout


def test_golden():
    assert shout("hi") + "\n" == Path(__file__).with_name("golden.txt").read_text()
