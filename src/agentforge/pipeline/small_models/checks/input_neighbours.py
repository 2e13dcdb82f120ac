"""Calls near the examples, on which samples that pass are compared: what they hold, changed and put together anew. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from agentforge.pipeline.small_models.generation.memory import without_and_twice

_MOST_PROBES = 48
_TURNS_TOGETHER = 6
_PARTED_BY = (" ", ",", ";", "-", "/", "\n")


def probes(calls: Sequence[str], *, most: int = _MOST_PROBES) -> list[str]:
    """Calls near the given ones, evenly from all of them: one literal changed at a time, then all, then parts of two calls."""
    below = any(isinstance(node, ast.USub) for call in calls for node in _nodes(call))
    streams = [iter(_near(call, below=below)) for call in calls]
    streams.append(_mixed(calls))
    known, out = set(calls), list[str]()
    while streams and len(out) < most:
        for stream in list(streams):
            call = next((one for one in stream if one not in known), None)
            if call is None:
                streams.remove(stream)
                continue
            known.add(call)
            out.append(call)
    return out[:most]


def _nodes(call: str) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse(call, mode="eval")))
    except SyntaxError:
        return []


def _near(call: str, *, below: bool) -> Iterator[str]:
    """A call with each of its literal arguments replaced by its neighbours, then with all of them; a scene first with a step
    less or more.

    Args:
        below: numbers below zero are asked, too: the examples have some.
    """
    try:
        tree = ast.parse(call, mode="eval")
    except SyntaxError:
        return
    yield from without_and_twice(call)
    places = [
        (node, position)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for position, argument in enumerate(node.args)
        if _is_literal(argument)
    ]
    changes = [
        (node, position, rows)
        for node, position in places
        if (rows := list(_variants(ast.literal_eval(node.args[position]), below=below)))
    ]
    longest = max((len(rows) for _, _, rows in changes), default=0)
    for turn in range(longest):
        for node, position, rows in changes:
            if turn < len(rows):
                kept = node.args[position]
                node.args[position] = ast.parse(repr(rows[turn]), mode="eval").body
                yield ast.unparse(tree)
                node.args[position] = kept
        if turn == min(_TURNS_TOGETHER, longest) - 1:
            yield from _together(tree, changes)


def _together(tree: ast.Expression, changes: Sequence[tuple[ast.Call, int, list[object]]]) -> Iterator[str]:
    """All literal arguments changed at once."""
    if len(changes) < 2:
        return
    kept = [node.args[position] for node, position, _ in changes]
    for turn in range(_TURNS_TOGETHER):
        for shift, (node, position, rows) in enumerate(changes):
            node.args[position] = ast.parse(repr(rows[(turn + shift) % len(rows)]), mode="eval").body
        yield ast.unparse(tree)
    for (node, position, _), argument in zip(changes, kept, strict=True):
        node.args[position] = argument


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def _variants(value: object, *, below: bool) -> Iterator[object]:
    """Ordinary neighbours of a value, of the same type; those that keep to what its parts are come last."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value * 2 + 3, 0, 1, *((-value,) if below else ()))
        yield from (value + 2, value + 3, value // 2, value + 7, *((value - 1,) if value > 0 else ()))
    elif isinstance(value, float):
        yield from (value + 1.5, value * 2, 0.0, value + 0.25, value / 4)
    elif isinstance(value, str):
        yield from (f"{value} {value}", value.swapcase(), value[: len(value) // 2 + 1], value[::-1], "")
        yield from _texts(value)
    elif isinstance(value, list):
        yield from (value[::-1], value + value, value[1:] + value[:1], value[:1], [])
        yield from (value[:-1], value[1:], value[:1] + value, value[::2], value + value[-1:], value[:2])
    elif isinstance(value, tuple):
        yield from (value[::-1], value[:1], value + value[-1:])
    elif isinstance(value, dict):
        rows = list(value.items())
        yield from (dict(rows[:1]), {}, dict(rows[::-1]), dict(rows[1:]))


def _texts(value: str) -> Iterator[str]:
    """A text of the parts of another: fewer, in another order, without what parts them; then its ends turned on by one."""
    sign = next((one for one in _PARTED_BY if one in value.strip()), "")
    parts = value.split(sign) if sign else []
    if parts:
        yield from (sign.join(parts[::-1]), sign.join(parts[1:]), parts[0], parts[-1])
        yield from ("".join(parts), "".join(parts[:2]), "".join(parts[::-1]), sign.join([*parts, parts[0]]))
    if value:
        yield from (value[:-1] + _next(value[-1], value), _next(value[0], value) + value[1:], value + value)


def _next(letter: str, text: str) -> str:
    """Another sign of the same sort that stands in the text, too ('010' stays binary), else the next one; itself where it is
    neither letter nor digit.
    """
    if not (letter.isalnum() and letter.isascii()):
        return letter
    sort = str.isdigit if letter.isdigit() else str.isupper if letter.isupper() else str.islower
    known = sorted({one for one in text if one.isascii() and one.isalnum() and sort(one)})
    if len(known) > 1:
        return known[(known.index(letter) + 1) % len(known)]
    return {"z": "a", "Z": "A", "9": "1"}.get(letter) or chr(ord(letter) + 1)


def _mixed(calls: Sequence[str]) -> Iterator[str]:
    """Plain calls of one function with arguments taken from two of the examples, then with arguments joined of both."""
    plain = [call for text in calls if (call := _plain(text)) is not None]
    pairs = [
        (one, other)
        for one in plain
        for other in plain
        if one is not other and len(one.args) == len(other.args) and ast.dump(one.func) == ast.dump(other.func)
    ]
    for one, other in pairs:
        if len(one.args) > 1:
            yield _call(one, [other.args[0], *one.args[1:]])
    for one, other in pairs:
        for place, (left, right) in enumerate(zip(one.args, other.args, strict=True)):
            joined = _joined(ast.literal_eval(left), ast.literal_eval(right))
            if joined is not None:
                rest = list(one.args)
                rest[place] = ast.parse(repr(joined), mode="eval").body
                yield _call(one, rest)


def _plain(text: str) -> ast.Call | None:
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    fits = isinstance(node, ast.Call) and not node.keywords and node.args and all(_is_literal(one) for one in node.args)
    return node if isinstance(node, ast.Call) and fits else None


def _call(like: ast.Call, arguments: Sequence[ast.expr]) -> str:
    return ast.unparse(ast.Call(func=like.func, args=list(arguments), keywords=[]))


def _joined(left: object, right: object) -> object:
    """One value out of two of a type; None where that is no value of it."""
    match left, right:
        case (str(), str()) if left and right:
            return f"{left}{right}" if not any(one in left + right for one in _PARTED_BY) else f"{left} {right}"
        case (list(), list()) if left and right:
            return left + right
        case (dict(), dict()) if left and right:
            return left | right
    return None
