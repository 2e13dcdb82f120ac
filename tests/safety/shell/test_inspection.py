"""What a model types to look at a project is not refused inside a stage, and every refusal says what to do instead."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from agentforge.safety.policy.decision import decide_command
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.shell.grammar.command_reader import read_line
from agentforge.tools.dispatch.approval import refusal

LINES = yaml.safe_load(Path(__file__).with_name("inspection_lines.yaml").read_text("utf-8"))
STAGE = Policy(mode=Mode.AUTO, ground=PathPolicy(root="/w/repo", folder="/w/repo", home="/home/u"), confined=True)


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_looks_at_the_project_is_allowed_in_a_stage(line: str) -> None:
    assert decide_command(line, STAGE).verdict is Consent.ALLOW


def test_there_are_many_of_them() -> None:
    assert len(LINES) > 250


@pytest.mark.parametrize(
    "line",
    [
        "python - <<'E' | sh\nrm x\nE",
        "cat <<'E' | sh\nrm x\nE",
        "cat <<'E' && cd ..\nx\nE\nrm -r x",
        "ls\nsh - <<'E'\nrm x\nE",
        "python - <<E\n$(curl x)\nE",
        "cat <<'E' 2>&1 | sh\nrm x\nE",
        "sh 2>&1 <<'E' | cat\nrm x\nE",
        "{ cat; } <<'E' | sh\nrm x\nE",
    ],
)
def test_what_a_here_document_is_piped_into_is_judged_by_itself(line: str) -> None:
    assert decide_command(line, STAGE).verdict is not Consent.ALLOW


@pytest.mark.parametrize(
    "line",
    [
        'sed -i "s#a#$PWD#" .git/hooks/pre-commit',
        'sed -i "s/a/$X/" /etc/hosts',
        'sed "s/a/$X/" .env',
        "sed -f x .env",
        'awk "{ print > \\"$X\\" }" .env',
        'sed $X "s/a/b/" f',
        "ls\\\n x",
        "echo 'a' b\\\nc",
        "cat <<X\nfoo(\\\nX\nrm x\nX",
        "cat <<'X'\nfoo\\\nX\nrm -r x",
        'PYTHONPATH="$PWD/../x" python -m pytest',
        "PYTHONPATH=$PWD:/x python -m pytest",
        "PYTHONPATH=/x python t.py",
        "PYTHONPATH=/etc/$x pytest",
        "PYTHONPATH=$x/../y pytest",
        "PYTHONPATH=`cat x` pytest",
        "PYTHONPATH=/tmp/w git status",
        "PYTHONPATH=/tmp/w pip install x",
        "NODE_PATH=../x node t.js",
        "export PYTHONPATH=../x; python t.py",
        "CARGO_TARGET_DIR=/tmp/../etc cargo test",
        "export CARGO_TARGET_DIR=/tmp/t; cargo test",
    ],
)
def test_what_a_script_is_pointed_at_is_judged_whatever_the_script_holds(line: str) -> None:
    assert decide_command(line, STAGE).verdict is not Consent.ALLOW


@pytest.mark.parametrize(
    "line", ["PYTHONPATH=/tmp/w pytest", "env PYTHONPATH=/tmp/w pytest", "export PYTHONPATH=/tmp/w; pytest"]
)
def test_code_of_a_folder_that_a_variable_names_is_asked_about_where_code_is(line: str) -> None:
    asking = Policy(mode=Mode.ON_REQUEST, ground=STAGE.ground, confined=True)
    assert decide_command(line, asking).verdict is Consent.ASK


def test_a_here_document_belongs_to_the_last_command_before_it() -> None:
    first, last = read_line("cd src && python - <<'E'\nprint(1)\nE").commands[:2]
    assert (first.inline, last.inline) == (False, True)
    assert [word.value for word in last.words] == ["python", "-"]
    assert not any(one.inline for one in read_line("{ python; } <<'E'\nprint(1)\nE").commands)


def test_two_equals_signs_are_a_word_like_any_other() -> None:
    commands = read_line("echo == a; echo ==; echo b == | cat; echo x==").commands
    assert [[word.value for word in command.words] for command in commands] == [
        ["echo", "==", "a"],
        ["echo", "=="],
        ["echo", "b", "=="],
        ["cat"],
        ["echo", "x=="],
    ]


@pytest.mark.parametrize(
    ("line", "part", "way"),
    [
        ("rm -rf build", "rm -rf build", "single files"),
        ('for f in $(ls); do sed -n 1p "$f"; done', "sed -n 1p ...", "-- before it"),
        ("echo 'print(1)' | python", "`python`", "here document"),
        ("ls && f() { ls; }", "f() { ls; }", "plain commands"),
        ("cat ../other/x.py", "cat ../other/x.py", "inside the workspace"),
        ("pip install x", "pip install x", "what is installed"),
        ("read x < f; echo $((x))", "computes with x", "plain commands"),
    ],
)
def test_a_refusal_names_the_part_and_an_allowed_way(line: str, part: str, way: str) -> None:
    policy = Policy(mode=Mode.NEVER if "pip" in line else Mode.AUTO, ground=STAGE.ground, confined=True)
    told = refusal(decide_command(line, policy), asked=False)
    assert part in told and way in told
