import sys

import pytest


def test_the_lines_of_the_output():
    from running import run_lines

    assert run_lines([sys.executable, "-c", "print(1); print(2)"]) == ["1", "2"]


def test_a_failure_is_raised():
    from running import CommandFailed, run_lines

    with pytest.raises(CommandFailed) as caught:
        run_lines([sys.executable, "-c", "import sys; sys.stderr.write('no\\n'); sys.exit(3)"])
    assert caught.value.code == 3
    assert str(caught.value) == "no"
    assert isinstance(caught.value, RuntimeError)
