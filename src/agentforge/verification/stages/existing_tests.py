"""Tests that the base has: which of them a change alters, ends or declares."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentforge.languages.python.source import module_of
from agentforge.languages.python.stubs import declaration
from agentforge.languages.symbols import Symbol
from agentforge.languages.test_parts import inner_tests_changed, may_hold_tests, with_tests_as
from agentforge.suite import Edits, Rig, run_tree, sound
from agentforge.testing.outcome import SuiteRun, without_parameters
from agentforge.verification.source.test_hashes import freeze, function_hashes, test_functions
from agentforge.verification.stages.endings import lacks, without_imports
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Altered:
    """What became of the tests of the base.

    Attributes:
        lost: tests that are changed, deleted or renamed and of which the specification does not say so: (id, what).
        extended: parametrised tests that kept all their rows and got more.
    """

    lost: tuple[tuple[str, str], ...]
    extended: frozenset[str]


def altered_tests(paths: Iterable[str], *, before: Read, after: Read, superseded: Collection[str] = ()) -> Altered:
    """Compare the tests of files of the base with what a tree makes of them.

    Args:
        superseded: tests (`path::name`) that the specification lists as changed or removed.
    """
    lost: list[tuple[str, str]] = []
    extended: set[str] = set()
    for path in sorted(set(paths)):
        old, new = before(path) or b"", after(path)
        now = dict(function_hashes(new or b""))
        for name, digest in dict(function_hashes(old)).items():
            nodeid = f"{path}::{name}"
            if now.get(name) == digest or nodeid in superseded:
                continue
            if name in now and _only_more_rows(old, new or b"", name):
                extended.add(nodeid)
            else:
                lost.append((nodeid, "was deleted" if name not in now else "was changed"))
    return Altered(lost=tuple(lost), extended=frozenset(extended))


def _only_more_rows(old: bytes, new: bytes, name: str) -> bool:
    """Whether a test is the same but for rows that `parametrize` got in addition."""
    before = {found: node for found, node, _ in test_functions(old)}[name]
    after = {found: node for found, node, _ in test_functions(new)}[name]
    if [ast.dump(one) for one in before.body] != [ast.dump(one) for one in after.body]:
        return False
    if ast.dump(before.args) != ast.dump(after.args) or len(before.decorator_list) != len(after.decorator_list):
        return False
    pairs = zip(before.decorator_list, after.decorator_list, strict=True)
    return all(ast.dump(one) == ast.dump(other) or _extends(one, other) for one, other in pairs)


def _extends(before: ast.expr, after: ast.expr) -> bool:
    rows = []
    for node in (before, after):
        if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("parametrize") or len(node.args) != 2:
            return False
        if not isinstance(node.args[1], (ast.List, ast.Tuple)):
            return False
        rows.append(Counter(ast.dump(one) for one in node.args[1].elts))
    same = isinstance(before, ast.Call) and isinstance(after, ast.Call) and _frame(before) == _frame(after)
    return same and not rows[0] - rows[1]


def _frame(node: ast.Call) -> tuple[str, ...]:
    """What of `parametrize` must stay: the names, and every keyword but the ids of the rows."""
    return (ast.dump(node.args[0]), *(ast.dump(one) for one in node.keywords if one.arg != "ids"))


def broken_under_old_text(
    rig: Rig,
    tree: str,
    *,
    changed: Iterable[str],
    base_tree: str,
    passed: Collection[str],
    edits: Edits,
    gone: Collection[str] = (),
) -> tuple[str, ...] | None:
    """Run the tests of the base as they stood there, data and fixtures included, and list those that no longer pass.

    A change of tests and their data may hide what it broke: a golden file written anew, a widened tolerance in a constant.

    Args:
        passed: ids that passed at the base.
        gone: names that the specification removes: a file that cannot be loaded for want of one runs without that import.
    Returns:
        () when nothing of the base's tests was changed; None when the run is no evidence.
    """
    files: Mapping[str, bytes] = {
        path: data
        for path in changed
        if is_test_path(path) or inner_tests_changed(path, before=rig.read(base_tree), after=rig.read(tree))
        if (data := with_tests_as(path, then=rig.read(base_tree), now=rig.read(tree))) is not None
    }
    if not files:
        return ()
    concerned = passed if any(not _holds_tests(path, data) for path, data in files.items()) else ()
    wanted = sorted({one.partition("::")[0] for one in concerned} | {path for path in files if _is_run(path, passed)})
    if not wanted:
        return ()
    run = run_old(rig, tree, tests=wanted, files=files, edits=edits, gone=gone)
    if not sound(run, rig.plan):
        return None
    lost = frozenset(one.id for one in run.collection_errors if one.id in files and not one.id.endswith(".py"))
    beside = [path for path in wanted if path not in lost]
    held = set(run.passed_ids)
    if lost and beside:  # a compiler refuses the tests beside such a file, too: they run beside its new text
        rest = {path: data for path, data in files.items() if path not in lost}
        again = run_old(rig, tree, tests=beside, files=rest, edits=edits, gone=gone)
        if not sound(again, rig.plan):
            return None
        held |= {one for one in again.passed_ids if one.partition("::")[0] not in lost}
    kept = _kept_in_lost_files(rig, tree, base_tree, lost)
    ran = [one for one in passed if one.partition("::")[0] in wanted and without_parameters(one) not in kept]
    return tuple(sorted(one for one in ran if one not in held))


def rewritten_unsaid(
    lost: Mapping[str, Sequence[str]], rig: Rig, *, base_tree: str, red_tree: str
) -> list[dict[str, str]]:
    """Rows for SPEC, one for each file, where nothing fails but old texts of tests that RED changed and that nobody declared.

    Whether the request changes what they assert is for the specification to say; what it declares is measured like everything
    that it declared at first.

    Args:
        lost: {regressions, missing, under_old_text: ids}.
    """
    hidden = lost.get("under_old_text", ())
    changes = rig.git.changed(base_tree, red_tree)
    if not hidden or lost["missing"] or set(lost["regressions"]) - set(hidden):
        return []
    if not any(one.status != "added" and (is_test_path(one.path) or may_hold_tests(one.path)) for one in changes):
        return []
    by_file: dict[str, dict[str, None]] = {}
    for one in map(without_parameters, hidden):
        path, _, name = one.partition("::")
        by_file.setdefault(path, {})[name] = None
    return [
        {"stage": "spec", "rule": "no-regressions", "path": path, "message": f"{', '.join(names)} {_UNSAID}"}
        for path, names in by_file.items()
    ]


_UNSAID = (
    "pass with the text that RED gave to them or to what they use, fail with that of the base, and are not among the symbols. "
    "Where the request changes what they assert, list them as changed, and each fixture and helper of tests that changes for it. "
    "Where it does not, leave the specification as it is"
)


def run_old(
    rig: Rig, tree: str, *, tests: Sequence[str], files: Mapping[str, bytes], edits: Edits, gone: Collection[str]
) -> SuiteRun:
    """Run tests with old texts of some files; a file that lacks a name which is to go runs without its import.

    That excuses nothing: a test that needs the name fails for want of it.
    """
    run = run_tree(rig, tree, tests=tests, edits=Edits(files={**edits.files, **files}))
    lost = {one.id for one in run.collection_errors if gone and lacks(one.failure, gone)}
    bare = {path: without_imports(data, gone) for path, data in files.items() if path in lost and path.endswith(".py")}
    return run_tree(rig, tree, tests=tests, edits=Edits(files={**edits.files, **files, **bare})) if bare else run


def _kept_in_lost_files(rig: Rig, tree: str, base_tree: str, lost: Collection[str]) -> frozenset[str]:
    """Tests that stand word for word in the new text of a file whose old text does not compile any more.

    A compiler refuses a whole file for one call with the old signature. What the other tests of the file show is shown by the new
    text, in which they run as they stood.
    """
    before = freeze(sorted(lost), read=rig.read(base_tree)).tests
    after = freeze(sorted(lost), read=rig.read(tree)).tests
    return frozenset(name for name, digest in before.items() if after.get(name) == digest)


def _holds_tests(path: str, data: bytes) -> bool:
    """Whether a file holds tests; anything else (data, fixtures, conftest.py) may serve every test."""
    return path.endswith(".py") and bool(tuple(test_functions(data)))


def _is_run(path: str, passed: Collection[str]) -> bool:
    return any(one.partition("::")[0] == path for one in passed)


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NOTHING_SAID = frozenset({"Any", "object"})


def weakened(symbol: Symbol, data: bytes | None) -> str:
    """What of a declared signature a definition gives up; empty when it keeps it, and where nothing can be told.

    A parameter that `*args` takes now, and a declared type that is `Any` or `object` now. Other spellings of a type, further
    parameters with defaults and missing annotations are a matter of taste.
    """
    told, there = declaration(symbol), _definition(symbol, data)
    if not isinstance(told, _Function) or there is None:
        return ""
    before, after = _annotations(told), _annotations(there)
    swallowed = there.args.vararg is not None or there.args.kwarg is not None
    given_up = [name for name in before if name not in after and name not in ("self", "cls")]
    if swallowed and given_up and told.args.vararg is None and told.args.kwarg is None:
        return f"takes *args or **kwargs instead of the declared {', '.join(given_up)}"
    loose = [
        name for name, kind in before.items() if kind and kind not in _NOTHING_SAID and after.get(name) in _NOTHING_SAID
    ]
    return f"gives up the declared type of {', '.join(loose)}" if loose else ""


def _definition(symbol: Symbol, data: bytes | None) -> _Function | None:
    body = module_of(data).body
    for part in symbol.owner.split(".") if symbol.owner else []:
        body = next((one.body for one in body if isinstance(one, ast.ClassDef) and one.name == part), [])
    found = [one for one in body if isinstance(one, _Function) and one.name == symbol.last]
    return found[0] if len(found) == 1 and not found[0].decorator_list else None


def _annotations(node: _Function) -> dict[str, str]:
    """Parameter -> last name of its type, and `the result`; empty without one."""
    plain = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    kinds = {one.arg: one.annotation for one in plain} | {"the result": node.returns}
    return {name: ast.unparse(kind).rpartition(".")[2] if kind is not None else "" for name, kind in kinds.items()}
