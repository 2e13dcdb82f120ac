"""Runs apart from AgentForge: looks for ast-grep rules in files, and prints each match with its repair as JSON."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

_NAME = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)")
_LARGEST_BYTES = 2_000_000


def main() -> None:
    """Read {rules: [{id, language, config, fix, paths}]} and print [[id, path, line, column, start, end, new text]]."""
    asked = json.load(sys.stdin)
    found: list[list[Any]] = []
    for rule in asked["rules"]:
        _refuse_nonsense(rule)
        for path in rule["paths"]:
            found += _matches(rule, path)
    sys.stdout.write(json.dumps(found))


def _refuse_nonsense(rule: dict[str, Any]) -> None:
    """A pattern that is no code of its language matches nothing for ever; that must not look like a clean file."""
    from ast_grep_py import SgRoot

    root = SgRoot("", rule["language"]).root()
    root.find_all(rule["config"])
    pattern = rule["config"]["rule"].get("pattern")
    if rule["language"] == "python" and isinstance(pattern, str):
        tree = SgRoot(re.sub(r"\$+", "_", pattern), "python").root()
        if tree.find({"rule": {"kind": "ERROR"}}) is not None:
            sys.exit(f"rule {rule['id']}: the pattern {pattern!r} is no Python")


def _matches(rule: dict[str, Any], path: str) -> list[list[Any]]:
    from ast_grep_py import SgRoot

    data = Path(path).read_bytes()
    if b"\0" in data or len(data) > _LARGEST_BYTES:
        return []
    root = SgRoot(data.decode("utf-8", "replace"), rule["language"]).root()
    rows = []
    for node in root.find_all(rule["config"]):
        place = node.range()
        text = None if rule["fix"] is None else _filled(rule["fix"], node, root.text())
        rows.append(
            [rule["id"], path, place.start.line + 1, place.start.column + 1, place.start.index, place.end.index, text]
        )
    return rows


def _filled(template: str, node: Any, source: str) -> str:
    """The replacement with `$NAME` and `$$$NAME` filled in by what they matched."""

    def fill(match: re.Match[str]) -> str:
        if match[1]:
            nodes = node.get_multiple_matches(match[1])
            return source[nodes[0].range().start.index : nodes[-1].range().end.index] if nodes else ""
        one = node.get_match(match[2])
        return one.text() if one is not None else str(match[0])

    return _NAME.sub(fill, template)


if __name__ == "__main__":
    main()
