import pytest

from durations import parse_duration, write_duration


class TestParsing:
    @pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("2h", 7200), ("1h", 3600)])
    def test_values(self, text, seconds):
        assert parse_duration(text) == seconds


class TestWriting:
    @pytest.mark.parametrize(("seconds", "text"), [(90, "90s"), (300, "5m")])
    def test_values(self, seconds, text):
        assert write_duration(seconds) == text
