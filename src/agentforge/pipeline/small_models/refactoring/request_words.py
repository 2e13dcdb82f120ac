"""Which mechanical change a request asks for, when it asks for exactly one and for nothing else. Pure text work."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from agentforge.pipeline.small_models.reading.request_parser import examples_of
from agentforge.pipeline.small_models.reading.unverified_wishes import leftover
from agentforge.python_refactoring import RefactoringRequest

_Q = r"[`'\"]?"
_KIND = r"(?:functions?|methods?|class(?:es)?|constants?|variables?|modules?|files?|scripts?|coroutines?|exceptions?)"
_ADJECTIVE = r"(?:(?:unused|dead|obsolete|deprecated|old|legacy|private|public|whole|entire|async|abstract)\s+)*"
_NAME = r"[A-Za-z_](?:[\w./-]*\w)?"
_TOKEN = rf"{_Q}{_NAME}{_Q}(?:\(\))?{_Q}"
_NAMES = rf"({_TOKEN}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){_TOKEN})*)"
_PLACE = (
    rf"(?:\s+(?:in|from|of|out\s+of)\s+(?:the\s+)?(?:(?:module|file|class|package)\s+)?{_Q}({_NAME}){_Q}"
    r"(?:\s+(?:module|file|class))?)?"
)
_TAIL = (
    r"(?=\s*(?:$|[.;:,!](?:\s|$)|\(|--|[–—]|(?:and|but|so|while|without|with|which|that|since|because|as|it|nobody|now|"
    r"everywhere|for)\b))"
)
_PARAMETER = r"(?:parameter|argument|param|arg|option|flag|keyword)"
_SORT = r"(?:(?:new|optional|keyword[- ]only|positional|boolean|extra|unused|default)\s+)*"
_FUNC = rf"(?:the\s+)?(?:(?:function|method|class)\s+)?{_Q}([A-Za-z_][\w.]*\w|[A-Za-z_]){_Q}(?:\(\))?{_Q}"
_ONE = rf"{_Q}([A-Za-z_]\w*){_Q}"
_LITERAL = r"'[^']*'|\"[^\"]*\"|-?\d[\w.]*|None|True|False|\[\]|\(\)|\{\}|[A-Z][A-Z0-9_]+|[a-z_]\w*\.[A-Z]\w*"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text.replace(" ", r"\s+"), re.IGNORECASE)


_DELETE = _pattern(
    rf"\b(?:delete|remove|drop|get rid of) (?:the )?{_ADJECTIVE}(?:({_KIND}) )?{_NAMES}(?: ({_KIND}))?{_PLACE}{_TAIL}"
)
_MOVE = _pattern(
    rf"\bmove (?:the )?{_ADJECTIVE}(?:({_KIND}) )?{_NAMES}(?: ({_KIND}))?{_PLACE} (?:(?:in)?to|over to) (?:(?:a|the|its own) )?"
    rf"(?:(new) )?(?:(?:module|file) )?(?:(?:called|named) )?{_Q}({_NAME}){_Q}(?: (?:module|file))?{_TAIL}"
)
_ADD = _pattern(rf"\badd (?:an? |the )?({_SORT}){_PARAMETER} (?:(?:called|named) )?(.+?) to {_FUNC}{_TAIL}")
_GIVE = _pattern(
    rf"\b(?:give|let) {_FUNC} (?:(?:take|accept|have) )?an? ({_SORT}){_PARAMETER} (?:(?:called|named) )?([^.;]+(?:\.\d+)?)"
)
_RENAMES = (
    _pattern(
        rf"\brename (?:the )?{_SORT}{_PARAMETER} {_ONE} (?:of|in|from|on) (?P<f>{_FUNC}) (?:to|into|as) {_ONE}{_TAIL}"
    ),
    _pattern(rf"\brename (?:the )?{_SORT}{_PARAMETER} {_ONE} (?:to|into|as) {_ONE} (?:of|in|on) (?P<f>{_FUNC}){_TAIL}"),
    _pattern(rf"\brename (?:the )?{_ONE} {_PARAMETER} (?:of|in|from|on) (?P<f>{_FUNC}) (?:to|into|as) {_ONE}{_TAIL}"),
    _pattern(rf"\brename (?P<f>{_FUNC})'s {_PARAMETER} {_ONE} (?:to|into|as) {_ONE}{_TAIL}"),
)
_DROPS = (
    _pattern(rf"\b(?:delete|remove|drop) (?:the )?{_SORT}{_PARAMETER} {_ONE} (?:of|in|from) (?P<f>{_FUNC}){_TAIL}"),
    _pattern(rf"\b(?:delete|remove|drop) (?:the )?{_SORT}{_ONE} {_PARAMETER} (?:of|in|from) (?P<f>{_FUNC}){_TAIL}"),
    _pattern(rf"\b(?:delete|remove|drop) (?P<f>{_FUNC})'s {_SORT}{_PARAMETER} {_ONE}{_TAIL}"),
)
_ORDER = _pattern(
    rf"\b(?:reorder|order|sort) (?:the )?(?:keyword[- ]only )?{_PARAMETER}s (?:of|in) (?P<f>{_FUNC})"
    r"(?: (alphabetically|by name)|(?: (?:to|as|into|in the order|in this order))?:?\s*"
    rf"({_ONE}(?:\s*,\s*(?:and\s+)?{_ONE}| and {_ONE})+))"
)
_NAMED = _pattern(
    rf"\brename (?:the )?(?:({_KIND}) )?{_Q}([A-Za-z_][\w.]*){_Q}(?:\(\))?{_Q}{_PLACE}"
    rf" (?:to|into|as) {_Q}([A-Za-z_]\w*){_Q}(?:\(\))?{_Q}"
)
_MORE = re.compile(
    r"(?i)(?<!not )(?<!n't )(?<!never )(?<!without )\b(?:add|create|write|implement|introduce|fix|rename|move|delete|remove|drop|"
    r"replace|extract|inline|convert|split|merge|make|rewrite|let|give)\b"
)
_QUIET = re.compile(
    r"(?i)keyword[- ]only|nothing else|(?:no|any) behaviou?r|behaviou?r (?:stays|does not)|\bunused\b|not used|uses? it yet|"
    r"for now|callers?|ignored?\b|do(?:es)? not change|\bdefault\w*\b|\bplease\b|\boptional\b"
)
_DEFAULT = re.compile(rf"(?i:default\w*(?:\s+value)?\s*(?:of|to|is|=|:)?\s*:?)\s*{_Q}(?-i:({_LITERAL})){_Q}")
_SPELT = re.compile(
    rf"^{_Q}([A-Za-z_]\w*){_Q}?\s*(?::\s*([^=`,(]+?))?\s*(?:=\s*({_LITERAL}))?{_Q}\s*(?=$|[,(=]|(?<=\s)\w)"
)
_REEXPORT = re.compile(
    r"(?i)re-?export|\b(?:keep|stays?|remains?|still)\b[^.;]*\bimport(?:able|ed|ing)?\b|backwards?[- ]compatib"
)
_NO_REEXPORT = re.compile(r"(?i)(?:\bno|\bnot|n't|without(?:\s+an?)?)\s+re-?export")


_OF_CLASS = re.compile(rf"(?i:\b(methods?)) {_Q}([A-Za-z_]\w*){_Q} of (?i:the class )?{_Q}([A-Z]\w*){_Q}(?=[\s.;:,]|$)")
_BOTH = _pattern(
    rf"({_TOKEN} and {_TOKEN})( in {_Q}{_NAME}{_Q})? (?:are|have|will|is)\b[^.;:]*[.;:]\s*"
    r"(delete|remove|drop|get rid of) (?:them )?(?:both|them)\b"
)


def wanted_of(request: str) -> RefactoringRequest | None:
    """The one mechanical change that a request asks for, None when it asks for another thing, or for more."""
    text = _OF_CLASS.sub(r"\1 \3.\2", " ".join(request.split()))
    both = _BOTH.search(text)
    if both is not None:
        text = f"{text[: both.start()]}{both.group(3)} {both.group(1)}{both.group(2) or ''}{text[both.end() :]}"
    for read in (_signature, _named, _moved, _deleted):
        found = read(text)
        if found is not None:
            wanted, start, end = found
            if _MORE.search(f"{text[:start]} {text[end:]}"):
                return None
            return replace(wanted, rest=_rest(wanted, f"{text[:start]} ; {text[end:]}", request))
    return None


def _rest(wanted: RefactoringRequest, text: str, request: str) -> str:
    """What is said besides the change, without examples and without what the change itself takes up."""
    if wanted.what == "add":  # whatever tells of behaviour was refused while it was read
        return ""
    for example in examples_of(request):
        text = text.replace(" ".join(example.split()), " ; ")
    if wanted.what == "move":
        text = "; ".join(part for part in re.split(r"[.;](?=\s|$)", text) if not _REEXPORT.search(part))
    names = (*wanted.names, wanted.new) if wanted.new and not wanted.parameter else wanted.names
    return leftover(text, names=names, gone=wanted.what == "delete")


_Found = tuple[RefactoringRequest, int, int]


def _deleted(text: str) -> _Found | None:
    match = _DELETE.search(text)
    if match is None:
        return None
    before, names, after, place = match.groups()
    wanted = RefactoringRequest(what="delete", names=_names(names), kind=_kind(before or after), place=_bare(place))
    return wanted, match.start(), match.end()


def _moved(text: str) -> _Found | None:
    match = _MOVE.search(text)
    if match is None:
        return None
    before, names, after, place, fresh, target = match.groups()
    wanted = RefactoringRequest(
        what="move",
        names=_names(names),
        kind=_kind(before or after),
        place=_bare(place),
        target=_bare(target),
        fresh=bool(fresh) or target.endswith(".py"),
        reexport=bool(_REEXPORT.search(text)) and not _NO_REEXPORT.search(text),
    )
    return wanted, match.start(), match.end()


def _named(text: str) -> _Found | None:
    """Another name for a definition."""
    match = _NAMED.search(text)
    if match is None:
        return None
    kind, old, place, new = match.groups()
    wanted = RefactoringRequest(what="rename", names=(old,), kind=_kind(kind), place=_bare(place), new=new)
    return wanted, match.start(), match.end()


def _signature(text: str) -> _Found | None:
    for pattern in _RENAMES:
        if match := pattern.search(text):
            names = [one for number, one in enumerate(match.groups(), 1) if one and not _inside(match, number)]
            wanted = RefactoringRequest(what="rename", names=(_function(match),), parameter=names[0], new=names[1])
            return wanted, match.start(), match.end()
    for pattern in _DROPS:
        if match := pattern.search(text):
            names = [one for number, one in enumerate(match.groups(), 1) if one and not _inside(match, number)]
            return (
                RefactoringRequest(what="drop", names=(_function(match),), parameter=names[0]),
                match.start(),
                match.end(),
            )
    if match := _ORDER.search(text):
        listed = next((one for one in match.groups() if one and "," in one), "")
        order = tuple(one for one in re.findall(r"[A-Za-z_]\w*", listed) if one.lower() != "and")
        return RefactoringRequest(what="order", names=(_function(match),), order=order), match.start(), match.end()
    return _added(text)


def _added(text: str) -> _Found | None:
    """A parameter with a default, where nothing is said of what it does: that would be for somebody who writes code."""
    if match := _ADD.search(text):
        sort, told, function = match.groups()
    elif match := _GIVE.search(text):
        function, sort, told = match.groups()
    else:
        return None
    (name, annotation, default), after = _spelt(told)
    rest = _DEFAULT.sub("", f"{after} {text[match.end() :]}")
    if not name or _says_more(f"{text[: match.start()]} {rest}"):
        return None
    later = _DEFAULT.search(f"{after} {text[match.end() :]}")
    wanted = RefactoringRequest(
        what="add",
        names=(function,),
        parameter=name,
        annotation=annotation,
        default=default or (later.group(1) if later else ""),
        keyword_only="only" in (sort or "").lower() or bool(re.search(r"(?i)keyword[- ]only", text)),
    )
    return wanted, match.start(), match.end()


def _spelt(told: str) -> tuple[tuple[str, str, str], str]:
    """Name, annotation and default of a parameter as it is told, and the words behind them."""
    source = told.strip().strip("`")
    try:
        node = ast.parse(f"def f({source}): ...").body[0]
    except SyntaxError:
        node = None
    if isinstance(node, ast.FunctionDef) and len(node.args.args) == 1:
        one, default = node.args.args[0], node.args.defaults
        annotation = ast.unparse(one.annotation) if one.annotation else ""
        return (one.arg, annotation, source.rpartition("=")[2].strip() if default else ""), ""
    found = _SPELT.match(told)
    if found is None:
        return ("", "", ""), told
    return (found.group(1), found.group(2) or "", found.group(3) or ""), told[found.end() :]


def _says_more(text: str) -> bool:
    """Whether words are left that tell of behaviour."""
    left = re.sub(r"(?i)\b(?:in|of|the|module|file|and|a|an|it|is|with|that|which|by|yet|to)\b|[\w/]+\.py", "", text)
    return any(re.search(r"[A-Za-z]", part) for part in re.split(r"[.;,()]", left) if not _QUIET.search(part))


def _inside(match: re.Match[str], number: int) -> bool:
    start, end = match.span("f")
    return start <= match.start(number) and match.end(number) <= end


def _function(match: re.Match[str]) -> str:
    found = re.search(r"([A-Za-z_][\w.]*)\W*$", match.group("f"))
    return found.group(1).rstrip(".") if found else ""


def _names(listed: str) -> tuple[str, ...]:
    parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", listed)
    return tuple(dict.fromkeys(_bare(part) for part in parts))


def _bare(text: str | None) -> str:
    return (text or "").strip("`'\"").removesuffix("()").strip("`'\"")


def _kind(word: str | None) -> str:
    text = (word or "").lower()
    return "class" if text.startswith("class") else text.removesuffix("s")
