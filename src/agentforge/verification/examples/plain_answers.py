"""What the plain process tells of its probes: its records, and an answer for each probe.

Results that are objects of the project's own classes: whether they hold what an example expects.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.languages.python.source import module_of
from agentforge.suite import Rig
from agentforge.verification.examples.claims import Claim, literal
from agentforge.verification.examples.typed_comparison import difference

_RESULTS_BYTES = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What became of a probe.

    Attributes:
        value: the encoded result; None when there is none.
        raised: names of the exception's classes, outermost last, each with whether it is the built-in one.
        lost: the module that the probe needs does not exist under any of its names.
        stage: "import" or "call": where it raised.
        ended: done, ended early, timed out.
    """

    value: Sequence[Any] | None = None
    raised: tuple[tuple[str, bool], ...] = ()
    lost: bool = False
    stage: str = "call"
    message: str = ""
    ended: str = "done"


def genuine_records(data: bytes, nonce: str) -> dict[tuple[int, int], dict[str, Any]]:
    """The records that bear the nonce, by (group, how often the group was told before); torn lines are left out."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    times: dict[int, int] = {}
    for line in data[:_RESULTS_BYTES].splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # torn by the end of the process: the group counts as ended early
        if isinstance(record, dict) and record.get("nonce") == nonce and "group" in record:
            number = int(record["group"])
            found[number, times.get(number, 0)] = record
            times[number] = times.get(number, 0) + 1
    return found


def answers_of(record: Mapping[str, Any] | None, count: int) -> list[CallResult]:
    """An answer for each of the probes of a group; those that told nothing say how the group ended."""
    if record is None:
        return [CallResult(ended="ended early") for _ in range(count)]
    rows = [row for row in record["rows"] if isinstance(row, dict)][:count]
    found = [_answer(row) for row in rows]
    return found + [CallResult(ended=str(record["ended"])) for _ in range(count - len(found))]


def _answer(row: Mapping[str, Any]) -> CallResult:
    if "lost" in row:
        return CallResult(lost=True)
    if "raised" in row:
        raised = tuple((str(name), bool(builtin)) for name, builtin in row["raised"])
        return CallResult(raised=raised, stage=str(row["stage"]), message=str(row["message"]))
    return CallResult(value=row["value"])


def makes_an_object(claim: Claim, answer: CallResult) -> bool:
    """Whether a call of a class gave an object of that class, where a built-in value is expected: prose wrote a validator
    with what it accepts, not a call with its result."""
    called = re.match(r"(?:\w+\.)*(\w+)\(", claim.call)
    made = answer.value is not None and answer.value[0] == "object" and called and called[1] == answer.value[1]
    return bool(made) and not claim.raises and claim.call.endswith(")")


def in_a_class_of_the_base(
    claim: Claim, answer: CallResult, rig: Rig, *, base_tree: str, tree: str, again: Callable[[str], CallResult]
) -> str | None:
    """Compare a result that is an object of a class which the base has, by what it holds.

    Where a container is expected, the object is walked in a process of its own, and the items are compared outside of it. Only
    an object that cannot be walked is asked, in one more process, whether it equals the literal, and only if the change left its
    class as it was: what it says of itself is not the change's then.

    Args:
        again: evaluates an expression with the names of the claim on the tree, in a process of its own.
    Returns:
        How it differs, "" where it does not; None where it is no such object.
    """
    if answer.value is None or answer.value[0] != "object" or answer.value[2] or claim.raises:
        return None
    kept = _as_at_the_base(str(answer.value[1]), rig, base_tree=base_tree, tree=tree)
    expected = literal(claim.returns)
    if kept is not None and isinstance(expected, _CONTAINERS):
        told = answer.value[3] or again(_walked(claim.call, expected)).value
        if told is not None:
            return "" if holds(told, expected) else "is an object that holds something else"
    if not kept:
        return None
    equal = again(f"({claim.call}) == ({claim.returns})").value
    return "" if equal == ["bool", True] else f"is an object that does not equal the {type(expected).__name__}"


_CONTAINERS = (list, tuple, set, frozenset, dict)


def _walked(call: str, expected: Any) -> str:
    """An expression for what the result of a call holds, and no more of it than shows that it holds more than is expected."""
    if isinstance(expected, dict):
        return f"dict(({call}).items())"
    return f"[one for _, one in zip(range({len(expected) + 1}), {call})]"


def _as_at_the_base(name: str, rig: Rig, *, base_tree: str, tree: str) -> bool | None:
    """Whether neither a class of the project nor what it inherits from was changed since the base; None where it had none."""
    changed = [one.path for one in rig.git.changed(base_tree, tree) if one.path.endswith(".py")]
    files = [path for path in rig.git.list_files(base_tree) if path.endswith(".py")]
    waiting, seen, known, kept = [name], set[str](), False, True
    while waiting:
        one = waiting.pop()
        seen.add(one)
        for path in changed:
            now = _class(rig.git.show(tree, path), one)
            before = _class(rig.git.show(base_tree, path), one)
            kept = kept and (now is None or (before is not None and ast.unparse(now) == ast.unparse(before)))
        found = next((node for path in files if (node := _class(rig.git.show(base_tree, path), one)) is not None), None)
        known = known or found is not None
        bases = [ast.unparse(base).rpartition(".")[2] for base in found.bases] if found is not None else []
        waiting += [base for base in bases if base not in seen]
    return kept if known else None


def _class(data: bytes | None, name: str) -> ast.ClassDef | None:
    """A class that a module defines; None where it defines none of that name."""
    text = (data or b"").decode("utf-8", "replace")
    if not re.search(rf"^class {re.escape(name)}\b", text, re.MULTILINE):
        return None
    found = [one for one in module_of(text).body if isinstance(one, ast.ClassDef) and one.name == name]
    return found[-1] if found else None


def holds(items: Sequence[Any] | None, expected: object) -> bool:
    """Whether what an object holds is what is expected, whatever sequence that is written as."""
    if items is None or not isinstance(expected, _CONTAINERS):
        return False
    written = list(expected) if isinstance(expected, tuple) else expected
    if isinstance(written, (set, frozenset)):
        return not difference(["set", items[1]], set(written), how="equal")
    return not difference(items, written, streams=False, how="equal")
