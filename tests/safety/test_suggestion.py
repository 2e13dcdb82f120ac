"""Proves safety/suggestion.py: the rule that "always allow" offers does what it says, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentforge.safety.policy.decision import decide_call, decide_command
from agentforge.safety.policy.modes import Consent
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.policy.permission import read_rule
from agentforge.safety.policy.suggestion import suggest, suggest_call, suggest_write
from agentforge.safety.shell.programs.classes import CommandClass

POLICY = Policy(ground=PathPolicy(root="/w", folder="/w", home="/home/ann"))


@pytest.mark.parametrize(
    "line", ["git commit -m x", "npm install", "curl https://x.org", "touch a", "frobnicate a b", "rm -r build"]
)
def test_an_offered_rule_allows_its_examples_and_nothing_beside(line: str) -> None:
    offers = suggest(line, POLICY)
    assert offers
    for offer in offers:
        after = replace(POLICY, rules=(read_rule(offer.rule, Consent.ALLOW),))
        assert decide_command(line, after).verdict is Consent.ALLOW
        assert all(decide_command(one, after).verdict is Consent.ALLOW for one in offer.matches)
        assert all(decide_command(one, after).verdict is not Consent.ALLOW for one in offer.still_asked)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("python -m http.server 8123", "shell(python -m http.server *)"),
        ("python3.12 tool.py --all", "shell(python3.12 tool.py *)"),
        ("node build.js x", "shell(node build.js *)"),
        ("npm install left-pad", "shell(npm install *)"),
        ("ruby x.rb", "shell(ruby x.rb *)"),
    ],
)
def test_a_program_that_runs_others_is_allowed_by_what_it_runs(line: str, rule: str) -> None:
    (offer,) = suggest(line, POLICY)
    assert offer.rule == rule
    after = replace(POLICY, rules=(read_rule(rule, Consent.ALLOW),))
    program = line.partition(" ")[0]
    assert decide_command(line, after).verdict is Consent.ALLOW
    assert decide_command(f"{program} other.py", after).verdict is not Consent.ALLOW
    assert all(decide_command(one, after).verdict is not Consent.ALLOW for one in offer.still_asked)


def test_code_in_a_line_is_offered_as_it_stands_or_not_at_all() -> None:
    rules = {offer.rule for line in ("python -c pass", "bash -c ls", "sh x.sh") for offer in suggest(line, POLICY)}
    assert not {rule for rule in rules if "-c *" in rule or rule in ("shell(python *)", "shell(bash *)", "shell(sh *)")}


@pytest.mark.parametrize(
    ("paths", "rules"),
    [
        (("src/pkg/a.py",), ["Edit(src/pkg/**)"]),
        (("/w/src/a.py", "src/b.py"), ["Edit(src/**)"]),
        (("a.py",), ["Edit(./a.py)"]),
        (("/etc/passwd",), []),
        (("../x",), []),
    ],
)
def test_always_for_a_change_of_files_reaches_no_further_than_their_folder(
    paths: tuple[str, ...], rules: list[str]
) -> None:
    offers = suggest_write(paths, POLICY)
    assert [offer.rule for offer in offers] == rules
    allowed = replace(POLICY, rules=tuple(read_rule(rule, Consent.ALLOW) for rule in rules))
    for tool in ("edit", "write_file") if rules else ():
        decided = decide_call(tool, allowed, kind=CommandClass.WRITE, writes=paths)
        assert decided.verdict is Consent.ALLOW
        other = decide_call(tool, allowed, kind=CommandClass.WRITE, writes=("other/place.py",))
        assert other.verdict is Consent.ASK


@pytest.mark.parametrize("line", ["ls", "rm -rf /", "cat ~/.ssh/id_rsa", "$x", "f() { ls; }; f", "eval $x"])
def test_nothing_is_offered_where_a_rule_would_not_help_or_not_be_narrow(line: str) -> None:
    assert suggest(line, POLICY) == ()


@pytest.mark.parametrize(
    "line",
    ["python3 - <<'E'\nprint(1)\nE\n", "python3 <<'E'\nprint(1)\nE\n", "bash -s <x", "node - <x.js", "cat x | sh"],
)
def test_no_rule_is_offered_for_a_program_that_runs_its_input(line: str) -> None:
    assert decide_command(line, POLICY).verdict is Consent.ASK
    assert not any(
        offer.rule.startswith(("shell(python", "shell(bash", "shell(node", "shell(sh"))
        for offer in suggest(line, POLICY)
    )


def test_what_destroys_is_offered_only_as_it_stands() -> None:
    assert [offer.rule for offer in suggest("rm -r build", POLICY)] == ["shell(rm -r build)"]


def test_always_for_a_call_that_is_no_command_names_its_host_or_its_tool() -> None:
    policy = POLICY
    rules = {
        (tool, url): [one.rule for one in suggest_call(tool, url, policy)]
        for tool, url in [
            ("web_fetch", "https://docs.python.org/3/"),
            ("srv__go", ""),
            ("edit", ""),
            ("web_fetch", "x"),
        ]
    }
    assert rules == {
        ("web_fetch", "https://docs.python.org/3/"): ["web_fetch(domain:docs.python.org)"],
        ("srv__go", ""): ["srv__go"],
        ("edit", ""): [],
        ("web_fetch", "x"): [],
    }
    for written in ("web_fetch(domain:docs.python.org)", "srv__go"):
        allowed = replace(policy, rules=(read_rule(written, Consent.ALLOW),))
        tool, url = (written, "") if "(" not in written else ("web_fetch", "https://docs.python.org/x")
        assert decide_call(tool, allowed, kind=CommandClass.UNKNOWN, url=url, text=tool).verdict == "allow"


def test_an_offer_ends_after_thirty_days() -> None:
    policy = replace(POLICY, now="2026-11-22T10:00:00Z")
    (offer,) = suggest("npm install", policy)
    assert offer.written == "shell(npm install *) until 2026-12-22"
    rule = read_rule(offer.written, Consent.ALLOW)
    assert decide_command("npm install", replace(policy, rules=(rule,))).verdict is Consent.ALLOW
    later = replace(policy, rules=(rule,), now="2026-12-23T00:00:00Z")
    assert decide_command("npm install", later).verdict is Consent.ASK


def test_a_closing_rule_that_is_over_closes_nothing() -> None:
    over = read_rule("read_file(notes/x) until 2026-01-01", Consent.DENY)
    policy = replace(POLICY, rules=(over,), now="2026-11-22T10:00:00Z")
    for line in ("cat notes/x", "grep -r x .", "cat notes/*"):
        assert decide_command(line, policy).verdict is Consent.ALLOW
