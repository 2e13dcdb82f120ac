"""Size: files, functions and classes that are longer than a contract for code lets them be."""

from __future__ import annotations

from collections.abc import Iterator

from agentforge.conformance.contracts.code_contract import CodeRule
from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site
from agentforge.workspace.code.symbols import Symbol, outline_of, read_source

_KINDS = {"function": "function_lines", "method": "function_lines", "class": "class_lines"}


def _skip(site: Site) -> str | None:
    return None if site.rules_of("size") else "no contract limits the size of these files"


def _run(site: Site) -> list[Finding]:
    return [
        finding
        for rule, paths in site.rules_of("size")
        for path in paths
        if (text := read_source(site.checkout, path)) is not None
        for finding in _findings(rule, path, text)
    ]


def _findings(rule: CodeRule, path: str, text: str) -> Iterator[Finding]:
    most = rule.settings.get("file_lines")
    lines = len(text.splitlines())
    if isinstance(most, int) and lines > most:
        yield _finding(rule, path, f"the file has {lines} lines, {most} at most", line=0)
    if set(rule.settings) - {"file_lines"}:
        for symbol in outline_of(path, text).symbols:
            yield from _of_symbol(rule, path, symbol)


def _of_symbol(rule: CodeRule, path: str, symbol: Symbol) -> Iterator[Finding]:
    most = rule.settings.get(_KINDS.get(symbol.kind, ""))
    lines = symbol.end_line - symbol.line + 1
    if isinstance(most, int) and lines > most:
        what = f"{symbol.kind} {symbol.qualified} has {lines} lines, {most} at most"
        yield _finding(rule, path, what, line=symbol.line)


def _finding(rule: CodeRule, path: str, measured: str, *, line: int) -> Finding:
    return Finding(
        check="size",
        rule_id=rule.rule_id,
        level=rule.level,
        message=f"{rule.message}: {measured}" if rule.message else measured,
        path=path,
        line=line,
        contract=rule.contract,
        hint=rule.hint,
    )


CHECK = Check(name="size", skip=_skip, run=_run)
