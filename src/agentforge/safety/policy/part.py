"""One part of a call: what the mode, the rules and the paths say of it, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentforge.frozen import dataclass
from agentforge.safety.policy.modes import Consent, Mode, in_mode, strictest
from agentforge.safety.policy.path_policy import PathFinding, PathPolicy, judge_read, judge_write
from agentforge.safety.policy.permission import Rule, first_match, matches_path, may_name
from agentforge.safety.shell.programs.classes import CommandClass

_LEAVING = (CommandClass.NETWORK,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What decides.

    Attributes:
        mode: what holds where no rule speaks.
        rules: in the order in which they were read.
        ground: where paths lead.
        now: ISO 8601 in UTC, for rules that expire.
        confined: a sandbox stands around every command: a path that only the run knows is left to it where the mode goes
            on without a question.
        enclosed: its walls show nothing but the workspace and keep the network shut, and whatever is written is measured
            afterwards: a line that cannot be read is left to them as a program is that the line might start instead.
        tainted: the run has read untrusted text; what leaves the machine is asked about even where it would be allowed
            (`yolo` excepted).
    """

    mode: Mode = Mode.ON_REQUEST
    rules: tuple[Rule, ...] = ()
    ground: PathPolicy
    now: str = ""
    confined: bool = False
    enclosed: bool = False
    tainted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a call: a command, a redirection, a path."""

    text: str
    kind: CommandClass
    verdict: Consent
    reason: str
    rule: str = ""

    def value(self) -> dict[str, str]:
        """The part as plain data: {text, class, verdict, rule, reason}."""
        return {
            **{"text": self.text, "class": self.kind.value, "verdict": self.verdict.value},
            **{"rule": self.rule, "reason": self.reason},
        }


def part_of(
    text: str,
    kind: CommandClass,
    rule: Rule | None,
    found: PathFinding,
    policy: Policy,
    *,
    reason: str,
    enclosed: bool = False,
) -> Part:
    """Judge one part by the mode, the rule that speaks of it, and the worst finding about its paths.

    Args:
        enclosed: the call happens within walls that hold; a tool of this program or of a server does not.
    """
    written = (
        f"{rule.verdict.value} {rule.written}" + (f" ({rule.origin})" if rule.origin else "")
        if rule is not None
        else ""
    )
    verdict = rule.verdict if rule is not None else in_mode(kind, policy.mode, enclosed=enclosed)
    if rule is not None:
        reason = "a rule says so"
    if policy.tainted and kind in _LEAVING and verdict is Consent.ALLOW:
        verdict, reason = Consent.ASK, "leaves the machine after untrusted text was read"
    paths = _in_mode(found, policy)
    if strictest(verdict, paths) is not verdict:
        verdict, reason, written = paths, found.reason, written if paths is Consent.ASK else ""
    return Part(text=text[:300], kind=kind, verdict=verdict, reason=reason, rule=written)


def _in_mode(found: PathFinding, policy: Policy) -> Consent:
    """What a doubt about a path becomes: `never` refuses it, `yolo` lets it pass; what is protected stays refused."""
    if found.verdict is Consent.ASK:
        if policy.confined and not found.path and policy.mode in (Mode.AUTO, Mode.ON_FAILURE):
            return Consent.ALLOW
        return {Mode.NEVER: Consent.DENY, Mode.YOLO: Consent.ALLOW}.get(policy.mode, Consent.ASK)
    return found.verdict


def path_finding(path: str | None, policy: Policy, *, writing: bool) -> PathFinding:
    """Judge a path; rules for file tools hold for what the shell does with files too."""
    finding = judge_write(path, policy.ground) if writing else judge_read(path, policy.ground)
    tools = ("write_file", "edit") if writing else ("read_file",)
    about = [rule for rule in policy.rules if any(rule.speaks_of(tool) for tool in tools) and rule.pattern]
    closed = closed_rules(policy, tools)
    if path is None:
        return replace(finding, verdict=strictest(finding.verdict, Consent.ASK), path="?") if closed else finding
    hit = next((rule for rule in closed if may_name(rule.pattern, path)), None)
    if hit is not None and finding.verdict is Consent.ALLOW:
        return replace(finding, verdict=Consent.ASK, reason=f"the pattern may name what the rule {hit.written} closes")
    rule = first_match((one for one in about if matches_file(one, path, finding, policy)), now=policy.now)
    return ruled(finding, rule)


def matches_file(rule: Rule, path: str, finding: PathFinding, policy: Policy) -> bool:
    """Say whether a rule speaks of this path, or of the place to which it leads."""
    ground = policy.ground
    names = {path, finding.path or path}
    return any(matches_path(rule.pattern, name, root=ground.root, home=ground.home) for name in names)


def ruled(finding: PathFinding, rule: Rule | None) -> PathFinding:
    """Let a rule decide about a path; what is refused stays refused."""
    if rule is None or finding.verdict is Consent.DENY:
        return finding
    return replace(finding, verdict=rule.verdict, reason=f"the rule {rule.verdict.value} {rule.written} says so")


def closed_rules(policy: Policy, tools: Sequence[str]) -> tuple[Rule, ...]:
    """Pick the rules that close paths to these tools."""
    return tuple(
        rule
        for rule in policy.rules
        if rule.pattern
        and rule.verdict is not Consent.ALLOW
        and rule.holds_at(policy.now)
        and any(rule.speaks_of(tool) for tool in tools)
    )
