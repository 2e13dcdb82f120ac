"""May this call be made? One pure function for every tool; the answer explains itself part by part.

Order: what is fatal or protected is refused in every mode; then rules (deny, ask, allow); then the mode's table. A line is
judged by its strictest part. In the mode `yolo` nothing is asked: what would be asked about passes, what is refused stays so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from posixpath import normpath

from agentforge.frozen import dataclass
from agentforge.safety.policy.modes import Consent, Mode, in_mode, strictest
from agentforge.safety.policy.part import Part, Policy, closed_rules, matches_file, part_of, path_finding, ruled
from agentforge.safety.policy.path_policy import (
    PathFinding,
    absolute,
    folder_of,
    is_below,
    is_scratch,
    judge_read,
    judge_steering,
    judge_write,
)
from agentforge.safety.policy.permission import READING, Rule, first_match, host_of, matches_command, matches_host
from agentforge.safety.shell.grammar.command_reader import read_line
from agentforge.safety.shell.grammar.flow import nested
from agentforge.safety.shell.grammar.syntax import ShellCommand, Word
from agentforge.safety.shell.programs.classes import CommandClass, Judged
from agentforge.safety.shell.programs.classification import classify

_ANYWHERE = (CommandClass.READ_ONLY,)
_OF_GIT = (CommandClass.GIT_READ, CommandClass.GIT_WRITE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict over a call and the parts that it stands on."""

    verdict: Consent
    mode: Mode
    parts: tuple[Part, ...]

    @property
    def reason(self) -> str:
        """Why, in one line: the reasons of the parts that decided."""
        deciding = [part for part in self.parts if part.verdict is self.verdict]
        return "; ".join(dict.fromkeys(f"{part.text}: {part.reason}" for part in deciding[:3]))

    def value(self) -> dict[str, object]:
        """The decision as plain data: {verdict, mode, parts}."""
        return {"verdict": self.verdict.value, "mode": self.mode.value, "parts": [part.value() for part in self.parts]}


def decide_command(line: str, policy: Policy) -> Decision:
    """Decide about a bash line; nothing is run and no file is opened."""
    script = read_line(line)
    parts: list[Part] = []
    for command in script.commands:
        parts += _command_parts(command, policy)
    for piece in script.opaque:
        rules = any(rule.verdict is not Consent.ALLOW and rule.holds_at(policy.now) for rule in policy.rules)
        verdict = in_mode(CommandClass.UNKNOWN, policy.mode, enclosed=policy.enclosed and not rules)
        why = f"not understood: {piece.reason}"
        parts.append(Part(text=piece.text, kind=CommandClass.UNKNOWN, verdict=verdict, reason=why))
    return _decision(parts, policy)


def decide_call(
    tool: str,
    policy: Policy,
    *,
    kind: CommandClass,
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
    url: str = "",
    text: str = "",
) -> Decision:
    """Decide about a call of any tool but shell.

    Args:
        kind: what the tool does.
        reads: paths that it reads, absolute or relative to the ground's folder.
        writes: paths that it writes, the same.
        url: what it fetches.
        text: the call in one line, for people; what a rule's pattern is matched with when it has neither path nor url.
    """
    if url:
        return _decision([_url_part(tool, url, kind, policy)], policy)
    parts = [_file_part(tool, path, CommandClass.READ_ONLY, policy, writing=False) for path in reads]
    parts += [_file_part(tool, path, kind, policy, writing=True) for path in writes]
    if not parts:
        rule = first_match(
            (
                one
                for one in policy.rules
                if one.speaks_of(tool) and (not one.pattern or matches_command(one.pattern, text, unknown=True))
            ),
            now=policy.now,
        )
        part = part_of(
            text or tool, kind, rule, PathFinding(verdict=Consent.ALLOW), policy, reason=f"{tool} is {kind.value}"
        )
        parts.append(_asked_when_tainted(part, tool, policy))
    return _decision(parts, policy)


def _asked_when_tainted(part: Part, tool: str, policy: Policy) -> Part:
    """What is remembered steers later sessions: after untrusted text was read a person has to agree, whatever the mode."""
    if (
        tool != "memory"
        or part.kind is CommandClass.READ_ONLY
        or not policy.tainted
        or part.verdict is not Consent.ALLOW
    ):
        return part
    return replace(part, verdict=Consent.ASK, reason="is remembered in later sessions, and untrusted text was read")


def _decision(parts: Sequence[Part], policy: Policy) -> Decision:
    if policy.mode is Mode.YOLO:  # whoever chose it wants no question: what nothing forbids passes
        parts = [replace(part, verdict=Consent.ALLOW) if part.verdict is Consent.ASK else part for part in parts]
    return Decision(verdict=strictest(*(part.verdict for part in parts)), mode=policy.mode, parts=tuple(parts))


def _command_parts(command: ShellCommand, policy: Policy) -> list[Part]:
    bare = not command.words and not command.assignments
    parts = [] if bare else [_judged_part(judged, command, policy) for judged in classify(command)]
    for redirect in command.redirects:
        if redirect.operator == "<<<":
            continue
        if redirect.writes:
            judged = Judged(kind=CommandClass.WRITE, reason="writes the file", writes=(redirect.target,))
        else:
            judged = Judged(kind=CommandClass.READ_ONLY, reason="reads the file", reads=(redirect.target,))
        part = _judged_part(judged, command, policy)
        quiet = (
            redirect.target.value in ("/dev/null", "/dev/stdout", "/dev/stderr") and part.verdict is not Consent.DENY
        )
        if not quiet:
            parts.append(replace(part, text=f"{redirect.operator} {redirect.target.text}"))
    return parts


def _judged_part(judged: Judged, command: ShellCommand, policy: Policy) -> Part:
    argv = " ".join(word.known for word in judged.argv)
    text = argv.replace("\0", "...") if judged.argv else command.text
    command = replace(command, folders=nested(command.folders, judged.folders))
    if judged.name == "rm" and not judged.fatal and _is_private(judged.writes, command, policy):
        judged = replace(judged, kind=CommandClass.WRITE, reason="removes what is private to the sandbox")
    if judged.fatal:
        return Part(text=text, kind=judged.kind, verdict=Consent.DENY, reason=judged.reason)
    reads = [word for word in judged.reads if not (judged.kind is CommandClass.READ_ONLY and _is_piped(word))]
    found = [_path_finding(word, command, policy, writing=False) for word in reads]
    found += [_path_finding(word, command, policy, writing=True) for word in judged.writes]
    found += [
        judge_steering(absolute(word, folder, policy.ground), policy.ground)
        for word in judged.steers
        for folder in command.folders
    ]
    found += _folder_findings(judged, command, policy)
    found += _deep_findings(judged, policy)
    worst = max(found, key=_weight, default=PathFinding(verdict=Consent.ALLOW))
    rule = first_match(
        (one for one in policy.rules if one.speaks_of("shell") and _covers(one, judged, argv)), now=policy.now
    )
    return part_of(text, judged.kind, rule, worst, policy, reason=judged.reason, enclosed=policy.enclosed)


def _is_private(words: Sequence[Word], command: ShellCommand, policy: Policy) -> bool:
    """Whether all of these paths lie in folders that are private to the sandbox."""
    places = [absolute(word, folder, policy.ground) for word in words for folder in command.folders]
    return bool(places) and all(is_scratch(place, policy.ground) for place in places)


def _is_piped(word: Word) -> bool:
    """Whether a word is the output of a command, `<(...)`: the command inside is judged by itself."""
    return word.pieces == (None,) and word.text.startswith("<(") and word.text.endswith(")")


def _deep_findings(judged: Judged, policy: Policy) -> list[PathFinding]:
    """What speaks against reading everything below a folder: files that a rule closes may lie there."""
    closed = closed_rules(policy, ("read_file",)) if judged.deep else ()
    return [
        PathFinding(verdict=Consent.ASK, reason=f"may read what the rule {rule.written} closes", path="?")
        for rule in closed[:1]
    ]


def _folder_findings(judged: Judged, command: ShellCommand, policy: Policy) -> list[PathFinding]:
    """What speaks against the folders in which a command may run: code is run, and git asked, only inside the workspace."""
    found = []
    for folder in command.folders:
        if folder is None:
            found.append(PathFinding(verdict=Consent.ASK, reason="runs in a folder that only the run knows"))
        if not folder:
            continue
        where = normpath(folder_of(folder, policy.ground))
        finding = judge_read(where, policy.ground)
        foreign = judged.kind in _OF_GIT and not policy.enclosed  # git runs what a strange folder's settings name
        free = judged.kind in _ANYWHERE or (not foreign and is_scratch(where, policy.ground))
        if finding.verdict is Consent.ALLOW and not free and not is_below(finding.path, policy.ground.root):
            finding = replace(finding, verdict=Consent.ASK, reason=f"runs in {where}, outside the workspace")
        found.append(finding)
    if judged.kind is CommandClass.GIT_READ:
        for word in judged.reads:
            path = absolute(word, "", policy.ground)
            if path is None or not is_below(policy.ground.real(path), policy.ground.root):
                found.append(
                    PathFinding(verdict=Consent.ASK, reason=f"git looks at {word.text}, outside the workspace")
                )
    return found


def _covers(rule: Rule, judged: Judged, argv: str) -> bool:
    if rule.verdict is Consent.ALLOW:
        return bool(judged.name) and matches_command(rule.pattern, argv, unknown=False)
    return bool(judged.argv or not rule.pattern) and matches_command(rule.pattern, argv, unknown=True)


def _path_finding(word: Word, command: ShellCommand, policy: Policy, *, writing: bool) -> PathFinding:
    """The strictest finding over every folder in which the command may run, file rules included."""
    found = []
    for folder in command.folders:
        path = absolute(word, folder, policy.ground)
        found.append(path_finding(path, policy, writing=writing))
    return max(found, key=_weight)


def _weight(found: PathFinding) -> tuple[int, bool]:
    """How much a finding counts: the stricter one, then one about a path that is known, which no sandbox makes good."""
    return list(Consent).index(found.verdict), bool(found.path)


def _file_part(tool: str, path: str, kind: CommandClass, policy: Policy, *, writing: bool) -> Part:
    where = absolute(Word(text=path, pieces=(path,), tilde=path.startswith("~")), "", policy.ground)
    finding = judge_write(where, policy.ground) if writing else judge_read(where, policy.ground)
    if finding.verdict is Consent.ALLOW and not is_below(finding.path, policy.ground.root):
        strict = (
            Consent.DENY if writing else Consent.ASK
        )  # /tmp and the like are private to the sandbox, not to this tool
        finding = replace(finding, verdict=strict, reason=f"{path} lies outside the workspace")
    spoken = READING if not writing else (tool,)
    about = [
        one
        for one in policy.rules
        if one.speaks_of(tool) or (not writing and any(one.speaks_of(name) for name in spoken[:1]))
    ]
    rule = first_match(
        (one for one in about if not one.pattern or (where is not None and matches_file(one, where, finding, policy))),
        now=policy.now,
    )
    return part_of(
        f"{tool} {path}",
        kind,
        rule,
        ruled(finding, rule),
        policy,
        reason=f"{tool} {'writes' if writing else 'reads'} a file of the workspace",
    )


def _url_part(tool: str, url: str, kind: CommandClass, policy: Policy) -> Part:
    host = host_of(url)
    rule = first_match(
        (
            one
            for one in policy.rules
            if one.speaks_of(tool) and (not one.pattern or (host and matches_host(one.pattern, host)))
        ),
        now=policy.now,
    )
    finding = (
        PathFinding(verdict=Consent.ALLOW)
        if host
        else PathFinding(verdict=Consent.DENY, reason=f"{url!r} names no host")
    )
    return part_of(f"{tool} {url}", kind, rule, finding, policy, reason=f"talks to {host}")
