"""Whether request and specification speak of something: in sentences, or in the names that they declare."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)+|[A-Za-z]*[a-z][A-Z][A-Za-z]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_OF_TIME = re.compile(
    r"(?i)\b(?:clocks?|dat(?:e|ed|es|etimes?)|days?|daily|daytime|today\w*|tomorrow|yesterday|now|hour\w*|minutes?|seconds?|weeks?|weekly"
    r"|week(?:day|end)s?|month\w*|year\w*|time\w*|timing|mornings?|\w*noon|evenings?|nights?|midnight|expir\w*|deadlines?|season\w*|leap"
    r"|birth\w*|ages?|aged|utc|schedul\w*|recent\w*|elapsed|durations?|ttl|calend\w*|quarter\w*|fiscal|centur\w+|decades?|ago"
    r"|stale\w*|outdated|overdue|due|sunday|monday|tuesday|wednesday|thursday|friday|saturday|holidays?|era|epoch|moment|january|february|march|april|june|july"
    r"|august|september|october|november|december|spring|summer|autumn|winter|christmas|easter|new year|(?:19|20)\d\d)\b"
)


def with_parts_of_names(told: str) -> str:
    """Add the words that names are made of: `is_weekend` and `isWeekend` speak of a weekend."""
    parts = [" ".join(_PART.findall(name)) for name in _NAME.findall(told)]
    return "\n".join([told, *dict.fromkeys(parts)])


def speaks_of_time(told: str) -> bool:
    """Whether words speak of time, so that a result may be another one later; they excuse, and never refuse."""
    return _OF_TIME.search(with_parts_of_names(told)) is not None
