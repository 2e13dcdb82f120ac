"""Held-out checks: claims are evaluated in plain processes on a fresh checkout, and compared by type and value.

Product code cannot tell such a process from any program that uses it, the results that are right never enter it, and no
equality of an object is asked; only that of a class which the change left alone is, in one more process. It sees wrong values,
wrong types, objects that lie about equality or class, and behaviour that exists only under the test runner. It cannot see what
no claim speaks of.
"""

from __future__ import annotations

import builtins
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.languages.symbols import Symbol, exists, modules
from agentforge.suite import NO_EDITS, Edits, Rig, fresh_checkout
from agentforge.testing.channel import Channel
from agentforge.testing.launch import EVIDENCE, borrowed, box, ground
from agentforge.verification.examples.claims import Claim, attributes_of, literal, names_of
from agentforge.verification.examples.mentions import MENTION, mentioned
from agentforge.verification.examples.plain_answers import (
    CallResult,
    answers_of,
    genuine_records,
    holds,
    in_a_class_of_the_base,
    makes_an_object,
)
from agentforge.verification.examples.typed_comparison import difference, number_of, of_a_known_class, shown, told_of
from agentforge.verification.examples.user_environment import everyday, furnish, remove_tests
from agentforge.verification.examples.verdicts import UNDECLARED, Look, Verdict, after_steps, rivals, summed, undecided
from agentforge.workspace.git.repository import Read

Names = Mapping[str, tuple[Sequence[str], str]]

TIME_LIMIT_S = 60.0
_GROUP = 4
_WIDER = {("int", "float"), ("bool", "int")}  # whoever states the second takes the first
_NOT_STARTED = (1, 2, 126, 127)  # an error of the interpreter; a process that was killed ends otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One call to evaluate. `names` maps each free name to the module spellings and the attribute that it stands for."""

    source: str
    names: Names


def check_claims(
    rig: Rig, tree: str, claims: Sequence[Claim], *, symbols: Sequence[Symbol], base_tree: str, edits: Edits = NO_EDITS
) -> Verdict:  # fmt: skip
    """Evaluate claims on a tree and compare the results; what came of all of them, see `claim_looks`."""
    return summed(claim_looks(rig, tree, claims, symbols=symbols, base_tree=base_tree, edits=edits), told=_told)


def claim_looks(
    rig: Rig, tree: str, claims: Sequence[Claim], *, symbols: Sequence[Symbol], base_tree: str, edits: Edits = NO_EDITS
) -> list[Look]:  # fmt: skip
    """Evaluate claims on a tree; what came of each.

    A claim whose names the specification does not declare is left unchecked, and so is one whose module cannot be imported at
    the base either, and one of the request of which a measurement alone does not say whether it has to hold (`undecided`).

    Args:
        edits: what differs between the tree and the checkout.
    Side effects: none in the tree; a fresh checkout is made and removed.
    """
    resolved = [(claim, resolve(claim.call, symbols, read=rig.read(tree), roots=rig.plan.roots)) for claim in claims]
    ready = [(claim, Probe(source=claim.call, names=names)) for claim, names in resolved if names is not None]
    looks = [Look(claim=claim, unchecked=UNDECLARED) for claim, names in resolved if names is None]
    groups = [[probe for _, probe in ready[start : start + _GROUP]] for start in range(0, len(ready), _GROUP)]
    answers = [answer for group in evaluate(rig, tree, groups, edits=edits) for answer in group]
    failed = [
        one for (one, _), first in zip(ready, answers, strict=True) if not first.lost and judge(one, first, symbols)
    ]
    at_base = _answered_before(rig, base_tree, failed, symbols)
    for (claim, probe), first in zip(ready, answers, strict=True):
        answer = _once_more(rig, tree, probe, edits) if first.ended == "ended early" and _never_came(first) else first
        if answer.lost or (answer.stage == "import" and _never_imported(rig, base_tree, probe, answer)):
            looks.append(Look(claim=claim, unchecked="its module cannot be imported outside the test runner"))
            continue
        wrong = judge(claim, answer, symbols)
        if wrong and makes_an_object(claim, answer):
            text = "the call makes an object; what is said of it is no result of the call"
            looks.append(Look(claim=claim, unchecked=text))
            continue
        before = at_base.get(claim, ()) if wrong else ()
        if wrong and mentioned(claim, answer, before, symbols=symbols, read=rig.read(tree)):
            looks.append(Look(claim=claim, unchecked=MENTION))
            continue
        differs = _in_a_class_of_the_base(rig, tree, claim, probe, answer, base_tree, edits) if wrong else None
        if differs == "":
            note = f"{_told(claim)}: the result is an object of a class that the change left alone, and holds or equals that"
            looks.append(Look(claim=claim, note=note))
            continue
        if wrong and _other_type(claim, answer, symbols, before):
            looks.append(Look(claim=claim, note=wrong))
            continue
        wrong = _sentence(claim, answer, differs) if differs else wrong
        if wrong and claim.steps and _holds_after_steps(rig, tree, claim, symbols, edits):
            looks.append(Look(claim=claim, note=after_steps(claim)))
            continue
        stood = bool(wrong and claim.steps) and _holds_after_steps(rig, base_tree, claim, symbols, NO_EDITS)
        looks.append(_look(claim, answer, wrong, before, claims=claims, symbols=symbols, stood=stood))
    return looks


def _look(
    claim: Claim, answer: CallResult, wrong: str, before: Sequence[CallResult], *, claims: Sequence[Claim],
    symbols: Sequence[Symbol], stood: bool,
) -> Look:  # fmt: skip
    """What came of a claim, and what its failure means beside what the base gives and the request says else of the call.

    Args:
        stood: whether it held at the base once the calls before it were made.
    """

    def given(one: Claim, answers: Sequence[CallResult]) -> bool:
        return any(not judge(one, found, symbols) or _other_type(one, found, symbols, answers) for found in answers)

    otherwise = (
        any(given(one, [answer]) and not given(one, before) for one in rivals(claim, claims)) if wrong else False
    )
    unchecked = undecided(claim, held=stood or given(claim, before), otherwise=otherwise) if wrong else ""
    got = told_of(answer.value, answer.raised, answer.message)
    return Look(claim=claim, wrong=wrong, unchecked=unchecked, got=got)


def evaluate(
    rig: Rig, tree: str, groups: Sequence[Sequence[Probe]], *, edits: Edits = NO_EDITS, repeat: int = 1
) -> list[list[CallResult]]:
    """Evaluate groups of probes, each group in a process of its own, `repeat` times; the answers of all times, group by group.

    Raises:
        SandboxError: the box cannot be built.
        ToolchainError: the project's interpreter cannot run such checks.
    """
    groups = [group for group in groups if group]
    if not groups or not rig.plan.interpreter:
        return []
    limit = min(TIME_LIMIT_S, rig.timeout_s)
    rows = [
        {"calls": [{"source": one.source, "names": one.names} for one in group], "timeout_s": limit, "repeat": repeat}
        for group in groups
    ]
    told = _run(rig, tree, rows, edits=edits, limit=limit)
    return [
        [answer for time in range(repeat) for answer in answers_of(told.get((number, time)), len(group))]
        for number, group in enumerate(groups)
    ]


def resolve(call: str, symbols: Sequence[Symbol], *, read: Read, roots: Sequence[str]) -> Names | None:
    """Where the free names of a call come from: declared symbols, what their files define, or the modules themselves."""
    found: dict[str, tuple[Sequence[str], str]] = {}
    files = tuple(dict.fromkeys(symbol.file for symbol in symbols if symbol.file.endswith(".py")))
    for name in names_of(call):
        declared = [symbol.file for symbol in symbols if symbol.name.split(".")[0] == name and symbol.file in files]
        defined = declared or [
            file for file in files if exists(Symbol(name=name, file=file, kind="function"), read(file))
        ]
        whole = [file for file in files if any(name in (path, path.split(".")[0]) for path in spellings(file, roots))]
        whole += [file for file in files if spellings(file, roots)[0].rpartition(".")[2] == name]
        holders = [file for file in whole if _holds(attributes_of(call, name), read(file))]
        if defined and holders:  # a function and its module have one name, and an attribute of the module is called
            found[name] = (spellings(holders[0], roots), "")
        elif defined:
            found[name] = (spellings(defined[0], roots), name)
        elif whole:
            found[name] = (spellings(whole[0], roots), "")
        else:
            return None
    return found


def _holds(attributes: Sequence[str], data: bytes | None) -> bool:
    return bool(attributes) and all(exists(Symbol(name=one, file="a.py", kind="function"), data) for one in attributes)


def spellings(file: str, roots: Sequence[str]) -> tuple[str, ...]:
    """Dotted names of a module, the one that the project's own tests would use first."""
    below = [file.removeprefix(f"{root.rstrip('/')}/") for root in roots if root not in (".", "")]
    shorter = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in below if path != file]
    return tuple(dict.fromkeys([*shorter, *reversed(modules(file))]))


def judge(claim: Claim, answer: CallResult, symbols: Sequence[Symbol] = ()) -> str:
    """What is wrong with an answer, as a sentence that does not give a hidden claim away; empty when it is right."""
    wrong = _wrong(claim, answer, symbols)
    return _sentence(claim, answer, wrong) if wrong else ""


def _sentence(claim: Claim, answer: CallResult, wrong: str) -> str:
    if claim.hidden:
        return f"a held-out check of {_subject(claim)} fails: the result {wrong}"
    got = f"; it is {shown(answer.value)}" if answer.value is not None else ""
    said = f" ({answer.message[:120]})" if answer.message else ""
    return f"outside the test runner {claim.text} does not hold: the result {wrong}{got}{said}"


def _wrong(claim: Claim, answer: CallResult, symbols: Sequence[Symbol]) -> str:
    if _never_came(answer):
        return "never came: " + ("it took too long" if answer.ended == "timed out" else "the process ended")
    if claim.raises:
        wanted = claim.raises.rpartition(".")[2]
        ours = {name for name, builtin in answer.raised if builtin or not _is_builtin(wanted)}
        return "" if wanted in ours else f"is {'another exception' if answer.raised else 'a value'}, not {wanted}"
    if answer.value is None:
        name = next((name for name, builtin in answer.raised if builtin), "an exception")
        return f"is an exception ({name})"
    returned = _annotation(claim, symbols)
    expected = literal(claim.returns)
    opaque = answer.value[0] == "object" and not answer.value[2] and number_of(answer.value) is None
    if opaque and answer.value[1] in re.findall(r"\w+", returned):
        return f"is a {answer.value[1]}, as declared, and the example states a {type(expected).__name__}"
    if "float" in returned and type(expected) is int and answer.value[0] == "float":
        expected = float(expected)
    return difference(answer.value, expected, streams=not returned.startswith(("list", "List", "tuple", "Tuple")))


def _holds_after_steps(rig: Rig, tree: str, claim: Claim, symbols: Sequence[Symbol], edits: Edits) -> bool:
    """Whether a claim holds once the calls before it are made, in the same process."""
    names = resolve(claim.steps, symbols, read=rig.read(tree), roots=rig.plan.roots)
    if names is None:
        return False
    return not judge(claim, _once_more(rig, tree, Probe(source=claim.steps, names=names), edits), symbols)


def _in_a_class_of_the_base(
    rig: Rig, tree: str, claim: Claim, probe: Probe, answer: CallResult, base_tree: str, edits: Edits
) -> str | None:
    """How a result differs that is an object of a class of the base; see `held_items.in_a_class_of_the_base`."""

    def again(source: str) -> CallResult:
        return _once_more(rig, tree, Probe(source=source, names=probe.names), edits)

    return in_a_class_of_the_base(claim, answer, rig, base_tree=base_tree, tree=tree, again=again)


def _once_more(rig: Rig, tree: str, probe: Probe, edits: Edits) -> CallResult:
    """Ask again what got no answer: perhaps the machine ended the process; what ends itself ends again."""
    return evaluate(rig, tree, [[probe]], edits=edits)[0][0]


def _never_came(answer: CallResult) -> bool:
    return answer.ended != "done" and answer.value is None and not answer.raised


def _is_builtin(name: str) -> bool:
    return isinstance(getattr(builtins, name, None), type)


def _annotation(claim: Claim, symbols: Sequence[Symbol]) -> str:
    """The declared return type of what a claim calls; empty when none is declared."""
    called = re.findall(r"(\w+)\(", claim.call)
    for symbol in symbols:
        if symbol.last in called[-1:] and "->" in symbol.signature:
            return symbol.signature.rpartition("->")[2].strip().rstrip(":").strip()
    return ""


def _subject(claim: Claim) -> str:
    return ", ".join(names_of(claim.call)) or "the change"


def _told(claim: Claim) -> str:
    return f"a held-out check of {_subject(claim)}" if claim.hidden else claim.text


def _never_imported(rig: Rig, base_tree: str, probe: Probe, answer: CallResult) -> bool:
    """Whether the modules of a probe cannot be imported at the base either, for the same reason (a framework's set-up)."""
    if any(name == "ImproperlyConfigured" for name, _ in answer.raised):
        return True
    files = rig.git.list_files(base_tree)
    there = [
        path for path in files if path.endswith(".py") and any(set(spellings(path, rig.plan.roots)) & set(names)
                                                               for names, _ in probe.names.values())
    ]  # fmt: skip
    if not there:
        return False
    names = {f"module{number}": (spellings(path, rig.plan.roots), "") for number, path in enumerate(there)}
    before = evaluate(rig, base_tree, [[Probe(source="None", names=names)]])
    raised = [name for group in before for one in group for name, _ in one.raised[:1]]
    return raised == [name for name, _ in answer.raised[:1]]


def _answered_before(
    rig: Rig, base_tree: str, claims: Sequence[Claim], symbols: Sequence[Symbol]
) -> dict[Claim, list[CallResult]]:
    """What the base gives for the calls of claims, each call in a process of its own; nothing where it has no such thing."""
    resolved = (
        (claim, resolve(claim.call, symbols, read=rig.read(base_tree), roots=rig.plan.roots)) for claim in claims
    )
    ready = {claim: Probe(source=claim.call, names=names) for claim, names in resolved if names is not None}
    groups = evaluate(rig, base_tree, [[probe] for probe in ready.values()])
    return {claim: [one for one in group if not one.lost] for claim, group in zip(ready, groups, strict=False)}


def _other_type(claim: Claim, answer: CallResult, symbols: Sequence[Symbol], before: Sequence[CallResult]) -> bool:
    """Whether a result equals the expected one, and is only of another type of which nobody spoke.

    A tuple for a list, or a list for a tuple, is none: they are not equal. It is where the base already gives one for this call.
    So is an object that holds the expected items, where the base gives one of the same class. A Decimal or Fraction is one where
    that is the declared class, or that of the base.
    """
    if answer.value is None or claim.raises:
        return False
    expected, found = literal(claim.returns), str(answer.value[0])
    known = of_a_known_class(answer.value, _annotation(claim, symbols), [one.value for one in before])
    if known is not None:
        return known and not difference(answer.value, expected, how="equal")
    if found == "object":
        habit = any(one.value is not None and one.value[:2] == answer.value[:2] for one in before)
        return habit and holds(answer.value[3], expected)
    if {found, type(expected).__name__} == {"list", "tuple"}:
        habit = any(one.value is not None and str(one.value[0]) == found for one in before)
        return habit and not difference([type(expected).__name__, answer.value[1]], expected, how="equal")
    if difference(answer.value, expected, streams=False, how="equal"):
        return False
    stated = set(re.findall(r"\w+", _annotation(claim, symbols)))
    wanted = type(expected).__name__
    return wanted not in stated or found in (wanted, *stated, "subclass") or (found, wanted) in _WIDER


def _run(
    rig: Rig, tree: str, groups: list[dict[str, Any]], *, edits: Edits, limit: float
) -> dict[tuple[int, int], dict[str, Any]]:
    """One supervisor process in a fresh checkout; what it told, by group and time.

    Raises:
        ToolchainError: the interpreter cannot run our program at all; code of the project was not reached.
    """
    channel, nonce = Channel(), secrets.token_hex(16)
    whole = limit * sum(group["repeat"] for group in groups) + limit
    with (
        fresh_checkout(rig, tree) as checkout,
        ground(checkout=checkout, mount_at=rig.mount_at, sandbox=rig.sandbox, scratch=rig.scratch) as place,
    ):
        edits.apply(checkout)
        remove_tests(checkout)
        furnish(place)
        setup = {
            "descriptor": channel.descriptor, "nonce": nonce, "root": str(place.root), "roots": list(rig.plan.roots),
            "pythonpath": list(rig.plan.pythonpath), "user_site": rig.plan.user_site, "groups": groups,
        }  # fmt: skip
        try:
            with borrowed(rig.plan, place):
                done = rig.sandbox.run(
                    [rig.plan.interpreter, "-"],
                    box=everyday(box(rig.plan, place, env={}), place),
                    timeout_s=whole,
                    stdin=_script(setup),
                    pass_fds=(channel.descriptor,),
                )
        finally:
            data = channel.drained()[0]
    if not data and done.exit_code in _NOT_STARTED:
        raise ToolchainError(f"{rig.plan.interpreter} cannot run checks: {done.text[-200:].strip()}")
    return genuine_records(data, nonce)


def _script(setup: Mapping[str, Any]) -> bytes:
    """The program and its instructions as one script; nothing in the checkout stands in for the standard library."""
    program = (EVIDENCE / "plain_program.py").read_text("utf-8")
    start = "import sys\nsys.path[:] = [entry for entry in sys.path if entry]\n"
    return f"{start}exec(compile({program!r}, '<stdin>', 'exec'))\nmain(json.loads({json.dumps(setup)!r}))\n".encode()
