"""Held-out checks of JavaScript and TypeScript: claims are evaluated in plain node processes; see `plain_check.py`."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.languages.javascript.project import is_test
from agentforge.languages.javascript.source import definitions, is_javascript, parsed
from agentforge.languages.symbols import Symbol
from agentforge.suite import NO_EDITS, Edits, Rig, fresh_checkout
from agentforge.testing.channel import Channel
from agentforge.testing.launch import EVIDENCE, TestSandbox, borrowed, box, ground
from agentforge.verification.examples.claims import Claim, literal
from agentforge.verification.examples.claims_javascript import names_of
from agentforge.verification.examples.mentions import MENTION
from agentforge.verification.examples.plain_answers import CallResult
from agentforge.verification.examples.plain_check import TIME_LIMIT_S, judge
from agentforge.verification.examples.typed_comparison import told_of
from agentforge.verification.examples.user_environment import everyday, furnish
from agentforge.verification.examples.verdicts import UNDECLARED, Look, Verdict, after_steps, rivals, summed, undecided
from agentforge.workspace.files.file_access import remove_tree

_GROUP = 4
_RESULTS_BYTES = 4_000_000
_MEMBER = re.compile(r"([\w$]+(?:\.[\w$]+)*)\.([\w$]+)\(")
_ENTRIES = ("src/index.js", "src/index.ts", "index.js", "index.ts")
_BUILT = frozenset({"dist", "build", "umd", "node_modules"})
_UNDEFINED = re.compile(r"([\w$]+) is not defined$")
_FOLDERS = frozenset({"test", "tests", "__tests__", "spec"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProbe:
    """One call to evaluate.

    Attributes:
        names: each free name -> its file, and whether it may be the whole module.
        entry: the source file that the package offers its users, "" = none; it is asked for what the file does not export.
    """

    source: str
    names: Mapping[str, tuple[str, bool]]
    entry: str = ""


def check_javascript(
    rig: Rig, tree: str, claims: Sequence[Claim], *, symbols: Sequence[Symbol], base_tree: str, edits: Edits = NO_EDITS
) -> Verdict:
    """Evaluate claims on a tree and compare the results; what came of all of them, see `node_looks`."""
    return summed(node_looks(rig, tree, claims, symbols=symbols, base_tree=base_tree, edits=edits), told=_told)


def node_looks(
    rig: Rig, tree: str, claims: Sequence[Claim], *, symbols: Sequence[Symbol], base_tree: str, edits: Edits = NO_EDITS
) -> list[Look]:
    """Evaluate claims on a tree; what came of each, by type and value; null and undefined are the same here.

    Left unchecked are claims with names that the specification does not declare, those whose module cannot be loaded without the
    test runner, and those of the request that do not hold but did at the base.

    Side effects: none in the tree; a fresh checkout is made and removed.
    """
    resolved = [(claim, resolved_in_node(claim.call, symbols, rig, tree)) for claim in claims]
    ready = [(claim, probe) for claim, probe in resolved if probe is not None]
    looks = [Look(claim=claim, unchecked=UNDECLARED) for claim, probe in resolved if probe is None]
    try:
        answers = evaluate_in_node(rig, tree, [probe for _, probe in ready], edits=edits)
    except ToolchainError as exc:
        return [*looks, *(Look(claim=claim, unchecked=exc.message) for claim, _ in ready)]
    for (claim, probe), answer in zip(ready, answers, strict=True):
        if answer.lost or (
            answer.stage == "import" and answer.raised and _raised_before(rig, base_tree, probe, answer)
        ):
            said = f" ({answer.message[:160]})" if answer.message else ""
            unloaded = f"its module cannot be loaded outside the test runner{said}"
            looks.append(Look(claim=claim, unchecked=unloaded))
            continue
        if _lacks_what_the_build_brings(rig, base_tree, probe, answer):
            text = f"{answer.message}: build or test runner bring it, and a plain process has none"
            looks.append(Look(claim=claim, unchecked=text))
            continue
        wrong = _wrong(claim, answer)
        if wrong and _method_of_objects(rig, tree, probe, answer, base_tree):
            looks.append(Look(claim=claim, unchecked=MENTION))
            continue
        if wrong and claim.steps and _held(rig, tree, claim, claim.steps, symbols, edits):
            looks.append(Look(claim=claim, note=after_steps(claim)))
            continue
        unsure = bool(wrong) and claim.asked and not claim.firm
        held = unsure and any(_held(rig, base_tree, claim, one, symbols) for one in (claim.call, claim.steps) if one)
        otherwise = unsure and any(
            not _wrong(one, answer) and not _held(rig, base_tree, one, one.call, symbols)
            for one in rivals(claim, claims)
        )
        unchecked = undecided(claim, held=held, otherwise=otherwise) if wrong else ""
        got = told_of(answer.value, answer.raised, answer.message)
        looks.append(Look(claim=claim, wrong=wrong, unchecked=unchecked, got=got))
    return looks


def evaluate_in_node(rig: Rig, tree: str, probes: Sequence[NodeProbe], *, edits: Edits = NO_EDITS) -> list[CallResult]:
    """Evaluate probes on a fresh checkout without its tests, a few in a process.

    Raises:
        SandboxError: the box cannot be built.
        ToolchainError: there is no node on PATH, or it cannot run such checks.
    """
    if not probes:
        return []
    node = node_path()
    with (
        fresh_checkout(rig, tree) as checkout,
        ground(checkout=checkout, mount_at=rig.mount_at, sandbox=rig.sandbox, scratch=rig.scratch) as place,
    ):
        edits.apply(checkout)
        _without_tests(checkout)
        furnish(place)
        found: list[CallResult] = []
        with borrowed(rig.plan, place):
            for start in range(0, len(probes), _GROUP):
                found += _told_by_node(node, rig, place, probes[start : start + _GROUP])
        return found


def program_of(*names: str) -> str:
    """The text of a program for node that consists of several files."""
    return "\n".join((EVIDENCE / "javascript" / f"{name}_program.mjs").read_text("utf-8") for name in names)


def node_path() -> str:
    """Where node is.

    Raises:
        ToolchainError: it is not on PATH.
    """
    node = shutil.which("node", path=os.environ.get("PATH"))
    if node is None:
        raise ToolchainError("node is not on PATH: examples cannot be checked outside of the test runner")
    return node


def _told_by_node(node: str, rig: Rig, place: TestSandbox, probes: Sequence[NodeProbe]) -> list[CallResult]:
    """One process for a few calls."""
    channel, nonce = Channel(), secrets.token_hex(16)
    calls = [
        {
            "source": one.source,
            "entry": one.entry,
            "names": {name: {"file": file, "whole": whole} for name, (file, whole) in one.names.items()},
        }
        for one in probes
    ]
    setup = {
        "descriptor": channel.descriptor, "nonce": nonce, "root": str(place.root), "calls": calls, "word": secrets.token_hex(4)
    }  # fmt: skip
    try:
        done = rig.sandbox.run(
            [node, "--input-type=module", "-"],
            box=everyday(box(rig.plan, place, env={}), place),
            timeout_s=min(TIME_LIMIT_S, rig.timeout_s),
            stdin=f"globalThis.__setup = {json.dumps(setup)};\n{program_of('calls', 'plain')}".encode(),
            pass_fds=(channel.descriptor,),
        )
    finally:
        data = channel.drained()[0]
    if not data and done.exit_code in (1, 2, 9, 126, 127) and "__setup" in done.text:
        raise ToolchainError(f"{node} cannot run checks: {done.text[-200:].strip()}")
    rows = _genuine(data, nonce)
    ended = "timed out" if done.timed_out else "ended early"
    return [_answer(rows[number]) if number in rows else CallResult(ended=ended) for number in range(len(probes))]


def _genuine(data: bytes, nonce: str) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for line in data[:_RESULTS_BYTES].splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # torn by the end of the process: the call has no answer
        if isinstance(record, dict) and record.get("nonce") == nonce and "number" in record:
            found.setdefault(int(record["number"]), record)
    return found


def _answer(row: Mapping[str, Any]) -> CallResult:
    message = str(row.get("message", ""))
    if "lost" in row:
        return CallResult(lost=True, message=message)
    if "raised" in row:
        raised = tuple((str(name), bool(builtin)) for name, builtin in row["raised"])
        return CallResult(raised=raised, stage=str(row["stage"]), message=message)
    return CallResult(value=row["value"])


def resolved_in_node(call: str, symbols: Sequence[Symbol], rig: Rig, tree: str) -> NodeProbe | None:
    """Where the free names of a call come from: declared symbols, what their files define, or the modules themselves."""
    files = tuple(dict.fromkeys(one.file for one in symbols if is_javascript(one.file)))
    names: dict[str, tuple[str, bool]] = {}
    for name in names_of(call):
        declared = [one.file for one in symbols if one.name.split(".")[0] == name and one.file in files]
        defined = declared or [file for file in files if name in _defined(file, rig.git.show(tree, file))]
        whole = [file for file in files if _stem(file) == name or (_stem(file) == "index" and _is_used(name, call))]
        if defined:
            names[name] = (defined[0], False)
        elif whole:
            names[name] = (whole[0], True)
        else:
            return None
    return NodeProbe(source=call, names=names, entry=_entry(rig, tree)) if names else None


def _is_used(name: str, call: str) -> bool:
    """Whether a name is called, or something of it is: `req` of `is(req, types)` only stands for a value."""
    return re.search(rf"(?<![\w$.]){re.escape(name)}\s*[.(\[]", call) is not None


def _entry(rig: Rig, tree: str) -> str:
    """The source file of a package's entry; "" where it has none, or only one that is built."""
    try:
        told = json.loads(rig.git.show(tree, "package.json") or b"{}")
    except ValueError:
        return ""
    told = told if isinstance(told, dict) else {}
    named = [*_paths(told.get("exports")), *_paths(told.get("module")), *_paths(told.get("main")), *_ENTRIES]
    paths = [str(PurePosixPath(one)) for one in named]
    sources = (one for one in paths if is_javascript(one) and not _BUILT & set(PurePosixPath(one).parts[:-1]))
    return next((one for one in sources if rig.git.show(tree, one) is not None), "")


def _paths(told: object) -> Iterator[str]:
    """The files of the root entry, in whatever form package.json names them."""
    if isinstance(told, str):
        yield told
    elif isinstance(told, dict):
        for key in (".", "import", "default", "node", "require"):
            yield from _paths(told.get(key))


def _defined(path: str, data: bytes | None) -> set[str]:
    root = parsed(path, data.decode("utf-8", "replace")) if data is not None else None
    return {one.name for one in definitions(root)} if root is not None else set()


def _stem(path: str) -> str:
    return PurePosixPath(path).name.partition(".")[0]


def _raised_before(rig: Rig, base_tree: str, probe: NodeProbe, answer: CallResult) -> bool:
    """Whether loading the same files raised the same at the base (a framework's set-up)."""
    there = {name: place for name, place in probe.names.items() if rig.git.show(base_tree, place[0]) is not None}
    if not there:
        return False
    before = evaluate_in_node(rig, base_tree, [NodeProbe(source="null", names=there)])[0]
    return before.lost or before.raised[:1] == answer.raised[:1]


def _lacks_what_the_build_brings(rig: Rig, base_tree: str, probe: NodeProbe, answer: CallResult) -> bool:
    """Whether a name is missing that nobody defines, and that the called files used at the base already."""
    name = _UNDEFINED.match(answer.message)
    if answer.raised[:1] != (("ReferenceError", True),) or name is None or name[1] in probe.names:
        return False
    texts = [rig.git.show(base_tree, file) or b"" for file, _ in probe.names.values()]
    if any(re.search(rf"(?<![\w$.]){re.escape(name[1])}(?![\w$])", text.decode("utf-8", "replace")) for text in texts):
        return True
    before = evaluate_in_node(rig, base_tree, [probe])[0]
    return (before.raised, before.message) == (answer.raised, answer.message)


def _method_of_objects(rig: Rig, tree: str, probe: NodeProbe, answer: CallResult, base_tree: str) -> bool:
    """Whether prose named a method of objects, `Kit.fits()`, which no class has itself, nor had at the base."""
    called = _MEMBER.match(probe.source)
    if called is None or answer.raised[:1] != (("TypeError", True),) or "is not a function" not in answer.message:
        return False
    method = NodeProbe(source=f"typeof {called[1]}.prototype.{called[2]}", names=probe.names)
    if evaluate_in_node(rig, tree, [method])[0].value != ["str", "function"]:
        return False
    if any(rig.git.show(base_tree, file) is None for file, _ in probe.names.values()):
        return True
    static = NodeProbe(source=f"typeof {called[1]}.{called[2]}", names=probe.names)
    return evaluate_in_node(rig, base_tree, [static])[0].value != ["str", "function"]


def _held(rig: Rig, tree: str, claim: Claim, source: str, symbols: Sequence[Symbol], edits: Edits = NO_EDITS) -> bool:
    """Whether an expression gives on a tree what a claim says."""
    probe = resolved_in_node(source, symbols, rig, tree)
    if probe is None or any(rig.git.show(tree, file) is None for file, _ in probe.names.values()):
        return False
    answer = evaluate_in_node(rig, tree, [probe], edits=edits)[0]
    return not answer.lost and not _wrong(claim, answer)


def _wrong(claim: Claim, answer: CallResult) -> str:
    """What is wrong with an answer; a property that is undefined or null and one that is not there are the same."""
    if not claim.returns or answer.value is None:
        return judge(claim, answer)
    bare = replace(answer, value=_encoded_without_absent(answer.value))
    return judge(replace(claim, returns=repr(_without_absent(literal(claim.returns)))), bare)


def _without_absent(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_absent(one) for name, one in value.items() if one is not None}
    return type(value)(_without_absent(one) for one in value) if isinstance(value, (list, tuple)) else value


def _encoded_without_absent(value: Any) -> Any:
    """The same of a value as `calls_program.mjs` encodes it: ["dict", [[name, value], ...]]."""
    if not isinstance(value, list):
        return value
    if value[:1] == ["dict"]:
        pairs = [[name, _encoded_without_absent(one)] for name, one in value[1] if one[:1] != ["NoneType"]]
        return ["dict", pairs]
    return [_encoded_without_absent(one) for one in value]


def _told(claim: Claim) -> str:
    return f"a held-out check of {', '.join(names_of(claim.call))}" if claim.hidden else claim.text


def tests_in(checkout: Path) -> list[Path]:
    """Folders of tests, and test files elsewhere; nothing that a package brings along."""
    own = [one for one in checkout.rglob("*") if "node_modules" not in one.relative_to(checkout).parts]
    folders = [
        one
        for one in own
        if one.is_dir() and (one.name == "__tests__" or (one.parent == checkout and one.name in _FOLDERS))
    ]
    files = [one for one in own if one.is_file() and is_test(one.relative_to(checkout).as_posix())]
    return [*folders, *(one for one in (*files,) if not any(one.is_relative_to(folder) for folder in folders))]


def _without_tests(checkout: Path) -> None:
    """Take the tests away, so that code which looks for them beside itself behaves as it does at a user's."""
    for path in tests_in(checkout):
        if path.is_dir():
            remove_tree(path)
        else:
            path.unlink()
