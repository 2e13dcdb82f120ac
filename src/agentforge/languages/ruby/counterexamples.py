"""Wrong Ruby, made by edits of the syntax tree: mutants of changed lines, stubs of symbols, files with wrong methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agentforge.languages.language import Mutant
from agentforge.languages.node_mutants import (
    Change,
    condition_changes,
    constant_changes,
    node_mutants,
    operator_changes,
    span,
)
from agentforge.languages.ruby.source import Method, data_of, methods, ruby_tree, with_statements
from agentforge.languages.stub_values import NullWay, Source, Variant, drawn
from agentforge.languages.symbols import Symbol

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_SWAPPED = {
    "upcase": "downcase", "downcase": "upcase", "any?": "all?", "all?": "any?", "select": "reject", "reject": "select",
    "min": "max", "max": "min", "first": "last", "last": "first", "start_with?": "end_with?", "end_with?": "start_with?",
    "lstrip": "rstrip", "rstrip": "lstrip", "floor": "ceil", "ceil": "floor", "push": "unshift", "unshift": "push",
    "index": "rindex", "rindex": "index",
}  # fmt: skip
_CHOICES = ("if", "unless", "while", "until", "if_modifier", "unless_modifier", "conditional")
_LEFT_OUT = frozenset({"comment", "method_parameters", "regex", "heredoc_body", "string_array", "symbol_array"})
_SPEAKING = ("puts ", "p ", "print ", "warn ", "logger.", "Rails.logger", "raise ", "$stderr", "$stdout")


def ruby_mutants(path: str, data: bytes, *, lines: int, before: bytes | None = None) -> tuple[Mutant, ...]:
    """Every mutant of the changed lines of a file, in order; () for a text that cannot be parsed.

    Left out are comments, parameters and text for people (what is printed, logged or raised).

    Args:
        lines: a bit for each changed line.
        before: the file as it was, whose parts of a changed line are left out; None = nothing is.
    """
    text = data.decode("utf-8", "replace")
    root = ruby_tree(text) if text.encode() == data else None
    if root is None:
        return ()
    changes = ((method.name, change) for method in methods(root) for change in _walk(method.node))
    parses = lambda made: ruby_tree(made) is not None  # noqa: E731 # the whole file again
    return node_mutants(path, text, changes, lines=lines, before=before, parses=parses)


def _walk(node: SgNode) -> Iterator[Change]:
    if node.kind() in _LEFT_OUT or node.text().startswith(_SPEAKING):
        return
    yield from _changes(node)
    for child in node.children():
        yield from _walk(child)


def _changes(node: SgNode) -> Iterator[Change]:
    kind = node.kind()
    yield from constant_changes(node, numbers=("integer",), texts=("string",))
    if kind == "binary":
        yield from operator_changes(node, texts=("string",))
    elif kind in _CHOICES:
        yield from condition_changes(node)
    elif kind == "return" and (value := next((one for one in node.children() if one.is_named()), None)) is not None:
        if value.text() != "nil":
            yield "returned", value, "nil"
    elif kind == "call":
        name = node.field("method")
        if name is not None and node.field("receiver") is not None and name.text() in _SWAPPED:
            yield "method", name, _SWAPPED[name.text()]


_RAISES = 'raise NotImplementedError, "not implemented"'
_VALUES: Mapping[str, str] = {"wrong": '"\\x00wrong"', "none": "nil", "empty": '""', "other": "0"}
_TYPES = ("class", "module", "struct", "exception")


def ruby_variants(symbols: Iterable[Symbol], *, source: Source, seed: str) -> tuple[Variant, ...]:
    """Make the stub variants of the declared symbols, the raising one first.

    Args:
        source: text of a repository path at the base; None when it does not exist.
        seed: draws the wrong value.
    Returns:
        () when no method of Ruby is declared as new or changed, or a file cannot be parsed.
    """
    wanted = [one for one in symbols if one.file.endswith(".rb") and one.change in ("new", "changed")]
    if not any(one.kind not in _TYPES for one in wanted):
        return ()
    found: list[Variant] = []
    for name in ("raises", *_VALUES):
        statement = _RAISES if name == "raises" else f"return {drawn(_VALUES[name], seed=seed)}"
        files = {
            path: _stubbed(source(path) or "", [one for one in wanted if one.file == path], statement)
            for path in dict.fromkeys(one.file for one in wanted)
        }
        if any(text is None for text in files.values()):
            return ()
        made = {path: text for path, text in files.items() if text is not None}
        found.append(Variant(name=name, hard=name in ("raises", "wrong"), files=made))
    return tuple(found)


def null_implementation(path: str, before: bytes | None, after: bytes, *, way: NullWay) -> bytes | None:
    """A file whose changed methods are wrong; b"" when none changed, None when the change is partly data or no Ruby."""
    del path
    new = after.decode("utf-8", "surrogateescape")
    roots = ruby_tree((before or b"").decode("utf-8", "surrogateescape")), ruby_tree(new)
    if roots[0] is None or roots[1] is None or data_of(roots[0]) != data_of(roots[1]):
        return None
    known = {one.node.text() for one in methods(roots[0])}
    fresh = [one for one in methods(roots[1]) if one.node.text() not in known]
    if any(one.name.rpartition(".")[2] == "initialize" for one in fresh):
        return None
    statement = _RAISES if way.raising else f"return {drawn(_VALUES['wrong'], seed=way.seed)}"
    return (
        with_statements(new, [(one, statement) for one in fresh]).encode("utf-8", "surrogateescape") if fresh else b""
    )


def _stubbed(text: str, symbols: Sequence[Symbol], statement: str) -> str | None:
    root = ruby_tree(text)
    if root is None:
        return None
    known = list(methods(root))
    standing = [one for symbol in symbols for one in _standing(symbol, known)]
    text = with_statements(text, [(one, statement) for one in dict.fromkeys(standing)])
    for symbol in symbols:
        if not _standing(symbol, known):
            text = _with_new(text, symbol, statement)
    return text


def _standing(symbol: Symbol, known: Sequence[Method]) -> list[Method]:
    """The methods that a symbol stands for: itself, or those of a changed class."""
    if symbol.kind in _TYPES:
        return [one for one in known if f".{one.name}".partition(f".{symbol.last}.")[1] and not _is_constructor(one)]
    exact = [one for one in known if one.name == symbol.name]
    alike = [one for one in known if one.name.rpartition(".")[2] == symbol.last]
    return exact or (alike if len(alike) == 1 and symbol.change == "changed" else [])


def _is_constructor(method: Method) -> bool:
    return method.name.rpartition(".")[2] == "initialize"


def _with_new(text: str, symbol: Symbol, statement: str) -> str:
    """A text with a new method or class: inside of its class or module, which is made where there is none."""
    if symbol.kind in _TYPES:
        base = " < StandardError" if symbol.last.endswith(("Error", "Exception")) else ""
        word = "module" if symbol.kind == "module" else "class"
        body = "" if base or word == "module" else "def initialize(*args, **options, &block); end; "
        return _inside(text, symbol.owner, f"{word} {symbol.last}{base}; {body}end")
    own = f"def {symbol.last}(*args, **options, &block); {statement}; end"
    if not symbol.owner:
        return f"{text.rstrip()}\n\n{own}\n"
    return _inside(text, symbol.owner, f"{own}; def self.{symbol.last}(*args, **options, &block); {statement}; end")


def _inside(text: str, owner: str, piece: str) -> str:
    """A text with a piece at the end of a class or module."""
    if not owner:
        return f"{text.rstrip()}\n\n{piece}\n"
    root, last = ruby_tree(text), owner.rpartition(".")[2]
    for kind in ("class", "module"):
        for node in root.find_all(kind=kind) if root is not None else ():
            name = node.field("name")
            if name is not None and name.text().rpartition("::")[2] == last:
                at = span(node)[1] - len("end")
                return f"{text[:at]}\n{piece}\n{text[at:]}"
    above, _, name_of = owner.rpartition(".")
    return _inside(text, above, f"{'class' if name_of[:1].isupper() else 'module'} {name_of}; {piece}; end")
