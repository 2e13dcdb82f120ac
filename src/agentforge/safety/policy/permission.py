"""Permission rules, `Tool(pattern)`: how they are written and what they match. deny beats ask, ask beats allow."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from fnmatch import fnmatchcase

from agentforge.frozen import dataclass
from agentforge.globs import is_wild, matches
from agentforge.safety.policy.modes import Consent

_WRITTEN = re.compile(r"(?P<tool>[A-Za-z*][\w*.-]*)(?:\((?P<pattern>.*)\))?", re.DOTALL)
_ALIASES = {
    "Bash": ("shell",),
    "Read": ("read_file", "list_dir", "grep", "glob"),
    "Edit": ("edit", "write_file", "append_file", "apply_patch", "move_file"),
    "Write": ("write_file", "append_file"),
    "MultiEdit": ("apply_patch",),
    "Grep": ("grep",),
    "Glob": ("glob",),
    "LS": ("list_dir",),
    "WebFetch": ("web_fetch",),
    "WebSearch": ("web_search",),
    "Task": ("subagent_*",),
}
RULE_DAYS = 30
"""How long a rule holds that "always allow" writes: long enough for a piece of work, too short to be forgotten."""

READING = ("read_file", "list_dir", "grep", "glob", "outline", "find_symbol", "git_diff")
WRITING = ("edit", "write_file", "append_file", "apply_patch", "move_file", "refactor")


class BadRule(ValueError):
    """A permission rule that cannot be read; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One permission rule.

    Attributes:
        tools: names of tools it speaks about; `*` stands for any part of a name.
        pattern: "" for every call; else a command (shell), a path (file tools), `domain:host` (web tools) or a text.
        verdict: what becomes of a call that it matches.
        expires: ISO 8601 time in UTC from which on it does not hold, or the last day on which it does; "" never.
        origin: where it is written, for people.
    """

    tools: tuple[str, ...]
    pattern: str = ""
    verdict: Consent
    expires: str = ""
    origin: str = ""
    written: str = ""

    def speaks_of(self, tool: str) -> bool:
        """Whether the rule is about this tool."""
        return any(re.fullmatch(re.escape(name).replace(r"\*", ".*"), tool) for name in self.tools)

    def holds_at(self, now: str) -> bool:
        """Whether it has not expired at a time in ISO 8601, UTC."""
        return not self.expires or (now[:10] <= self.expires if len(self.expires) == 10 else now < self.expires)


def read_rule(text: str, verdict: Consent, *, origin: str = "") -> Rule:
    """Read `Tool`, `Tool(pattern)` or either followed by ` until TIME`.

    Raises:
        BadRule: it is none of these.
    """
    rule, _, expires = text.strip().partition(" until ")
    match = _WRITTEN.fullmatch(rule.strip())
    if match is None:
        raise BadRule(f"{text!r} is not a rule of the form Tool or Tool(pattern), such as shell(npm run *)")
    if expires and not re.fullmatch(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?", expires.strip()):
        raise BadRule(f"{text!r}: {expires.strip()!r} is not a date such as 2027-01-31 or 2027-01-31T12:00:00Z")
    tool, pattern = match["tool"], match["pattern"]
    if pattern is not None and not pattern.strip():
        raise BadRule(f"{text!r}: the pattern is empty; leave the parentheses out to match every call")
    if tool == "*" and verdict is Consent.ALLOW and not pattern:
        raise BadRule(f"{text!r} would allow everything; use the mode yolo for that")
    return Rule(
        tools=_ALIASES.get(tool, (tool,)),
        pattern=(pattern or "").strip(),
        verdict=verdict,
        expires=expires.strip(),
        origin=origin,
        written=rule.strip(),
    )


def after_days(now: str, days: int) -> str:
    """The day that comes so many days after a time in ISO 8601: the last one on which a new rule holds."""
    return (date.fromisoformat(now[:10]) + timedelta(days=days)).isoformat()


def matches_command(pattern: str, argv: str, *, unknown: bool) -> bool:
    """Whether a shell pattern matches a command, word for word; `*` stands for any text, ` *` at the end also for nothing.

    Args:
        argv: the words joined by one blank, wrappers removed; NUL stands for a part that only the run knows.
        unknown: whether `*` may match such a part: true for deny and ask, never for allow.
    """
    if not pattern:
        return unknown or "\0" not in argv
    text = re.sub(r":\*$", " *", pattern)
    words = re.escape(re.sub(r"\s+", " ", text)).replace(r"\ ", " ")
    anything = "(?:.|\n)*" if unknown else "[^\0]*"
    expression = words.replace(r"\*", anything)
    if text.endswith(" *"):
        expression = expression[: -len(anything) - 1] + f"(?: {anything})?"
    return re.fullmatch(expression, argv) is not None


def matches_path(pattern: str, path: str, *, root: str, home: str) -> bool:
    """Whether a path pattern matches an absolute path with links resolved.

    Args:
        pattern: `~/x/**`, `/abs/**`, or relative to the workspace; without a slash it matches a name at any depth.
    """
    if pattern.startswith("~"):
        pattern = home + pattern[1:]
    if pattern.startswith("/"):
        return matches(pattern.lstrip("/"), path.lstrip("/"))
    inside = path.removeprefix(root.rstrip("/") + "/")
    if inside == path:
        return "/" not in pattern and matches(pattern, path.rpartition("/")[2])
    clean = pattern.removeprefix("./")
    return matches(clean, inside) or ("/" not in clean and matches(f"**/{clean}", inside))


def may_name(pattern: str, path: str) -> bool:
    """Whether a path that holds pattern characters itself may turn into one that the pattern matches."""
    name, given = pattern.rpartition("/")[2], path.rpartition("/")[2]
    if not is_wild(path):
        return False
    return is_wild(name) or not is_wild(given) or fnmatchcase(name, given)


def matches_host(pattern: str, host: str) -> bool:
    """Whether `domain:host` names this host: exactly, or everything below it for `domain:*.host`."""
    wanted = pattern.removeprefix("domain:").strip().lower().rstrip(".")
    given = host.lower().rstrip(".")
    if wanted.startswith("*."):
        return given.endswith(wanted[1:]) and given != wanted[2:]
    return wanted in (given, "*")


def host_of(url: str) -> str:
    """The host that a http(s) URL leads to, lower case, without user, port and final dot; "" when it names none plainly."""
    match = re.fullmatch(
        r"https?://([^/?#\\\s@]+@)?(\[[0-9a-fA-F:.]+\]|[^/?#\\\s@:\[\]]+)(?::\d*)?(?:[/?#]\S*)?",
        url.strip(),
        re.IGNORECASE,
    )
    return match[2].lower().rstrip(".") if match is not None else ""


def first_match(rules: Iterable[Rule], *, now: str) -> Rule | None:
    """The strictest of rules that match; among equals the first one."""
    order = (Consent.DENY, Consent.ASK, Consent.ALLOW)
    standing = [rule for rule in rules if rule.holds_at(now)]
    return next((rule for verdict in order for rule in standing if rule.verdict is verdict), None)
