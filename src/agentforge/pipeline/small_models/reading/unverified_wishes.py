"""What a request wants and none of its examples checks: other definitions, and words that no example shows.

What it says besides a mechanical change: words that the tree carries out nothing of. Pure text work.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import StageQuestion, texts
from agentforge.pipeline.small_models.generation.units import units_of
from agentforge.pipeline.small_models.reading.request_parser import claims_of_request, examples_of, words_of
from agentforge.verification.examples.claims import Claim

_QUOTED = re.compile(r"(?<![\w'\"`])(?:'([^'\n]{1,20})'|\"([^\"\n]{1,20})\")(?![\w'\"])")
_SIGNALS = re.compile(
    r"\b(?:[Rr]eturns?|[Gg]ives?|[Yy]ields?|or|else|otherwise)\s+(-\d+)\b|\b[Rr]ais(?:es?|ing)\s+(?:an?\s+)?([A-Z]\w*(?:Error|Exception))\b"
)
_EXAMPLE_LINE = re.compile(r"^\s*>>>|-{1,3}>|={1,3}>|==|→|⇒|➞|^\s*assert\b|^\s*\|")
_MOST = 8
_SENTENCE = re.compile(r"[.;!?](?=\s|$)|\n")
_CLAUSE = re.compile(r"[,:()–—]|\s--?\s|\s(?=(?:because|since|while|although|so|but|then)\b)|\b(?:and|but)\b")
_FILLER = re.compile(
    r"(?i)^(?:(?:please|also|then|now|just|simply|so|but|and|hi|hello|thanks?|thank you|cheers|ok|todo|note|clean-?\s?up|chore|"
    r"house-?keeping|refactoring|too|as well|today|first|finally|everywhere|throughout(?: the (?:project|code(?:\s?base)?))?|"
    r"in (?:all|every) files?|(?:in|across) the (?:whole |entire )?(?:project|code(?:\s?base)?|package|repository))\b[\s.]*)+"
)
_CARRIED = re.compile(
    r"(?i)^(?:with|along with|together with|including|incl\.?|update|adapt|adjust|fix|change|rename|move|remove|delete|drop)?\s*"
    r"(?:(?:all|its|their|the|every|any|each|own|old|existing|other|of)\s+)*"
    r"(?:call(?:er|\s?site|ing code)?s?|imports?|usages?|uses|references?|tests?(?: of it| for it)?|users?|importers?|"
    r"occurrences?|exports?|__all__(?: entr(?:y|ies))?|places that use it)"
    r"(?:\s+(?:of (?:it|them)|accordingly|too|as well|everywhere|to match|go(?:es)? (?:too|with it|as well)?|that use it))*$"
)
_PLACE = re.compile(
    r"(?i)^(?:in|from|of|within|inside|which is in|defined in)\s+(?:the\s+)?(?:(?:module|file|class|package|project)\s*)?"
    r"[`'\"]?[\w./-]*[`'\"]?(?:\s+(?:module|file|class|package|project))?$"
)
_SAME = re.compile(
    r"(?i)\b(?:stays?|kept|keeps?|remains?|leaves?|left|unchanged|untouched|the same|as (?:it|they) (?:is|are|was|were)|"
    r"as-is|(?:no|nothing|not|n't|without|never)\b.*\bchang(?:e|es|ed|ing)|no (?:other|further|functional) changes?|"
    r"nothing else|no behaviou?r)\b"
)
_WIDE = re.compile(
    r"(?i)\b(?:everything|anything|nothing|all|no|the)\s+(?:of\s+)?(?:the\s+)?(?:else|rest|others?|remaining|remainder)\b"
    r"|\b(?:the )?(?:rest|others)\b|\bno (?:other|further|functional) changes?\b"
)
_BEHAVIOUR = re.compile(
    r"(?i)\bbehaviou?rs?\b|\bresults?\b|\bwhat \w+ (?:returns?|does|do|gives?|did)\b|\bsemantics\b|\blogic\b|\bbod(?:y|ies)\b"
)
_PRONOUN = re.compile(r"(?i)\b(?:it|its|they|them|their|both|this|that|these|those)\b")
_IDIOM = re.compile(r"(?i)\bas (?:it|they) (?:is|are|was|were)\b|\bas it stands\b")
_REASON = re.compile(
    r"(?i)^(?:because|since|as it|as they|for (?:clarity|consistency|readability|historical)|due to|"
    r"to (?:match|avoid|be consistent|stay consistent)|(?:a )?leftover|dead code|obsolete|deprecated|unused|legacy|duplicate)\b"
    r"|\b(?:nobody|no one|nothing|none|neither|no longer|any ?more|not (?:used|needed|called|imported|read)|"
    r"never (?:used|called|read|set)|n't (?:used|needed|called|imported|read)|unused|superseded|replaced by|is gone|are gone|"
    r"dead|obsolete|deprecated|misleading|misleads|confusing|confuses|unclear|clearer|better name|typo|misspelt|misspelled|"
    r"goes|go|belongs?|lives?|sits?)\b"
)
_TOLD = re.compile(
    r"(?i)\b(?:is|are|was|were|isn't|aren't|wasn't|weren't|has|have|had|hasn't|haven't|does|did|goes|went|lives?|belongs?|comes?|"
    r"came|sits?|means|says?|reads?|looks?|clash(?:es)?|duplicates?|uses?|calls?|knows?|may|might|can|cannot|can't|ended|left|"
    r"moved|stopped|retired|there)\b"
)
_WANTS = re.compile(
    r"(?i)\b(?:must|should|shall|ought|will|needs? to|has to|have to|wants?|return(?:s|ing|ed)?|giv(?:e|es|ing)|"
    r"rais(?:e|es|ing)|accept(?:s|ing)?|support(?:s|ing)?|take[sn]?|print(?:s|ing)?|instead|otherwise|still|keep(?:s|ing)?|"
    r"continu\w+|go(?:es)? on|"
    r"except|unless|if|when(?:ever)?|until|only|warn\w*|log(?:s|ged|ging)?|mak(?:e|es|ing)|becom(?:e|es|ing)|behav(?:e|es|ing)|"
    r"works?|working|allow(?:s|ing)?|turn(?:s|ed|ing)?|do not|don't|never mind|without|"
    r"changelog|readme|documentation|docs?|release|version|commit)\b|->|==|=>|→"
)
_ORDER = re.compile(
    r"(?i)^(?:to\s+)?(?:add|create|write|implement|introduce|fix|rename|move|delete|remove|drop|replace|extract|inline|convert|split|"
    r"merge|make|rewrite|let|give|update|adapt|change|adjust|use|call|log|warn|bump|document|note|mention|deprecate|test|check|"
    r"verify|ensure|run|print|raise|return|set|put|switch|turn|mark|skip|handle|support|allow|clean|format|sort|import|export|"
    r"publish|tell|push|simplify|refactor|optimi[sz]e|improve|speed|reduce|increase|validate|cache|type|annotate|show|send|round|"
    r"count|accept|reject|refuse|treat|stop|start|wrap|expose|hide|alias|re-?export|try|apply|enable|disable)\b"
)


def unshown(request: str, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Texts in quotes, results below zero and exceptions that the request names and no example has.

    Quotes are names where no example has a text at all.
    """
    prose = request
    for example in examples_of(request):
        prose = prose.replace(example, " ")
    prose = "\n".join(line for line in prose.splitlines() if not _EXAMPLE_LINE.search(line))
    strings = {text for claim in claims for text in _strings(claim)}
    found = [one for one in _quoted(prose) if strings and not any(one in text for text in strings)]
    shown = {word for claim in claims for word in re.findall(r"-\d+|\w+", f"{claim.returns} {claim.raises}")}
    found += [one or other for one, other in _SIGNALS.findall(prose) if (one or other) not in shown]
    return tuple(dict.fromkeys(found))[:_MOST]


def calls_with(calls: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The given calls with each text put into one of their texts: in the place of its like, else at the end."""
    out = []
    for text in texts:
        for call in calls:
            tree = ast.parse(call, mode="eval")
            node = next(
                (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)), None
            )
            if node is None:
                continue
            node.value = _with(str(node.value), text)
            if (made := ast.unparse(tree)) not in calls:
                out.append(made)
                break
    return list(dict.fromkeys(out))


def _with(value: str, text: str) -> str:
    """A text with another in it: one sign stands for another of its sort."""
    if len(text) == 1 and not text.isalnum():
        for sign in value[::-1]:
            if not sign.isalnum() and not sign.isspace():
                return value.replace(sign, text)
    return f"{value}{text}"


def _strings(claim: Claim) -> Iterator[str]:
    """The texts of an example, within containers, too."""
    for source in (claim.call, claim.returns):
        for node in ast.walk(ast.parse(source or "0", mode="eval")):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _quoted(prose: str) -> Iterator[str]:
    """What stands in quotes and is no name of the request's own code."""
    names = set(re.findall(r"\b([A-Za-z_]\w*)\s*[(:=]", prose)) | set(re.findall(r"`([A-Za-z_]\w*)`", prose))
    for single, double in _QUOTED.findall(prose):
        text = single or double
        if text.strip() and text not in names and not text.endswith(".py"):
            yield text


ONLY_EXAMPLES = "only what the examples say"
ONLY_CHANGE = "only the change"
_REBUILDING = re.compile(
    r"(?i)\b(?:move[sd]?|extract(?:s|ed)?|factor(?:s|ed)?|pull(?:s|ed)?|split|merge[sd]?|inline[sd]?|de-?duplicate[sd]?|reuse[sd]?|"
    r"share[sd]?|unif(?:y|ies|ied)|consolidate[sd]?|refactor(?:s|ed)?|restructure[sd]?|simplif(?:y|ies|ied))\b"
)
_WANTED = (
    r"(?i)\b(?:fix|change|make|let|modify|update|remove|delete|drop|replace|extend|adapt|rewrite)\s+(?:also\s+)?(?:the\s+)?"
    r"(?:(?:function|method|class)\s+)?`?(?:[\w]+\.)*{name}\b"
)


def names_beside(request: str, *, units: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The definitions that a request wants something of and that are no unit.

    Args:
        units: dotted names that examples or tests decide about.
        known: dotted names that the project defines.
    """
    mine = {part for name in units for part in name.split(".")}
    told = request
    for example in examples_of(request):
        told = told.replace(example, " ")
    words, rebuilt = words_of(told), bool(_REBUILDING.search(told))
    found = [
        name
        for name in known
        if name.rpartition(".")[2] not in mine
        and name.rpartition(".")[2] in words
        and (rebuilt or re.search(_WANTED.format(name=re.escape(name.rpartition(".")[2])), told))
    ]
    return tuple(dict.fromkeys(name.rpartition(".")[2] for name in found))


def questions_beside(state: RunState) -> tuple[StageQuestion, ...]:
    """A person says whether the part of the request that nothing checks is to be left out."""
    places = state.work.facts.get("places", {})
    beside, rest = texts(places.get("beside")), str(places.get("rest") or "")
    larger = 'or with a larger model (--model, [model] profile = "full").'
    if rest:
        text = (
            f'The request also says "{rest}". AgentForge makes this change without a model, and cannot do that part. Answer '
            f'"{ONLY_CHANGE}" if you want nothing more; or abort, and start again with the change alone, {larger}'
        )
        return _asked_until(state, text, option=ONLY_CHANGE)
    if not beside or state.brief.tests or not claims_of_request(state.brief.request):
        return ()
    units = ", ".join(unit.name for unit in units_of(state))
    text = (
        f"The request also wants something of {', '.join(beside)}, but its examples are about {units} alone. "
        f'Nothing would check the rest. Answer "{ONLY_EXAMPLES}" to get {units} and leave the rest as it is; or abort, '
        f"and start again with examples or tests for all of it, {larger}"
    )
    return _asked_until(state, text, option=ONLY_EXAMPLES)


def _asked_until(state: RunState, text: str, *, option: str) -> tuple[StageQuestion, ...]:
    """The question, asked again as long as the answer is another one than the option."""
    said = [
        item.resolution.text
        for item in state.people.escalations.values()
        if str(item.context.get("key")).partition(":")[0] == "beside" and item.resolution is not None
    ]
    agreed = any(one.strip().strip('."').lower() in (option, "only", "yes") for one in said)
    many = len(said) if agreed else len(said) + 1
    keys = ["beside", *(f"beside:{number}" for number in range(2, many + 1))][:many]
    reason = "with a small model, AgentForge does not deliver what nothing checks"
    return tuple(StageQuestion(key=key, text=text, reason=reason, options=(option,), closed=True) for key in keys)


def leftover(text: str, *, names: Sequence[str], gone: bool) -> str:
    """The first sentence that may want more than the change, "" none.

    Args:
        text: the request without the words of the change and without its examples.
        names: what goes, moves or gets another name; dotted names or paths.
        gone: it is deleted: what a sentence wants of it or of `it` cannot be kept.
    """
    mine = {part for name in names for part in (name, name.rpartition(".")[2])}
    for sentence in _SENTENCE.split(text):
        if any(not _harmless(clause, mine, gone=gone) for clause in _clauses(sentence)):
            return sentence.strip(" ,:-")
    return ""


def _clauses(sentence: str) -> Iterator[str]:
    """The parts of a sentence, each of which says something; a name before another one belongs to what is said of that."""
    before = ""
    for part in _CLAUSE.split(sentence):
        clause = _FILLER.sub("", part.strip(" .`'\"")).strip(" .`'\"")
        if not re.search(r"[A-Za-z]", clause):
            continue
        if len(clause.split()) <= 2 and not any(one.search(clause) for one in (_TOLD, _SAME, _WANTS, _REASON, _ORDER)):
            before = f"{before} {clause}".strip()
            continue
        yield f"{before} {clause}".strip()
        before = ""
    if before:
        yield before


def _harmless(clause: str, mine: set[str], *, gone: bool) -> bool:
    """Whether a clause is known to want nothing that the change does not do by itself."""
    if _CARRIED.match(clause) or _PLACE.match(clause):
        return True
    words = _IDIOM.sub("the same", clause)
    about = bool(mine & set(re.findall(r"[A-Za-z_][\w./]*\w|[A-Za-z_]", words))) or bool(_PRONOUN.search(words))
    kept, plain = bool(_SAME.search(clause)), clause if gone else _BEHAVIOUR.sub(" ", clause)
    asked = _SAME.sub(" ", plain).strip()
    if _WANTS.search(asked) or _ORDER.match(asked):
        return False
    if kept:
        return bool(_WIDE.search(clause)) or plain != clause or not about
    if _REASON.search(clause) or plain != clause:
        return True
    return bool(_TOLD.search(clause)) and not about
