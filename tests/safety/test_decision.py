"""Proves safety/decision.py: the order of what decides, and an answer that explains itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentforge.safety.policy.decision import Decision, decide_call, decide_command
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.policy.permission import Rule, read_rule
from agentforge.safety.shell.programs.classes import CommandClass

POLICY = Policy(ground=PathPolicy(root="/w", folder="/w", home="/home/ann"), now="2026-01-01T00:00:00Z")

YOLO = replace(POLICY, mode=Mode.YOLO, tainted=True)


def rules(**texts: str) -> tuple[Rule, ...]:
    return tuple(read_rule(text, Consent(verdict), origin="here:1") for verdict, text in texts.items())


def verdict(line: str, **changes: object) -> Consent:
    return decide_command(line, replace(POLICY, **changes)).verdict  # type: ignore[arg-type]


def test_every_part_is_told_with_class_verdict_and_reason() -> None:
    decision = decide_command("ls src && npm install > log.txt", POLICY)
    told = [(part.text, part.kind.value, part.verdict.value) for part in decision.parts]
    assert told == [("ls src", "read-only", "allow"), ("npm install", "install", "ask"), ("> log.txt", "write", "ask")]
    assert all(part.reason for part in decision.parts)
    assert decision.value()["verdict"] == "ask"
    assert "npm install" in decision.reason


def test_the_rule_that_decided_is_named_with_its_place() -> None:
    (part,) = decide_command("git push", replace(POLICY, rules=rules(deny="shell(git push *)"))).parts
    assert part.rule == "deny shell(git push *) (here:1)"


def test_contradictory_rules_are_settled_by_the_strictest() -> None:
    assert verdict("git push", rules=rules(allow="shell(git push)", ask="shell(git *)")) is Consent.ASK
    assert verdict("git push", rules=rules(allow="shell(git push)", deny="shell(git *)")) is Consent.DENY


@pytest.mark.parametrize("mode", list(Mode))
def test_what_is_protected_is_refused_in_every_mode_whatever_is_allowed(mode: Mode) -> None:
    allowed = rules(allow="shell(cp *)")
    assert verdict("cp README.md .git/config", mode=mode, rules=allowed) is Consent.DENY


def test_a_doubt_about_a_path_is_refused_by_never_and_passed_by_yolo() -> None:
    found = {mode: verdict("cat /srv/x", mode=mode) for mode in Mode}
    assert found.pop(Mode.NEVER) is Consent.DENY
    assert found.pop(Mode.YOLO) is Consent.ALLOW
    assert set(found.values()) == {Consent.ASK}


def test_a_path_that_only_the_run_knows_is_left_to_a_sandbox_that_stands() -> None:
    assert verdict('cat "$f"', mode=Mode.AUTO, confined=True) is Consent.ALLOW
    assert verdict('cat "$f"', mode=Mode.AUTO) is Consent.ASK
    assert verdict('cat "$f"', confined=True) is Consent.ASK
    closed = rules(deny="read_file(.env)")
    assert verdict('cat "$f"', mode=Mode.AUTO, confined=True, rules=closed) is Consent.ASK


@pytest.mark.parametrize(
    "line",
    [
        "[ -d $R ] && ls",
        'git diff --no-index --stat "$OLDPWD/a" a',
        "PYTHONPATH=/tmp/x python -P /tmp/try.py",
        "$RUN --reporter dot",
        'sed -i "/^ *Pc,/,/b\'/{ /x/a\\    b => c" src/escape.rs',
        "ls /tmp/x/test/*",
        "some-program --its-own",
        "cp -r . /tmp/x && cd /tmp/x && git diff --stat",
    ],
)
def test_what_cannot_be_read_is_left_to_walls_that_hold(line: str) -> None:
    ground = replace(POLICY.ground, scratch=("/tmp",))
    assert verdict(line, mode=Mode.AUTO, confined=True, enclosed=True, ground=ground) is Consent.ALLOW
    assert verdict(line, mode=Mode.NEVER, confined=True, enclosed=True, ground=ground) is not Consent.ASK


@pytest.mark.parametrize(
    "line", ["cat .env", "[ -d $R ] && rm -rf src", "[ -d $R ]; echo x > .git/config", "curl x.org"]
)
def test_walls_change_nothing_for_what_is_read_and_closed(line: str) -> None:
    assert verdict(line, mode=Mode.AUTO, confined=True, enclosed=True) is not Consent.ALLOW


def test_no_walls_know_the_rules() -> None:
    closed = rules(deny="shell(make *)")
    assert verdict("[ -d $R ]", mode=Mode.AUTO, confined=True, enclosed=True, rules=closed) is Consent.ASK


def test_a_tool_of_unknown_effect_is_not_within_the_walls() -> None:
    policy = replace(POLICY, mode=Mode.AUTO, confined=True, enclosed=True)
    assert decide_call("tracker_close", policy, kind=CommandClass.UNKNOWN).verdict is Consent.ASK


def test_after_untrusted_text_what_leaves_the_machine_is_asked_about() -> None:
    allowed = rules(allow="shell(curl *)")
    assert verdict("curl https://x.org", rules=allowed) is Consent.ALLOW
    assert verdict("curl https://x.org", rules=allowed, tainted=True) is Consent.ASK
    assert verdict("ls", tainted=True) is Consent.ALLOW


@pytest.mark.parametrize(
    "decision",
    [
        decide_command("curl https://x.org && pip install x && some-unknown-thing", YOLO),
        decide_command("git push origin main", replace(YOLO, rules=rules(ask="shell(git push*)"))),
        decide_command("cat notes/*.txt", replace(YOLO, rules=rules(deny="read_file(notes/secret.txt)"))),
        decide_command('cat "$f"; cd "$d" && make', YOLO),
        decide_call("web_fetch", YOLO, kind=CommandClass.NETWORK, url="https://x.org"),
        decide_call("memory", YOLO, kind=CommandClass.WRITE, text="memory set"),
        decide_call("read_file", YOLO, kind=CommandClass.READ_ONLY, reads=("/srv/x",)),
    ],
)
def test_yolo_asks_about_nothing_whatever_was_read_before(decision: Decision) -> None:
    assert decision.verdict is Consent.ALLOW
    assert Consent.ASK not in {part.verdict for part in decision.parts}


def test_yolo_is_refused_what_a_rule_or_the_floor_forbids_and_told_why() -> None:
    for line, rule in (("git push", rules(deny="shell(git push*)")), ("cp x .git/config", ())):
        decision = decide_command(line, replace(YOLO, rules=rule))
        assert decision.verdict is Consent.DENY and decision.reason


def test_searching_below_a_folder_stops_before_closed_files() -> None:
    closed = rules(deny="read_file(notes/secret.txt)")
    assert verdict("grep -r x .", rules=closed) is Consent.ASK
    assert verdict("cat notes/*.txt", rules=closed) is Consent.ASK
    assert verdict("cat notes/*.md", rules=closed) is Consent.ALLOW


def test_a_host_must_match_exactly() -> None:
    policy = replace(POLICY, rules=rules(allow="web_fetch(domain:python.org)"))

    def fetch(url: str) -> Consent:
        return decide_call("web_fetch", policy, kind=CommandClass.NETWORK, url=url).verdict

    assert fetch("https://python.org/x") is Consent.ALLOW
    assert fetch("https://python.org.evil.com/x") is Consent.ASK
    assert fetch("javascript:alert(1)") is Consent.DENY


def test_the_engine_reads_no_grammar_for_a_tool_that_runs_no_line() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from agentforge.safety.policy.decision import Decision, decide_call; "
        "from agentforge.safety.policy.part import Policy; from agentforge.safety.policy.path_policy import PathPolicy; from agentforge.safety.shell.programs.classes import CommandClass; "
        "decide_call('read_file', Policy(ground=PathPolicy(root='/w', folder='/w', home='/h')), kind=CommandClass.READ_ONLY, reads=('a',)); "
        "sys.exit('ast_grep_py' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
