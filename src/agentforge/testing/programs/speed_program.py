"""Runs one statement of a measurement: takes its time, or tells its result and those of nearby inputs.

Started like `replay_program.py`, whose text and that of `plain_program.py` stand before this one. Everything that is of the
project runs in a child; the clock and what else is needed is taken before the project is imported.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentforge.testing.programs.plain_program import _encoder, _enter, _forked, _message, _opened, _write
    from agentforge.testing.programs.replay_program import _shape

_BATCH_S = 0.01
_BATCHES = 5
_NEARBY_MOST = 20
_LEAST = 4  # a value that is smaller has nothing to leave out
_CALLS_MOST = 1_000_000
_SIZED = (list, tuple, str, bytes, dict, set, frozenset)


def main(setup: dict[str, Any]) -> None:
    """Tell the rows of one child: `mode` is time or look.

    Side effects: leaves by `os._exit`.
    """
    descriptor, nonce = _opened(setup)
    rows, ended = _forked(partial(_of_statement, setup), descriptor, setup["timeout_s"])
    for row in [*rows, *([{"late": True}] if ended == "timed out" else ())]:
        _write(descriptor, json.dumps({**row, "nonce": nonce}).encode("ascii") + b"\n")
    os._exit(0)


def _of_statement(setup: dict[str, Any], writing: int) -> None:
    """Run the statement and leave. Never returns."""
    write, leave, dumps = _write, os._exit, json.dumps
    clock = time.perf_counter
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for target in (1, 2):
            os.dup2(null, target)
        _enter(setup)
        try:
            for row in _timed(setup, clock) if setup["mode"] == "time" else _looked(setup, clock):
                write(writing, dumps(row).encode("ascii") + b"\n")
        except BaseException as exc:  # noqa: BLE001 - whatever the statement raises is told
            told = {"raised": type(exc).__name__, "message": _message(exc)}
            write(writing, dumps(told).encode("ascii") + b"\n")
        write(writing, b"\n")
    finally:
        leave(0)


def _fresh(source: str) -> dict[str, Any]:
    """The names that the set-up makes, made anew."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, "<setup>", "exec"), names)
    return names


# -- time


def _timed(setup: dict[str, Any], clock: Any) -> Iterator[dict[str, Any]]:
    """Seconds of the first call in this process, and of one in the fastest of some batches, each with a set-up of its own."""
    code = _repeated(setup["statement"])
    names = _fresh(setup["setup"])
    gc.disable()
    first = _batch(code, names, 1, clock)
    count, best, until = 1, first, clock() + setup["seconds"]
    for _ in range(_BATCHES):
        spent = _batch(code, _fresh(setup["setup"]), count, clock)
        while spent < _BATCH_S and count < _CALLS_MOST:
            count = min(_CALLS_MOST, max(count * 2, int(count * _BATCH_S / max(spent, 1e-9))))
            spent = _batch(code, _fresh(setup["setup"]), count, clock)
        best = min(best, spent / count)
        if clock() > until:
            break
    yield {"first_s": first, "best_s": best, "calls": count}


def _repeated(statement: str) -> Any:
    tree = ast.parse("for __one in range(__count):\n    pass")
    tree.body[0].body = ast.parse(statement).body  # type: ignore[attr-defined] # it is the loop
    return compile(ast.fix_missing_locations(tree), "<statement>", "exec")


def _batch(code: Any, names: dict[str, Any], count: int, clock: Any) -> float:
    names["__count"] = count
    gc.collect()
    begun = clock()
    exec(code, names)
    spent: float = clock() - begun
    return spent


# -- results


def _looked(setup: dict[str, Any], clock: Any) -> Iterator[dict[str, Any]]:
    """What the statement gives, which functions of the project it runs, and what it gives for inputs nearby."""
    globals()["_ITEMS"] = 100_000  # results of a measurement are larger than those of an example
    until = clock() + setup["seconds"]
    names = _fresh(setup["setup"])
    executed: dict[tuple[str, int], None] = {}
    root = setup["root"].rstrip("/") + "/"

    def record(frame: Any, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            executed[frame.f_code.co_filename[len(root) :], frame.f_code.co_firstlineno] = None

    told = _told(setup["statement"], names, record)
    if "raised" in told:
        yield told
        return
    yield {"nearby": "", "told": told, "executed": [[path, line] for path, line in executed][:5_000]}
    same: dict[str, int] = {}  # two places of one number are changed in the same words
    for number, (words, source, statement, change) in enumerate(_nearby(setup["setup"], setup["statement"])):
        if number >= _NEARBY_MOST or clock() > until:
            return
        same[words] = same.get(words, 0) + 1
        name = words if same[words] == 1 else f"{words} ({same[words]})"
        try:
            names = _fresh(source)
            if change is None or change(names):
                yield {"nearby": name, "told": _told(statement, names)}
        except BaseException:  # noqa: BLE001, S112 - another set-up need not be possible
            continue


def _told(statement: str, names: dict[str, Any], record: Any = None) -> dict[str, Any]:
    """The value of the statement's last expression, or what it raised, and the data of the set-up as they are afterwards."""
    tree = ast.parse(statement)
    last: Any = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value: Any
    data = [name for name in _used(statement) if type(names.get(name)) in (*_SIZED, bytearray)]
    try:
        sys.setprofile(record)
        try:
            exec(compile(tree, "<statement>", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "<statement>", "eval"), names) if last else None
            if type(value).__name__ in ("generator", "map", "filter", "zip"):
                value = list(value)
        finally:
            sys.setprofile(None)
    except BaseException as exc:  # noqa: BLE001 - whatever it raises is its result
        return {"raised": type(exc).__name__, "message": _message(exc)}
    encode = _encoder()
    told = encode(value)
    if told[0] == "object":
        told.append(_shape(value))
    size = len(value) if type(value) in _SIZED else -1
    return {"value": told, "size": size, "data": {name: encode(names[name]) for name in data if name in names}}


def _used(source: str) -> list[str]:
    found = (node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return list(dict.fromkeys(found))


def _nearby(setup: str, statement: str) -> Iterator[tuple[str, str, str, Any]]:
    """Inputs near the given one, as (words, set-up, statement, change of its names); what is in order stays in order.

    Less of the data, the same objects changed in place after a call, other whole numbers.
    """
    for name in _used(statement):
        for words, part in _PARTS:
            yield words.format(name), setup, statement, _replacing(name, part)
        yield (
            f"after every second item of {name} was taken out in place",
            setup,
            statement,
            _shortening(name, statement),
        )
    for place, text in enumerate((setup, statement)):
        for words, other in _other_numbers(text):
            yield (words, other, statement, None) if place == 0 else (words, setup, other, None)


_PARTS = (
    ("with the first half of {}", lambda size: slice(0, size // 2)),
    ("with every second item of {}", lambda size: slice(0, size, 2)),
    ("with all but the first item of {}", lambda size: slice(1, size)),
)


def _replacing(name: str, part: Any) -> Any:
    def change(names: dict[str, Any]) -> bool:
        value: Any = names.get(name)
        kind = type(value)
        if kind not in (list, tuple, str, bytes, dict) or len(value) < _LEAST:
            return False
        kept = part(len(value))
        names[name] = dict(list(value.items())[kept]) if kind is dict else value[kept]
        return True

    return change


def _shortening(name: str, statement: str) -> Any:
    """Call once, then take items out of the very same object."""

    def change(names: dict[str, Any]) -> bool:
        if type(names.get(name)) not in (list, dict) or len(names[name]) < _LEAST:
            return False
        value = names[name]
        exec(compile(statement, "<statement>", "exec"), names)
        if id(names.get(name)) != id(value) or len(value) < _LEAST:
            return False
        if type(value) is list:
            del value[::2]
        else:
            for key in list(value)[::2]:
                del value[key]
        return True

    return change


def _other_numbers(source: str) -> Iterator[tuple[str, str]]:
    """The source with one of its whole numbers halved, and doubled."""
    count = len(list(_numbers_in(ast.parse(source))))
    for place in range(count if hasattr(ast, "unparse") else 0):
        for factor in (0.5, 2):
            tree = ast.parse(source)
            inner = list(_numbers_in(tree))[place]
            old, inner.value = inner.value, int(inner.value * factor)
            yield f"with {inner.value} in the place of {old}", ast.unparse(tree)


def _numbers_in(tree: ast.AST) -> Iterator[Any]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and _LEAST <= node.value <= _CALLS_MOST:
            yield node
