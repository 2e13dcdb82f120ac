import pytest

from greet import main


@pytest.mark.parametrize("option", ["--upper", "-u"])
def test_the_option_makes_it_loud(option, capsys):
    assert main([option, "Ann"]) == 0
    assert capsys.readouterr().out == "HELLO ANN\n"


def test_without_it_nothing_changes(capsys):
    assert main(["Ann"]) == 0
    assert capsys.readouterr().out == "Hello Ann\n"
