import pytest


def test_a_registered_function_can_be_run():
    from registry import command, run

    @command("add")
    def add(left, right):
        return left + right

    assert run("add", 2, 3) == 5
    assert add(1, 1) == 2


def test_a_name_is_registered_once():
    from registry import command

    command("once")(lambda: 1)
    with pytest.raises(ValueError, match="once"):
        command("once")(lambda: 2)


def test_an_unknown_name_tells_the_known_ones():
    from registry import command, run

    command("zeta")(lambda: 1)
    command("alpha")(lambda: 2)
    with pytest.raises(LookupError, match="alpha.*zeta"):
        run("nothing")
