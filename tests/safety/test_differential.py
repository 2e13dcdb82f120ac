"""What bash really runs for a generated line, against what the policy said of it: nothing harmful runs for an allowed line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from agentforge.safety.policy.decision import decide_command
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy

_HARMLESS = ("ls", "cat", "grep", "head", "wc", "sort", "id", "git", "find")
_HARMFUL = ("rm", "touch", "evil", "curl", "mv", "sh2")
_DRIVER = """
import json, os, subprocess, sys
lines = json.load(sys.stdin)
found = []
for number, line in enumerate(lines):
    place = f"/mnt/case{number}"
    os.mkdir(place)
    log = f"/mnt/log{number}"
    environment = {"PATH": "/spies", "LOG": log, "HOME": "/mnt/home", "a": "-delete", "b": "rm", "x": "evil"}
    try:
        subprocess.run(["/bin/bash", "-c", line], cwd=place, env=environment, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=5)
    except (subprocess.TimeoutExpired, ValueError):
        pass
    ran = open(log).read().split() if os.path.exists(log) else []
    found.append({"ran": ran, "files": os.listdir(place)})
json.dump(found, sys.stdout)
"""

_WORDS = [
    *("ls", "cat", "grep", "head", "echo", "find", "git status", "sort", "true", "rm", "touch", "evil", "curl", "f", "-delete", "x y"),
    *("'rm'", '"rm"', "r\\m", "$b", "${b}", '"$b"', "${x@P}", "${y:=rm}", "${!x}", "$'rm'", "$'\\x72m'", "$\"rm\"", "r''m", "{rm,f}", "rm\\\n"),
    *("$(rm f)", "`rm f`", '"$(evil)"', '"`evil`"', "<(evil)", ">(evil)", "$((1+1))", "$((a[$(evil)]))", "~", "*", "\\", "\\;", "'", '"', "#", "# rm"),
    *("a=rm", "PATH=/x", "x=$(evil)", "IFS=m", "!", "{", "}", "(", ")", "[[", "]]", "((", "))", "[", "]", "if", "then", "fi", "for i in", "do", "done", "while", "case", "in", "esac", ";;"),
    *("rg x", "tree", "uniq", "xxd f", "awk", "sed -n", "date", "jobs -x", "hash -p", "printf", "test", "read", "watch", "nice", "timeout 1", "exec -a", "--pre=evil", "-o f", "--output=f"),
    *("'{print > \"f\"}'", "'{system(\"evil\")}'", "'/\"/{system(\"evil\")}/\"/'", "p", "'1e evil'", "'w f'", "-I{}", "sh -c", "'cat {}'", "'a -o f'", "$i", '"$i"', "i in 'a -o f'", "unset", "-v", "'a[$(evil)]'"),
    *("y='a -delete'", "$y", "a$y", "y='x; evil'", '"$y"', "<<'E'", "export x=evil", "-n", "./*", "wait -p", "set --", '"$@"', "$1", "${#a}", "[ $y ]", "[[ -n $y ]]"),
    *("x=1", "z=3", "$z", '"$z"', "$((z))", "$((x+1))", "i=$((i+1))", "z='a[$(evil)]'", "sed $z 'w f'", "sed -n \"${z}p\"", "==", "echo ==", "x=p", "sed $x", "read z", "for ((z=x;z<2;z++)); do", "z=$(wc -l < f)"),
    *("function", "f()", "time", "coproc", "eval", "exec", "command", "builtin", "env", "xargs", "bash -c", "-exec", "{}", "+", "2>&1", "--", "-c", "export", "declare -n", "select", "until", "let", "$[1]", "\t", "\r"),
]  # fmt: skip
_JOINTS = [" ", " ", " ", " ", "", " ; ", ";", " && ", "&&", " || ", " | ", "|", " & ", "&", "\n", " |& ", " > ", ">", " >> ", " < ", "<<<", " <<E\n", "\nE\n", " >| ", " &> ", " <> ", "\\\n"]  # fmt: skip


@st.composite
def _lines(draw: st.DrawFn) -> str:
    count = draw(st.integers(1, 7))
    parts = [draw(st.sampled_from(_WORDS))]
    for _ in range(count):
        parts += [draw(st.sampled_from(_JOINTS)), draw(st.sampled_from(_WORDS))]
    return "".join(parts)


@pytest.fixture(scope="module")
def spies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs that only note that they were run."""
    folder = tmp_path_factory.mktemp("spies")
    for name in (
        *_HARMLESS,
        *_HARMFUL,
        "env",
        "xargs",
        "bash",
        "time",
        "sleep",
        "tee",
        "rg",
        "tree",
        "uniq",
        "xxd",
        "awk",
        "sed",
        "date",
        "nice",
        "timeout",
        "watch",
    ):
        program = folder / name
        program.write_text('#!/bin/sh\nprintf "%s\\n" "${0##*/}" >> "$LOG"\n')
        program.chmod(0o755)
    return folder


def _run(lines: list[str], spies: Path) -> list[dict[str, list[str]]]:
    command = [
        *("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--tmpfs", "/mnt"),
        *("--ro-bind", str(spies), "/mnt/spies", "--dev", "/dev", "--proc", "/proc"),
        *(sys.executable, "-c", _DRIVER.replace("/spies", "/mnt/spies")),
    ]
    done = subprocess.run(command, input=json.dumps(lines), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result: list[dict[str, list[str]]] = json.loads(done.stdout)
    return result


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), phases=(Phase.generate,))
@given(lines=st.lists(_lines(), min_size=40, max_size=60))
def test_bash_runs_nothing_harmful_for_a_line_that_was_allowed(lines: list[str], spies: Path) -> None:
    ground = PathPolicy(root="/w", folder="/w", home="/mnt/home")
    allowed = [
        line
        for line in lines
        if decide_command(line, Policy(mode=Mode.ON_REQUEST, ground=ground)).verdict is Consent.ALLOW
    ]
    if not allowed:
        return
    for line, happened in zip(allowed, _run(allowed, spies), strict=True):
        assert not set(happened["ran"]) & set(_HARMFUL), f"{line!r} was allowed and ran {happened['ran']}"
        assert not happened["files"], f"{line!r} was allowed and made {happened['files']}"


@settings(max_examples=300, deadline=None)
@given(line=st.text(max_size=80) | _lines())
def test_no_text_crashes_the_reader(line: str) -> None:
    decide_command(line, Policy(ground=PathPolicy(root="/w", folder="/w", home="/h")))
