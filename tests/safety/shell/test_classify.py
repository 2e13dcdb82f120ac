"""Proves safety/shell: what each program does, by its options and arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.evals.attack_case import everyday_commands
from agentforge.safety.policy.decision import decide_command
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.shell.grammar.command_reader import read_line
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.safety.shell.programs.classification import classify

GROUND = PathPolicy(root="/w", folder="/w", home="/home/u")
DOUBTFUL = Path(__file__).with_name("doubtful_lines.txt").read_text("utf-8").splitlines()


def verdict(line: str, mode: Mode = Mode.ON_REQUEST) -> Consent:
    return decide_command(line, Policy(mode=mode, ground=GROUND)).verdict


def classes(line: str) -> set[CommandClass]:
    script = read_line(line)
    found = {one.kind for command in script.commands for one in classify(command)}
    return found | ({CommandClass.UNKNOWN} if script.opaque else set())


@pytest.mark.parametrize("line", DOUBTFUL)
def test_a_line_that_may_write_run_or_leak_is_not_allowed(line: str) -> None:
    assert verdict(line) is not Consent.ALLOW


@pytest.mark.parametrize("line", everyday_commands())
def test_a_command_of_every_day_is_allowed(line: str) -> None:
    assert verdict(line) is Consent.ALLOW


def test_there_are_more_than_sixty_commands_of_every_day() -> None:
    assert len(everyday_commands()) > 60


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("ls", "read-only"),
        ("git log -p", "git-read"),
        ("git commit -m x", "git-write"),
        ("git push --force", "destructive"),
        ("git push", "network"),
        ("pytest -q", "test"),
        ("npm run test:unit", "test"),
        ("npm run test-and-publish", "unknown"),
        ("make", "build"),
        ("make test", "test"),
        ("make deploy", "unknown"),
        ("make serve", "server"),
        ("npm install", "install"),
        ("npm audit", "network"),
        ("pip list", "read-only"),
        ("pip list --outdated", "network"),
        ("curl x", "network"),
        ("curl --version", "read-only"),
        ("touch a", "write"),
        ("rm a", "write"),
        ("rm -r a", "destructive"),
        ("python a.py", "run"),
        ("python -c 1", "run"),
        ("python - <<'E'\nprint(1)\nE", "run"),
        ("ls; python - <<'E'\nprint(1)\nE", "run"),
        ("uvicorn app:app", "server"),
        ("frobnicate", "unknown"),
        ("sudo ls", "unknown"),
        ("kill 1", "destructive"),
        ("ldd a", "run"),
        ("getent passwd", "read-only"),
        ("getent hosts x", "network"),
        ("tar xf a.tar", "write"),
        ("tar tf a.tar", "read-only"),
        ("tar tf host:a.tar", "network"),
        ("sed -i s/a/b/ f", "write"),
        ("xxd f", "read-only"),
        ("xxd f g", "write"),
    ],
)
def test_the_class_of_a_command(line: str, kind: str) -> None:
    assert CommandClass(kind) in classes(line)


@pytest.mark.parametrize(
    "line", ["rm -rf /", "rm -r -f ~", 'rm -rf "$X"/*', "rm -rf $X/", "mkfs.ext4 /dev/sda", "dd of=/dev/sda"]
)
def test_what_destroys_beyond_the_workspace_is_refused_in_every_mode(line: str) -> None:
    assert {verdict(line, mode) for mode in Mode} == {Consent.DENY}


@pytest.mark.parametrize(
    "line",
    [
        "echo rm -rf /",
        "git log --grep 'rm -rf'",
        "cat docs/shutdown.md",
        "grep -rn 'DROP TABLE' src",
        "rg kill",
        "pytest -k reboot",
    ],
)
def test_words_in_arguments_decide_nothing(line: str) -> None:
    assert verdict(line) is Consent.ALLOW


@pytest.mark.parametrize(
    "wrapper",
    ["env NO_COLOR=1", "timeout 5", "nice -n 5", "nohup", "command", "bash -c", "/usr/bin/env", "time", "stdbuf -o0"],
)
def test_a_wrapper_hides_nothing(wrapper: str) -> None:
    inner = "'rm -r src'" if wrapper == "bash -c" else "rm -r src"
    assert verdict(f"{wrapper} {inner}") is not Consent.ALLOW
    inner = "'ls src'" if wrapper == "bash -c" else "ls src"
    assert verdict(f"{wrapper} {inner}") is Consent.ALLOW


@pytest.mark.parametrize(
    ("program", "allowed"),
    [
        ("{print $1}", True),
        ("$3 > 5 {print $1}", True),
        ("{print ($1 > 2)}", True),
        ('{print > "/dev/stderr"}', True),
        ('{x = $1 / 2; y = "|"; print x}', True),
        ("/a|b/ {n++} END {print n}", True),
        ('{print > "x"}', False),
        ('{print ($1) > "x"}', False),
        ('{print | "sh"}', False),
        ('/"/{system("id")}/"/', False),
        ('BEGIN{while (("id" | getline l) > 0) print l}', False),
        ('BEGIN{f="system"; @f("id")}', False),
        ('BEGIN{ARGV[1]=".env"; ARGC=2} {print}', False),
        ('{if ($1) /x/ ; print > "y"}', False),
    ],
)
def test_an_awk_program_is_read_as_awk_reads_it(program: str, allowed: bool) -> None:
    assert (verdict(f"awk '{program}' f") is Consent.ALLOW) is allowed


def test_xargs_is_trusted_only_with_paths_of_a_listing() -> None:
    assert verdict("git ls-files | xargs wc -l") is Consent.ALLOW
    assert verdict("find src -name '*.py' | xargs grep -n x") is Consent.ALLOW
    assert verdict("find / -name '*.py' | xargs grep -n x") is Consent.ASK
    assert verdict("find . -name '.e*' | xargs cat") is Consent.ASK
    assert verdict("find src -name '*.py' | xargs sort") is Consent.ASK


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("(cd src && cat ../README.md)", True),
        ("(cd src; cat ../../x)", False),
        ("(cd ..); cat README.md", True),
        ("echo $(cd ..; cat x)", False),
        ("cd src && echo $(cat ../README.md)", True),
        ("for i in 1 2; do cd src; done; cat ../x", False),
        ("for d in a b; do (cd $d; cat x); done", True),
        ("sh -c 'cd src && cat ../README.md'", True),
        ("cd src && sh -c 'cd .. && cat ../x'", False),
        ("cd ~ben; cat x", False),
        ("cat $(pwd)/README.md", True),
        ("cat $(pwd)/../x", False),
    ],
)
def test_a_folder_holds_in_its_group_and_no_further(line: str, allowed: bool) -> None:
    assert (verdict(line) is Consent.ALLOW) is allowed


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("pytest -c /etc/x.ini", False),
        ("gcc -I/usr/include/x -c a.c", True),
        ("cmake -B build -DCMAKE_INSTALL_PREFIX=/usr/local", True),
        ("make -C //opt/x", False),
        ("bazel test //pkg/...", True),
        ("eslint --rulesdir=a,../b src", False),
        ("npm test -- --url=https://x.example/../y", True),
        ("jest -t 'a / b'", True),
        ("prettier --check .mcp.json", True),
        ("prettier --write .mcp.json", False),
        ("shfmt -w -p .envrc", False),
        ("yamllint -s .github/workflows/ci.yml", True),
        ("actionlint -no-color .github/workflows/ci.yml", True),
    ],
)
def test_a_path_is_judged_by_what_it_is_to_the_program(line: str, allowed: bool) -> None:
    assert (verdict(line) is Consent.ALLOW) is allowed


def test_the_folder_of_a_command_is_followed() -> None:
    assert verdict("cd src && cat ../README.md") is Consent.ALLOW
    assert verdict("cd src && cat ../../x") is Consent.ASK
    assert verdict("cd $x && pytest") is Consent.ASK
