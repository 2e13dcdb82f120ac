"""A request read without a model: its action, its examples word for word, the names that it speaks of. Pure text work."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.small_models.reading.inputs import claims_by_inputs
from agentforge.verification.examples.claims import (
    BUILTINS,
    Claim,
    claims_in,
    contradictions,
    distinct,
    is_literal,
    names_of,
)

_ACTIONS = (
    ("fix", r"fix|bug|wrong|incorrect(?:ly)?|broken|crash(?:es)?|fails?|repair|correct"),
    ("create", r"add|create|write|implement|introduce|new|build|make|provide"),
    ("delete", r"delete|remove|drop"),
    ("refactor", r"refactor|rename|move|extract|inline|split"),
)
_ONLY_LOOKING = re.compile(
    r"(?i)\b(?:do not|don't|without|never)\s+(?:change|changing|touch|touching|edit|editing|modify|modifying|write|writing)\s+"
    r"(?:anything\b(?!\s+(?:else|more|other))|a\s+thing|the\s+code|code|a\s+file|files|it\b)|\b(?:only|just)\s+(?:report|look|tell|explain|answer)\b"
    r"|\bno\s+(?:code\s+)?changes?\b|\breport\s+only\b"
)
_SENTENCE = re.compile(
    r"(?<=[.;])\s+(?=[A-Za-z_`])|(?<=,)\s+(?=(?:and\s+)?`?[A-Za-z_][\w.]*\()|\s+and\s+(?=`?[A-Za-z_][\w.]*\()"
)
_TEXT = re.compile(r"(?<![\w'\"])(?:'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")(?![\w'\"])")
_WISH = re.compile(
    r"(?:\bbut\b|,|;|\.)?[^'\"\[({\d]*\b(?:should|must|shall|ought to|expected|want(?:ed)?|instead of|rather than|and not|not)\b"
    r"(?:\s+(?:have|be|been|is|it|to|return(?:ed)?|give|given|equal|yield|get|the|result))*\s*:?\s*`?"
)
_COMPLAINT = re.compile(r"(?i)\b(?:currently|today|wrong(?:ly)?|at the moment|right now|actually|incorrectly|now)\b\s*")
_REPORT = re.compile(
    r"(?i)\b(?:instead|currently|today|wrong(?:ly)?|at the moment|right now|actual(?:ly)?|incorrect(?:ly)?|bug)\b"
)
_ASKS = re.compile(r"\b(?:should|must|shall|will)\b")
_CALLED = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*\(")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*")
_PATH = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.py\b")
_DECLARED = re.compile(r"(?m)^[ \t]*(?:(?:async\s+)?def|class)\s+([A-Za-z_]\w*)\s*[(:]")
_LONGEST = 20_000
FAILING = "failing"
"""Key of the question for an example that fails today."""


def action_of_request(request: str) -> str:
    """Which of the actions a request asks for, by its first telling word; `modify` where none tells.

    Who says that nothing is to be changed wants to know something.
    """
    if _ONLY_LOOKING.search(request) and not claims_of_request(request):
        return "analyze"
    found = [
        (match.start(), action) for action, words in _ACTIONS for match in re.finditer(rf"(?i)\b(?:{words})\b", request)
    ]
    return min(found)[1] if found else "modify"


def examples_of(request: str) -> tuple[str, ...]:
    """The examples of a request as they stand in it, each the shortest text that still says call and result."""
    return tuple(dict.fromkeys(own_words(request).values()))


def own_words(request: str) -> dict[str, str]:
    """The text of each claim -> the example as the request words it; complaints are left out."""
    found: dict[str, str] = {}
    for text, claim in _read(request):
        if claim.asked:
            found.setdefault(claim.text, _cut(text, claim))
    return found


def claims_of_request(request: str) -> tuple[Claim, ...]:
    """What the request says that calls give, complaints turned into what is wanted; one claim a call."""
    return distinct(replace(claim, asked=True) for _, claim in _read(request))


def contradictory(request: str) -> tuple[str, ...]:
    """Calls of which the request wants two different results."""
    return contradictions([claim for _, claim in _read(request)])


def confirmed_claims(state: RunState) -> tuple[Claim, ...]:
    """The examples that a person confirmed or wrote when asked, in the stage of the specification or later."""
    found: list[Claim] = []
    for item in state.people.escalations.values():
        if item.resolution is None or item.resolution.decision not in ("answer", "approve"):
            continue
        if item.stage == "spec" and "candidates" in item.context:
            found += chosen_examples(item.resolution.text or "all", item.context.get("candidates"))
        if item.context.get("key") == FAILING:
            found += claims_in(item.resolution.text)
        probe = str(item.context.get("about") or "")
        if probe:
            found += claim_from_answer(probe, option_meant(item.resolution.text, item.options))
    return distinct(found)


def option_meant(answer: str, options: tuple[str, ...]) -> str:
    """The option that an answer names by its number in the list, else the answer: an option that reads the same wins."""
    text = answer.strip()
    if text in options or not text.isdecimal() or not 1 <= int(text) <= len(options):
        return answer
    return options[int(text) - 1]


def claim_from_answer(call: str, answer: str) -> list[Claim]:
    """What a person said that one call gives; nothing where the answer is neither a literal nor an exception."""
    own = list(claims_in(answer))
    if own:
        return own
    text = answer.strip().strip("`")
    if is_literal(text):
        return [Claim(call=call, returns=text)]
    return list(claims_in(f"{call} raises {text.removeprefix('raises ').strip()}"))


def named_calls(request: str) -> tuple[ast.Call, ...]:
    """The calls that stand in a request, whatever their arguments are: `slugify(text)`, `f(a, b=1)`."""
    found: list[ast.Call] = []
    text = request[:_LONGEST]
    for match in _CALLED.finditer(text):
        node = _call_at(text[match.start() : match.start() + 400])
        if node is not None and ast.unparse(node.func) not in BUILTINS:
            found.append(node)
    return tuple(found)


def declared_names(request: str) -> tuple[str, ...]:
    """The functions and classes whose head stands in a request: `def total(prices: list[int]) -> int:`."""
    return tuple(dict.fromkeys(_DECLARED.findall(request[:_LONGEST])))


def words_of(request: str) -> frozenset[str]:
    """The words of a request that may be names, dotted ones also by their parts."""
    words = {match.group() for match in _WORD.finditer(request[:_LONGEST])}
    return frozenset(words | {part for word in words for part in word.split(".")})


def paths_of(request: str) -> tuple[str, ...]:
    """The Python files that a request names."""
    return tuple(dict.fromkeys(match.group().removeprefix("./") for match in _PATH.finditer(request[:_LONGEST])))


def called(call: str) -> tuple[str, str]:
    """What a call is a call of: the first name that is no builtin, and the attribute that is called on it, "" none.

    `f(1)` -> ("f", ""), `Stack([1]).peek()` -> ("Stack", "peek"), `kit.f(1)` -> ("kit", "f"), `list(f(2))` -> ("f", "").
    """
    names = names_of(call)
    if not names:
        return "", ""
    root, attribute = names[0], ""
    for node in ast.walk(ast.parse(call.strip(), mode="eval")):
        if isinstance(node, ast.Attribute) and names[0] in {
            one.id for one in ast.walk(node) if isinstance(one, ast.Name)
        }:
            attribute = node.attr
            break  # the outermost one: what is asked for in the end
    return root, attribute


def _read(request: str) -> Iterator[tuple[str, Claim]]:
    """Each claim of a request with the text that it was read from; `asked` tells those that stand there as they are."""
    text = request[:_LONGEST]
    if ">>>" in text:
        yield from ((_doctest(text, claim), replace(claim, asked=True)) for claim in claims_in(text))
        return
    sentences = [
        sentence
        for line in text.splitlines()
        for sentence in ([line] if line.lstrip().startswith("|") else _sentences(line))
    ]
    found = [(sentence, claim) for sentence in sentences for claim in claims_of_clause(sentence)]
    yield from found or ((told, replace(claim, asked=True)) for told, claim in claims_by_inputs(text))


def _sentences(line: str) -> Iterator[str]:
    """The sentences and clauses of a line; what stands in quotes is not split."""
    masked = _TEXT.sub(lambda match: "'" + "x" * (len(match.group()) - 2) + "'", line)
    after = 0
    for match in _SENTENCE.finditer(masked):
        yield line[after : match.start()]
        after = match.end()
    yield line[after:]


def claims_of_clause(sentence: str) -> Iterator[Claim]:
    """What one clause says that calls give, with what is wished in the place of what is complained about."""
    for claim in _stated(sentence):
        yield _wished(sentence, claim) or replace(claim, asked=True)
    yield from _complained(sentence)


def _stated(sentence: str) -> list[Claim]:
    """The claims of a clause; of one that reports, those alone that it asks for."""
    found = list(claims_in(sentence))
    if not _REPORT.search(sentence):
        return found
    between = (sentence[: sentence.rfind(one.returns or one.raises)].rpartition(one.call)[2] for one in found)
    return [one for one, words in zip(found, between, strict=True) if _ASKS.search(words)]


def _doctest(text: str, claim: Claim) -> str:
    """The lines of a doctest that hold one claim."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        source = line.strip().removeprefix(">>>").strip()
        if source == claim.call:
            return "\n".join(lines[number : number + 2]).strip()
        if any((one.call, one.returns) == (claim.call, claim.returns) for one in claims_in(f">>> {source}")):
            return line.strip()
    return f">>> {claim.call}"


def _wished(sentence: str, claim: Claim) -> Claim | None:
    """`f(1) gives 2 but should give 3` wants 3: the result that stands behind the wish."""
    start = sentence.find(claim.call)
    told = sentence.find(claim.returns, start + len(claim.call)) if claim.returns and start >= 0 else -1
    if told < 0 or _ASKS.search(sentence[start + len(claim.call) : told]):
        return None
    rest = sentence[told + len(claim.returns) :]
    wish = _WISH.match(rest)
    if wish is None or (re.search(r"\b(?:and not|not)\b", wish.group()) and "should" not in wish.group()):
        return None
    found = claims_in(f"{claim.call} -> {rest[wish.end() :]}")
    return found[0] if found else None


def _complained(sentence: str) -> Iterator[Claim]:
    """`f(1) currently gives 2 instead of 3` wants 3: a complaint that tells call, wrong result and right one in this order."""
    plain = _COMPLAINT.sub("", sentence)
    wish = re.search(r"\binstead of\b|\brather than\b|\bbut (?:it )?(?:should|must)\b", plain)
    if wish is None or _stated(sentence):
        return
    for claim in claims_in(plain[: wish.start()]):
        wanted = _wished(plain, claim)
        if wanted is not None:
            yield wanted


def _cut(text: str, claim: Claim) -> str:
    if text.lstrip().startswith(("|", ">>>")):
        return text.strip()
    start = text.find(claim.call)
    result = claim.returns or claim.raises
    end = text.find(result, start + len(claim.call))
    piece = text[start : end + len(result)] if start >= 0 and end >= 0 else text
    return (
        piece
        if any(
            (one.call, one.returns, one.raises) == (claim.call, claim.returns, claim.raises) for one in claims_in(piece)
        )
        else text.strip()
    )


def _call_at(text: str) -> ast.Call | None:
    """The call that a text begins with."""
    for end in (number + 1 for number, sign in enumerate(text) if sign == ")"):
        try:
            node = ast.parse(text[:end], mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        return node if isinstance(node, ast.Call) else None
    return None


def chosen_examples(answer: str, candidates: object) -> list[Claim]:
    """The candidates that an answer chooses by number or as a whole, and the examples that it writes out itself."""
    rows = [str(row) for row in candidates] if isinstance(candidates, (list, tuple)) else []
    own = [claim for line in re.split(r"[\n;]", answer) for claim in claims_in(line)]
    if own:
        rest = re.sub(r"[A-Za-z_][\w.]*\(.*", "", answer)
        return [*own, *_numbered(rest, rows)]
    if re.match(r"(?i)\s*(?:all|yes|y|ok|okay|right|correct)\b", answer):
        return [claim for row in rows for claim in claims_in(row)]
    return _numbered(answer, rows)


def _numbered(answer: str, rows: list[str]) -> list[Claim]:
    chosen = [int(number) for number in re.findall(r"\b\d+\b", answer)]
    return [claim for number in chosen if 1 <= number <= len(rows) for claim in claims_in(rows[number - 1])]
