"""What a test process printed last stands beside the sentence that says that it ended."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentforge.suite.baseline_causes import causes_of, keeps_away
from agentforge.suite.detection import detect
from agentforge.testing.report_stream import last_words

_TEST = {"tests/test_a.py": "def test_a():\n    assert True\n"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"conftest.py": "def pytest_collect_file(file_path, parents):\n    pass\n"}, ("PluginValidationError", "'parents'")),
        ({"pytest.ini": "[pytest]\naddopts = -p nobody_has_it\n"}, ("No module named 'nobody_has_it'",)),
        ({"pytest.ini": "[pytest]\naddopts = --nobody-has-it\n"}, ("unrecognized arguments", "--nobody-has-it")),
    ],
)  # fmt: skip
def test_pytest_that_does_not_begin_says_why(project, files, said):
    run = project({**_TEST, **files}).run()
    assert not run.complete
    assert all(one in " ".join(run.problems) for one in said), run.problems


def test_why_pytest_did_not_begin_is_the_cause_of_an_empty_base_line(project):
    made = project({**_TEST, "conftest.py": "def pytest_collect_file(file_path, parents):\n    pass\n"})
    run = made.run()
    read = {name: (made.path / name).read_bytes() for name in _TEST}.get
    (cause,) = causes_of(run, made.plan, present=list(_TEST), read=read)
    assert "PluginValidationError" in cause.text and cause.remedy == "" and keeps_away(run, [cause])
    told = replace(run, problems=("it ended; the last that it printed: ModuleNotFoundError: No module named 'six'",))
    (cause,) = causes_of(told, made.plan, present=list(_TEST), read=read)
    assert cause.remedy.endswith("-m pip install six") and keeps_away(told, [cause])


def test_a_command_that_writes_no_report_says_why(project):
    made = project({**_TEST, "run.sh": "echo 'fatal: there is no toolchain' >&2; exit 3\n"})
    made = replace(made, plan=detect(made.path, settings={"command": "sh run.sh", "junit": "out.xml"}))
    run = made.run()
    assert not run.complete and "fatal: there is no toolchain" in run.problems[0]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("", ""),
        ("one\ntwo\nthree\nfour\n", "two | three | four"),
        ('● Unrecognized CLI Parameter:\n\n  Unrecognized option "x".\n\n', '● Unrecognized CLI Parameter: | Unrecognized option "x".'),
        ("Error: no reporter.\n  Module name: a.js\n    at normalize (/x/y.js:464:15)\n    at Array.map (<anonymous>)\n",
         "Error: no reporter. | Module name: a.js"),
        ("\x1b[31mValueError: bad\x1b[0m\n", "ValueError: bad"),
    ],
)  # fmt: skip
def test_the_lines_that_tell_are_taken(output, said):
    assert last_words(output) == said


def test_what_is_quoted_is_bounded_and_holds_no_secret():
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    said = last_words(f"Error: the token {secret} is refused\n" + json.dumps(["x" * 5000]))
    assert secret not in said and said.startswith("Error: the token") and len(said) <= 300
