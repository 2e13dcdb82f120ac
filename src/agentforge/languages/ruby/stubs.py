"""Stub variants of declared Ruby symbols, and files in which changed methods are wrong: made by edits of the syntax tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agentforge.languages.node_mutants import span
from agentforge.languages.ruby.source import Method, data_of, methods, ruby_tree, with_statements
from agentforge.languages.stub_values import NullWay, Source, Variant, drawn
from agentforge.languages.symbols import Symbol

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
