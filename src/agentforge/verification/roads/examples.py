"""Examples with their results in documents and docstrings (`>>>`): found here, run in plain processes, compared here."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.suite import Rig
from agentforge.verification.examples.plain_check import spellings
from agentforge.verification.inert.context import text_of
from agentforge.verification.roads.program import carried_out
from agentforge.workspace.code.symbols import parse_python

TIME_LIMIT_S = 20.0
_MOST = 400
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
_NAMES = ("AttributeError", "ImportError", "TypeError")
"""What is raised where an example speaks of a name or an argument that there is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One statement of a document with what it says that is printed.

    Attributes:
        line: of the file.
        raises: the last line of the traceback that the document shows; "" where it shows none.
    """

    source: str
    want: str
    line: int
    raises: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleText:
    """Examples that run after one another with the same names: a document, or one docstring.

    Attributes:
        owner: the dotted name of the docstring's owner; "" for a document.
        modules: spellings of the module whose names a docstring sees.
    """

    path: str
    examples: tuple[Example, ...]
    owner: str = ""
    modules: tuple[str, ...] = ()

    @property
    def name(self) -> tuple[str, str]:
        """What tells it apart from others."""
        return self.path, self.owner


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleResult:
    """What one example came to: it printed something, or raised.

    Attributes:
        raised: names of the exception's classes, the most special first; () where nothing was raised.
        own: the name or argument that is wrong belongs to the project.
    """

    printed: str = ""
    raised: tuple[str, ...] = ()
    message: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """An example that does not give what it says."""

    path: str
    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What running the examples came to.

    Attributes:
        wrong: those that give another result than they say, or speak of what is not there, and did not at the base.
        aside: those that could not be run to a result here: they need what a document does not bring.
    """

    run: int
    wrong: tuple[Wrong, ...] = ()
    aside: tuple[Wrong, ...] = ()
    unrun: str = ""


def examples_of(path: str, data: bytes | None, *, before: bytes | None, roots: Sequence[str]) -> list[ExampleText]:
    """The examples of a document, or of those docstrings of a Python file that are not what they were.

    Args:
        before: the file at the base; None where it is new.
        roots: folders in which imports begin.
    """
    text = text_of(data)
    if not path.endswith(".py"):
        found = tuple(_examples(_without_fences(text), first=1))
        return [ExampleText(path=path, examples=found)] if found else []
    known = {owner: said for owner, said, _ in _docstrings(text_of(before))}
    out = []
    for owner, said, line in _docstrings(text):
        found = tuple(_examples(said, first=line)) if known.get(owner) != said else ()
        if found:
            out.append(ExampleText(path=path, owner=owner, examples=found, modules=spellings(path, roots)))
    return out


def look_at_examples(rig: Rig, *, base_tree: str, tree: str, paths: Sequence[str]) -> Looked:
    """Run the examples of changed files on a tree and on its base.

    Args:
        paths: changed documents and Python files.
    Side effects: processes in the sandbox, without a network.
    """
    read, base = rig.read(tree), rig.read(base_tree)
    roots = rig.plan.roots
    texts = [one for path in paths for one in examples_of(path, read(path), before=base(path), roots=roots)]
    old = [one for path in paths for one in examples_of(path, base(path), before=None, roots=roots)]
    wanted = {one.name for one in texts}
    old = [one for one in old if one.name in wanted]
    count = sum(len(one.examples) for one in texts)
    if not texts or count > _MOST:
        return Looked(run=0, unrun=f"{count} examples are too many to be run" if texts else "")
    try:
        now, again = (_ran(rig, tree, texts, seed=seed) for seed in ("0", "4242"))
        earlier = _ran(rig, base_tree, old, seed="0") if old else {}
    except ToolchainError as exc:
        return Looked(run=0, unrun=exc.message)
    known = {
        (one.name, each.source, each.want)
        for one in old
        for each, told in zip(one.examples, earlier.get(one.name, ()), strict=False)
        if _fault(each, told)
    }
    wrong: list[Wrong] = []
    aside: list[Wrong] = []
    for one in texts:
        clean = True
        rows = zip(one.examples, now.get(one.name, ()), again.get(one.name, ()), strict=False)
        for each, told, repeated in rows:
            fault = _fault(each, told)
            if not fault or (one.name, each.source, each.want) in known:
                clean = clean and not fault
                continue
            steady = _settled(told) == _settled(repeated)
            decides = clean and steady and _decides(each, told)
            (wrong if decides else aside).append(
                Wrong(path=one.path, line=each.line, why=f"`{_first(each.source)}` {fault}")
            )
            clean = clean and bool(decides and not told.raised)
    return Looked(run=count, wrong=tuple(wrong), aside=tuple(aside))


def _ran(
    rig: Rig, tree: str, texts: Sequence[ExampleText], *, seed: str
) -> Mapping[tuple[str, str], list[ExampleResult]]:
    rows = [{"modules": list(one.modules), "sources": [each.source for each in one.examples]} for one in texts]
    roots = sorted({name for path in rig.git.list_files(tree) if path.endswith(".py")
                    for name in (one.partition(".")[0] for one in spellings(path, rig.plan.roots))})  # fmt: skip
    setup = {"texts": rows, "names": roots, "timeout_s": TIME_LIMIT_S}
    told = carried_out(
        rig, tree, "examples_program", setup, variables={"PYTHONHASHSEED": seed}, limit_s=TIME_LIMIT_S * len(texts) + 10
    )
    found = {int(row["number"]): row["rows"] for row in told if "number" in row}
    return {one.name: [_told(row) for row in found.get(number, ())] for number, one in enumerate(texts)}


def _told(row: Mapping[str, Any]) -> ExampleResult:
    return ExampleResult(
        printed=str(row.get("printed", "")),
        raised=tuple(row.get("raised", ())),
        message=str(row.get("message", "")),
        own=bool(row.get("own")),
    )


def _fault(each: Example, told: ExampleResult) -> str:
    """What is wrong with an example, "" when it gives what it says."""
    check = doctest.OutputChecker().check_output
    if told.raised:
        said = f"{told.raised[0]}: {told.message}\n"
        if each.raises and (
            check(each.raises, said, _LENIENT) or each.raises.split(":")[0].rpartition(".")[2] == told.raised[0]
        ):
            return ""
        return f"raises {told.raised[0]}: {' '.join(told.message.split())[:120]}"
    if each.raises:
        return f"raises nothing, and {each.raises.strip()} is shown"
    if check(_ADDRESS.sub("0x", each.want), _ADDRESS.sub("0x", told.printed), _LENIENT):
        return ""
    return f"gives {_first(told.printed) or 'nothing'}, and {_first(each.want) or 'nothing'} is shown"


def _decides(each: Example, told: ExampleResult) -> bool:
    """Whether a fault is the document's: a shown result that is another one, or a name or argument that the project has not."""
    if told.raised:
        return told.own and any(name in _NAMES for name in told.raised)
    return bool(each.want.strip() or each.raises)


def _settled(told: ExampleResult) -> tuple[str, tuple[str, ...]]:
    return _ADDRESS.sub("0x", told.printed), told.raised


def _examples(text: str, *, first: int) -> Iterator[Example]:
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return  # no examples by their form: nothing claims to be run
    for one in found:
        if not one.options.get(doctest.SKIP):
            yield Example(source=one.source, want=one.want, line=first + one.lineno, raises=one.exc_msg or "")


def _without_fences(text: str) -> str:
    """A Markdown document in which no fence looks like the result of an example."""
    return "\n".join("" if _FENCE.match(line) else line for line in text.split("\n"))


def _docstrings(text: str) -> Iterator[tuple[str, str, int]]:
    """Owner, docstring as it stands in the file, and its line; of functions in functions none is run."""
    tree = parse_python(text)
    if isinstance(tree, ast.Module):
        yield from _docstrings_of(tree, "")


def _docstrings_of(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, owner: str
) -> Iterator[tuple[str, str, int]]:
    said = ast.get_docstring(node, clean=False)
    if said:
        yield owner, said, node.body[0].lineno
    for one in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
        if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstrings_of(one, f"{owner}.{one.name}".removeprefix("."))


def _first(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[0][:100] if lines else ""
