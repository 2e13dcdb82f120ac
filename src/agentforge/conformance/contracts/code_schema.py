"""Reading the YAML of a contract for code: every key known, every value of its kind, every error with its place. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from agentforge.contracts.nearest import near_hint
from agentforge.errors import ContractInvalid

_HEAD = ("kind", "contract", "version", "description", "scope", "severity", "enforcement", "rules", "exemptions")
_KINDS = {
    "pattern": ("pattern", "language", "constraints", "fix"),
    "rule": ("rule", "language", "constraints", "fix"),
    "size": ("size",),
    "complexity": ("complexity",),
    "command": ("command",),
    "finding": ("finding",),
}
_COMMON = ("id", "description", "message", "hint", "severity", "enforcement", "scope")
_SIZES = ("file_lines", "function_lines", "class_lines")
_EXEMPTION = ("rule", "paths", "reason", "expires")
_SEVERITIES = ("error", "warning", "note")
_ENFORCEMENTS = ("block", "report", "off")
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_LANGUAGES = (
    *("python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "csharp", "ruby", "php"),
    *("kotlin", "swift", "scala", "lua", "bash", "html", "css", "json", "yaml", "elixir", "haskell"),
)

MakeScope = Callable[[tuple[str, ...], tuple[str, ...]], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads one document.

    Attributes:
        source: its file, for messages.
    """

    source: str

    def name(self, document: object) -> str:
        """Check the head and give the contract's name."""
        record = self._record(document, "the file", _HEAD)
        name = record.get("contract")
        if not isinstance(name, str) or not _ID.fullmatch(name):
            raise self._wrong("contract", f"is {name!r}", "add `contract: NAME`")
        if not record.get("rules") and not record.get("exemptions"):
            raise self._wrong("rules", "are missing", "a contract for code has rules or exemptions")
        return name

    def rules(self, document: object, *, scope: MakeScope) -> list[dict[str, Any]]:
        """Give the fields of every rule that is not switched off."""
        record = self._record(document, "the file", _HEAD)
        outer = self._scope(record, "", scope)
        found = []
        for number, entry in enumerate(self._list(record, "rules")):
            values = self._rule(entry, f"rules[{number}]", record, scope)
            values["scopes"] = tuple(one for one in (outer, values["scopes"]) if one is not None)
            if values["enforcement"] != "off":
                found.append(values)
        return found

    def exemptions(self, document: object) -> list[dict[str, Any]]:
        """Give the fields of every exemption."""
        record = self._record(document, "the file", _HEAD)
        return [
            {**self._exemption(entry, f"exemptions[{number}]"), "contract": record["contract"], "source": self.source}
            for number, entry in enumerate(self._list(record, "exemptions"))
        ]

    def _rule(self, entry: object, at: str, head: Mapping[str, object], scope: MakeScope) -> dict[str, Any]:
        kinds = [kind for kind in _KINDS if isinstance(entry, Mapping) and kind in entry]
        if len(kinds) != 1:
            raise self._wrong(at, "needs exactly one of " + ", ".join(_KINDS), "say what the rule looks for")
        record = self._record(entry, at, (*_COMMON, *_KINDS[kinds[0]]))
        rule_id = record.get("id")
        if not isinstance(rule_id, str) or not _ID.fullmatch(rule_id):
            raise self._wrong(f"{at}.id", f"is {rule_id!r}", "a word such as no-print")
        return {
            "rule_id": rule_id,
            "contract": head["contract"],
            "kind": "pattern" if kinds[0] == "rule" else kinds[0],
            "description": self._text(record, "description", at),
            "message": self._text(record, "message", at),
            "hint": self._text(record, "hint", at),
            "severity": self._one_of(
                _SEVERITIES, at, "severity", record.get("severity", head.get("severity", "error"))
            ),
            "enforcement": self._one_of(
                _ENFORCEMENTS, at, "enforcement", record.get("enforcement", head.get("enforcement", "block"))
            ),
            "scopes": self._scope(record, at, scope),
            "settings": self._settings(kinds[0], record, at),
        }

    def _settings(self, kind: str, record: Mapping[str, object], at: str) -> dict[str, object]:
        value = record[kind]
        if kind in ("pattern", "rule"):
            return self._pattern(kind, record, at)
        if kind == "size":
            sizes = self._record(value, f"{at}.size", _SIZES)
            return {name: self._count(number, f"{at}.size.{name}") for name, number in sizes.items()}
        if kind == "complexity":
            return {"most": self._count(value, f"{at}.complexity")}
        if kind == "command":
            words = value if isinstance(value, list) else ["bash", "-c", value]
            if not words or not all(isinstance(word, str) and word for word in words):
                raise self._wrong(f"{at}.command", f"is {value!r}", "a command line, or a list of words")
            return {"argv": words}
        if not isinstance(value, str) or "/" not in value:
            raise self._wrong(f"{at}.finding", f"is {value!r}", "check/rule, such as ruff/E501 or mypy/*")
        return {"named": value}

    def _pattern(self, kind: str, record: Mapping[str, object], at: str) -> dict[str, object]:
        language = self._one_of(_LANGUAGES, at, "language", record.get("language", "python"))
        value = record[kind]
        good = isinstance(value, str) and value.strip() if kind == "pattern" else isinstance(value, Mapping) and value
        if not good:
            raise self._wrong(f"{at}.{kind}", f"is {value!r}", "an ast-grep pattern, or `rule:` with a rule object")
        config: dict[str, object] = {"rule": {"pattern": value} if kind == "pattern" else value}
        if "constraints" in record:
            if not isinstance(record["constraints"], Mapping):
                raise self._wrong(f"{at}.constraints", "are no mapping", "as in ast-grep: NAME: {regex: ...}")
            config["constraints"] = record["constraints"]
        return {"language": language, "config": config, "fix": self._fix(record, at)}

    def _fix(self, record: Mapping[str, object], at: str) -> str | None:
        fix = record.get("fix")
        if fix is not None and not isinstance(fix, str):
            raise self._wrong(f"{at}.fix", f"is {fix!r}", "the text that replaces a match, with its $NAMES")
        return fix

    def _exemption(self, entry: object, at: str) -> dict[str, Any]:
        record = self._record(entry, at, _EXEMPTION)
        for key, example in (("rule", "no-print or ruff/E501"), ("reason", "why it may stay")):
            if not self._text(record, key, at).strip():
                raise self._wrong(f"{at}.{key}", "is missing", example)
        paths = self._texts(record.get("paths"), f"{at}.paths")
        if not paths:
            raise self._wrong(f"{at}.paths", "are missing", "patterns of the files that are exempt")
        return {
            "rule": record["rule"],
            "paths": paths,
            "reason": record["reason"],
            "expires": self._day(record.get("expires"), f"{at}.expires"),
        }

    def _day(self, value: object, at: str) -> date | None:
        if value == "never":
            return None
        try:
            return date.fromisoformat(str(value))
        except ValueError as exc:
            raise self._wrong(at, f"is {value!r}", "a day such as 2027-01-31, or never") from exc

    def _scope(self, record: Mapping[str, object], at: str, scope: MakeScope) -> object | None:
        if "scope" not in record:
            return None
        place = f"{at}.scope" if at else "scope"
        value = record["scope"]
        if isinstance(value, list):
            return scope(self._texts(value, place), ())
        parts = self._record(value, place, ("include", "exclude"))
        return scope(
            self._texts(parts.get("include"), f"{place}.include"), self._texts(parts.get("exclude"), f"{place}.exclude")
        )

    def _record(self, value: object, at: str, known: tuple[str, ...]) -> Mapping[str, object]:
        if not isinstance(value, Mapping):
            raise self._wrong(at, f"is {value!r}", "a mapping with " + ", ".join(known))
        for key in value:
            if key not in known:
                raise self._wrong(at, f"has the unknown key {key!r}", near_hint(str(key), known))
        return value

    def _list(self, record: Mapping[str, object], key: str) -> list[object]:
        value = record.get(key, [])
        if not isinstance(value, list):
            raise self._wrong(key, "is no list", "write one entry per line, each after `- `")
        return value

    def _text(self, record: Mapping[str, object], key: str, at: str) -> str:
        value = record.get(key, "")
        if not isinstance(value, str):
            raise self._wrong(f"{at}.{key}", f"is {value!r}", "put it in quotes")
        return value

    def _texts(self, value: object, at: str) -> tuple[str, ...]:
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self._wrong(at, f"is {value!r}", 'a list of patterns such as ["src/**"]')
        return tuple(value)

    def _count(self, value: object, at: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self._wrong(at, f"is {value!r}", "a number greater than 0")
        return value

    def _one_of(self, known: tuple[str, ...], at: str, key: str, value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise self._wrong(f"{at}.{key}", f"is {value!r}", "one of " + ", ".join(known))
        return value

    def _wrong(self, at: str, problem: str, hint: str) -> ContractInvalid:
        return ContractInvalid(f"{self.source}: {at} {problem}", hint=hint)
