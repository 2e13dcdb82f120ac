"""What a request says besides a mechanical change: words that the tree carries out nothing of. Pure text work.

`Delete report, and keep report({}) returning ''` is a deletion and a wish that nothing would check. So whatever is not known
to want nothing (a reason, a remark, what stays as it is) is shown to a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
