import pytest

from formats import Format


def test_a_format_must_say_how_it_is_written():
    with pytest.raises(NotImplementedError):
        Format().write([])
