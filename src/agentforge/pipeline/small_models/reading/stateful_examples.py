"""Examples that need an object and steps before them: "after add(1) and add(2) total() is 3". Read against the classes. Pure.

A scene is written as one expression, `(cart := Cart(), cart.add('pen', 100), cart.count())[-1]`, so that whatever takes a
call takes it, too. Where words leave open which object is meant, or whether steps go on from earlier ones, nothing is read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from agentforge.frozen import dataclass
from agentforge.pipeline.small_models.reading.request_parser import claims_of_clause
from agentforge.verification.examples.claims import BUILTINS, Claim, is_literal
from agentforge.workspace.code.symbols import parse_python

_CALLED = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*\(")
_END = re.compile(r"[.;](?=\s|\Z)|\n")
_AFTER = re.compile(r"(?i)\b(?:after|once|given|when|following)\b")
_FRESH = re.compile(r"(?i)\b(?:empty|new|newly|fresh|initially|at first|at the start)\b")
_GOES_ON = re.compile(r"(?i)\b(?:another|again|then|also|now|further|more)\b")
_IT = re.compile(r"(?i)(?<![\w.])it(?=\s+(?:is|gives|returns|equals|should|must|will|raises)\b|\s*(?:->|==))")
_LONGEST = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSeen:
    """A class of the project as far as a scene needs it.

    Attributes:
        methods: names of its own methods.
        free: it is made without arguments.
    """

    name: str
    methods: frozenset[str]
    free: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An example with its object.

    Attributes:
        claim: what must hold; its call makes the object and does the steps.
        instead_of: the call as it stands in the request, such as `count()`.
        told: the request's own words.
    """

    claim: Claim
    instead_of: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A call in a text."""

    node: ast.Call
    start: int
    end: int

    @property
    def source(self) -> str:
        return ast.unparse(self.node)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """A clause that tells results of an object: after steps, or of a fresh one.

    Attributes:
        queries: (call, what is said of it, whether it is only called "it").
        clear: it begins with a fresh object, not with what an earlier clause left.
    """

    steps: tuple[ast.Call, ...]
    queries: tuple[tuple[ast.Call, Claim, bool], ...]
    told: str
    clear: bool


def scenes_of(request: str, classes: Sequence[ClassSeen], functions: frozenset[str] = frozenset()) -> tuple[Scene, ...]:
    """Read the examples of a request that call methods of an object which the text makes or means.

    Args:
        functions: names that the project defines outside of classes; they are no methods.
    """
    found: list[Scene] = []
    for clause in _tellings(request):
        for query, claim, pronoun in clause.queries if clause.clear else ():
            call = _staged(clause.steps, query, classes, functions, words=request)
            if call:
                scene = Claim(call=call, returns=claim.returns, raises=claim.raises)
                found.append(Scene(claim=scene, instead_of="" if pronoun else claim.call, told=clause.told))
    return tuple(found)


def staged_calls(request: str) -> frozenset[str]:
    """The calls of a request whose result depends on steps before them: two results of one are no contradiction."""
    return frozenset(claim.call for clause in _tellings(request) for _, claim, _ in clause.queries)


def unfolded(call: str) -> tuple[tuple[str, ...], str]:
    """The statements of a scene and the call at its end; a plain call has none."""
    parts = _parts(call)
    if parts is None:
        return (), call
    rows = [ast.unparse(one) for one in parts]
    rows[0] = rows[0].removeprefix("(").removesuffix(")").replace(":=", "=", 1)
    return tuple(rows[:-1]), rows[-1]


def made_and_called(call: str) -> tuple[str, str] | None:
    """The class of a scene's object and the method that is called in the end; None for a plain call."""
    parts = _parts(call)
    if parts is None or not isinstance(parts[0], ast.NamedExpr) or not isinstance(parts[-1], ast.Call):
        return None
    made, end = parts[0].value, parts[-1].func
    if not isinstance(made, ast.Call) or not isinstance(end, ast.Attribute):
        return None
    return ast.unparse(made.func), end.attr


def classes_in(source: str) -> Iterator[ClassSeen]:
    """The classes at the top of a source; none of one that does not parse."""
    tree = parse_python(source)
    for node in tree.body if isinstance(tree, ast.Module) else ():
        if isinstance(node, ast.ClassDef):
            own = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
            yield ClassSeen(name=node.name, methods=frozenset(one.name for one in own), free=_is_free(node))


def _is_free(node: ast.ClassDef) -> bool:
    """Whether an object is made without arguments, as far as the class itself tells."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            plain = [*one.args.posonlyargs, *one.args.args][1:]
            required = len(plain) > len(one.args.defaults)
            return not required and all(default is not None for default in one.args.kw_defaults)
    if any("dataclass" in ast.unparse(one) for one in node.decorator_list):
        return all(one.value is not None for one in node.body if isinstance(one, ast.AnnAssign))
    return not [one for one in node.bases if ast.unparse(one) != "object"]


def _parts(call: str) -> list[ast.expr] | None:
    try:
        node = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Tuple):
        return None
    rows = node.value.elts
    return rows if rows and isinstance(rows[0], ast.NamedExpr) else None


def _tellings(request: str) -> Iterator[_Telling]:
    """The clauses of a request that tell what methods give of an object."""
    text = request[:_LONGEST]
    said = list(_calls(text))
    masked = _masked(text, said)
    last: ast.Call | None = None
    spoken: dict[str, ast.Call] = {}
    for start, end in _clauses(masked):
        inside = [one for one in said if start <= one.start < end]
        meant = last or (
            next(iter(spoken.values())) if len(spoken) == 1 else None
        )  # "show x in f(). After g() it is 2"
        queries = tuple(_queries(text, masked, inside, (start, end), meant))
        last = queries[-1][0] if queries else last
        after = _AFTER.search(masked, start, end)
        asked = {claim.call for _, claim, _ in queries}
        steps = tuple(one.node for one in inside if after and one.start > after.start() and one.source not in asked)
        spoken |= {one.source: one.node for one in inside if one.node not in steps}
        if steps or (_FRESH.search(masked, start, end) and not after):
            clear = _GOES_ON.search(masked, start, end) is None
            yield _Telling(steps=steps, queries=queries, told=text[start:end].strip().rstrip(","), clear=clear)


def _calls(text: str) -> Iterator[_Said]:
    """The calls of a text from left to right; none inside of another."""
    position = 0
    while (match := _CALLED.search(text, position)) is not None:
        start = match.start()
        found = _call_at(text, start)
        position = match.end()
        if found is not None and ast.unparse(found[0].func) not in BUILTINS:
            position = found[1]
            yield _Said(node=found[0], start=start, end=found[1])


def _call_at(text: str, start: int) -> tuple[ast.Call, int] | None:
    """The call that begins here, with the methods that are called on it."""
    best: tuple[ast.Call, int] | None = None
    for match in re.finditer(r"\)", text[start : start + 600]):
        end = start + match.end()
        try:
            node = ast.parse(text[start:end], mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        if not isinstance(node, ast.Call):
            return best
        best = (node, end)
        if not re.match(r"\.[A-Za-z_]\w*\(", text[end:]):
            return best
    return best


def _masked(text: str, said: Sequence[_Said]) -> str:
    """The text with its calls blotted out: what stands in them is no prose."""
    out = list(text)
    for one in said:
        out[one.start : one.end] = "\0" * (one.end - one.start)
    return "".join(out)


def _clauses(masked: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(masked):
        yield start, match.start()
        start = match.end()
    yield start, len(masked)


def _queries(
    text: str, masked: str, inside: Sequence[_Said], clause: tuple[int, int], last: ast.Call | None
) -> Iterator[tuple[ast.Call, Claim, bool]]:
    """(call, what is said of it, whether it is only called "it") of the results that a clause tells."""
    end = clause[1]
    for one in inside:
        after = _AFTER.search(masked, one.end, end)
        claim = _claim(one.source, text[one.end : after.start() if after else end])
        if claim is not None:
            yield one.node, claim, False
            last = one.node
    for match in _IT.finditer(masked, *clause):
        claim = _claim(ast.unparse(last), text[match.end() : end]) if last is not None else None
        if last is not None and claim is not None:
            yield last, claim, True


def _claim(call: str, rest: str) -> Claim | None:
    """What the words behind a call say of it."""
    return next((found for found in claims_of_clause(call + rest) if found.call == call), None)


def _staged(
    steps: Sequence[ast.Call], query: ast.Call, classes: Sequence[ClassSeen], functions: frozenset[str], *, words: str
) -> str:
    """The scene as one expression, "" where it is not clear whose methods these are."""
    made = [
        one for one in steps if isinstance(one.func, ast.Name) and any(one.func.id == known.name for known in classes)
    ]
    steps = [one for one in steps if one not in made]
    spoken = [_receiver(one) for one in (*steps, query)]
    if any(one is None for one in spoken) or len(made) > 1 or not all(_is_plain(one) for one in (*steps, *made, query)):
        return ""
    pairs = [one for one in spoken if one is not None]
    if any(not owner and method in functions for owner, method in pairs):
        return ""
    variables = {owner for owner, _ in pairs if owner and all(owner != one.name for one in classes)}
    named = {owner for owner, _ in pairs if owner and owner not in variables} | {ast.unparse(one.func) for one in made}
    fitting = [one for one in classes if _fits(one, pairs, variables, words)]
    fitting = [one for one in fitting if named <= {one.name}]
    if len(fitting) != 1 or len(variables) > 1 or not (made or fitting[0].free):
        return ""
    variable = next(iter(variables), fitting[0].name.lower())
    variable = variable if variable != fitting[0].name and variable.isidentifier() else "thing"
    start = ast.unparse(made[0]) if made else f"{fitting[0].name}()"
    if not steps:
        return _on(start, query)
    rows = [f"({variable} := {start})", *(_on(variable, one) for one in (*steps, query))]
    return ast.unparse(ast.parse(f"({', '.join(rows)})[-1]", mode="eval"))


def _receiver(call: ast.Call) -> tuple[str, str] | None:
    """(name of the object or class, "" none; method) of a call; None where it is called on something else."""
    if isinstance(call.func, ast.Name):
        return "", call.func.id
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        return call.func.value.id, call.func.attr
    return None


def _is_plain(call: ast.Call) -> bool:
    """Only literals are handed over."""
    values = [*call.args, *(one.value for one in call.keywords)]
    return all(is_literal(ast.unparse(one)) for one in values) and all(one.arg for one in call.keywords)


def _fits(one: ClassSeen, pairs: Sequence[tuple[str, str]], variables: set[str], words: str) -> bool:
    """Whether the steps are methods of a class, and what is asked is one, or may become one of a class that is spoken of."""
    *steps, (_, asked) = pairs
    if not all(method in one.methods for _, method in steps):
        return False
    mentioned = re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", words) is not None
    return asked in one.methods or mentioned or bool({one.name.lower()} & {name.lower() for name in variables})


def _on(receiver: str, call: ast.Call) -> str:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    given = [
        *(ast.unparse(one) for one in call.args),
        *(f"{one.arg}={ast.unparse(one.value)}" for one in call.keywords),
    ]
    return f"{receiver}.{name}({', '.join(given)})"


def scene_values(scenes: Sequence[Scene]) -> list[dict[str, object]]:
    """As a fact."""
    return [
        {"call": one.claim.call, "returns": one.claim.returns, "raises": one.claim.raises,
         "instead_of": one.instead_of, "told": one.told}
        for one in scenes
    ]  # fmt: skip


def scenes_from(rows: Sequence[Mapping[str, object]]) -> tuple[Scene, ...]:
    """Read scenes back from a fact."""
    return tuple(
        Scene(
            claim=Claim(call=str(row.get("call")), returns=str(row.get("returns")), raises=str(row.get("raises"))),
            instead_of=str(row.get("instead_of")),
            told=str(row.get("told")),
        )
        for row in rows
    )
