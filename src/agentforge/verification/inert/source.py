"""What of a source file in other languages than Python can be noticed while it runs: tokens without comments and types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.verification.inert.python import Row
from agentforge.workspace.code.symbols import language_of, parse_tree

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_TYPES = (
    "type_annotation type_parameters type_arguments type_predicate_annotation asserts_annotation "
    "omitting_type_annotation interface_declaration type_alias_declaration function_signature"
)
_WHOLE = re.compile(r"string|template|char|regex|heredoc|literal|text|uninterpreted")
_DERIVED = re.compile(r"derive\(([^)]*)\)")
_OWN_DERIVES = frozenset({"Debug", "Clone", "Copy", "PartialEq", "Eq", "Hash", "PartialOrd", "Ord", "Default"})
_PLAIN_ATTRIBUTES = re.compile(r"#\[\s*(?:derive|doc|allow|must_use|inline|non_exhaustive|repr|deprecated|cfg)\b")

TOOLS = re.compile(
    r"""
      ^\#!                                                              # which program runs the file
    | coding[:=] | frozen_string_literal | -\*-                         # how the file is read
    | \b(?:noqa|nosec|nolint|nosonar|nopmd|pragma|pylint|flake8|mypy|pyright|ruff|isort|yapf|rubocop)\b
    | \btype:\s*ignore | \bty:\s*ignore | \bfmt:\s*(?:off|on|skip) | \bdoctest: | \b(?:cython|distutils):
    | eslint | tslint | jshint | biome- | prettier-ignore | stylelint | @ts- | @flow | @jsx | @jest- | @vitest-
    | @vite-ignore | webpack\w+: | __PURE__ | __NO_SIDE_EFFECTS__ | sourceMappingURL | <reference | @license
    | (?:istanbul|c8|v8)\s+ignore | clang-format | clang-tidy | CHECKSTYLE | shellcheck
    | ^//\s*\+build | ^//go: | ^//export\b | ^//line\b | ^//\#
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Comments that a program reads."""


def source_rows(path: str, text: str, *, types: bool) -> tuple[list[Row], list[str]] | None:
    """The tokens of a file in their structure, and the comments that a program reads; None without a grammar for it.

    Args:
        types: what only says types is left out, too.
    """
    language = language_of(path)
    tree = parse_tree(text, language) if language is not None else None
    if tree is None:
        return None
    away = (
        frozenset(_TYPES.split())
        if types and language in ("typescript", "tsx") and "@" not in re.sub(r"@ts-", "", text)
        else frozenset()
    )
    comments: list[SgNode] = []
    rows = list(_tokens(tree, away, comments))
    return rows, [one.text() for one in comments if _is_read(one, str(language), text)]


def _tokens(node: SgNode, away: frozenset[str], comments: list[SgNode]) -> Iterator[Row]:
    kind = node.kind()
    if "comment" in kind:
        comments.append(node)
        return
    children = node.children()
    line = node.range().start.line + 1
    if not children or kind == "ERROR" or (_WHOLE.search(kind) and not _holds_comment(node)):
        yield f"{kind} {node.text()}", line
        return
    if kind in away or (away and _is_type_only(node, away)):
        return
    yield f"({kind}", line
    end = node.range().start.index
    start, text = end, node.text()
    for child in children:
        gap = text[end - start : child.range().start.index - start].strip()
        if gap:
            yield gap, line
        end = child.range().end.index
        if away and child.kind() == "?" and kind in ("optional_parameter", "public_field_definition"):
            continue
        yield from _tokens(child, away, comments)
    yield text[end - start :].strip() + ")", line


def _holds_comment(node: SgNode) -> bool:
    return "comment" in node.kind() or any(_holds_comment(one) for one in node.children())


def _is_type_only(node: SgNode, away: frozenset[str]) -> bool:
    """An export of nothing but a type, or an import of types."""
    if node.kind() == "export_statement":
        return any(one.kind() in away for one in node.children())
    return node.kind() == "import_statement" and node.text().startswith("import type ")


def _is_read(comment: SgNode, language: str, text: str) -> bool:
    said = comment.text()
    if TOOLS.search(said):
        return True
    if language == "go":
        return 'import "C"' in text  # cgo compiles it
    if language == "php":
        return said.startswith("/**") and "@" in said
    return language == "rust" and said.startswith(("///", "//!", "/**", "/*!")) and _feeds_a_macro(comment)


def _feeds_a_macro(comment: SgNode) -> bool:
    """Whether a documentation comment of Rust stands at or in a type that a macro of another crate reads: help of a program."""
    holder: SgNode | None = comment
    while holder is not None and holder.kind() not in ("struct_item", "enum_item"):
        following = holder.next() if holder is comment else None
        while following is not None and ("comment" in following.kind() or following.kind() == "attribute_item"):
            following = following.next()
        around = following is not None and following.kind() in ("struct_item", "enum_item")
        holder = following if around else holder.parent()
    before = holder.prev() if holder is not None else None
    while before is not None and ("comment" in before.kind() or before.kind() == "attribute_item"):
        said = before.text()
        if before.kind() == "attribute_item":
            derived = {one.strip() for found in _DERIVED.findall(said) for one in found.split(",")}
            if derived - _OWN_DERIVES - {""} or not _PLAIN_ATTRIBUTES.match(said):
                return True
        before = before.prev()
    return False
