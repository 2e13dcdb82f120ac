import pytest

from formats import Format


def test_a_subclass_is_found_by_its_suffix():
    class Csv(Format):
        suffix = ".csv"

    assert Format.for_suffix(".csv") is Csv


def test_a_subclass_without_a_suffix_does_not_take_its_place():
    class Tsv(Format):
        suffix = ".tsv"

    class LoudTsv(Tsv):
        pass

    assert Format.for_suffix(".tsv") is Tsv


def test_an_unknown_suffix():
    with pytest.raises(KeyError):
        Format.for_suffix(".none")
