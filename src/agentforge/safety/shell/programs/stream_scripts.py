"""sed and awk: whether a script only prints, found by reading it as the program does; any other script is code that is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agentforge.frozen import dataclass
from agentforge.safety.shell.grammar.options import sort_arguments
from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged

_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/I?)"
_SED_RANGE = rf"\s*(?:{_SED_ADDRESS})?(?:\s*,\s*(?:{_SED_ADDRESS}|[+~]?\d*))?\s*!?\s*"  # half a range is an error
_SED_END = r"\s*(?:;|\n|$|(?=\}))"
_SED_PLAIN = re.compile(
    rf"{_SED_RANGE}(?:\{{|\}}{_SED_END}|[aic][ \t]+[^\\\n]*(?:\n|$)|(?:[pdqQ=lnNPDhHgGx]\d*|[btT]\s*\w*|:\s*\w+)?{_SED_END})"
)
_SED_SUBSTITUTE = re.compile(rf"{_SED_RANGE}([sy])([^\w\s\\])")
_SED_OPTIONS = names(
    "-n -e -E -r -s -z -u -l -i -b --quiet --silent --expression --regexp-extended --separate --null-data --unbuffered "
    "--line-length --in-place --posix --sandbox --debug"
)
_AWK_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|\\\n)|(?P<comment>#[^\n]*)|(?P<string>\"(?:[^\"\\\n]|\\.)*\")|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>\d[\w.]*|\.\d+)|(?P<sign>\|\||&&|>>|\|&|\+\+|--|[<>=!+*%^-]=|!~|.|\n)",
    re.DOTALL,
)
_AWK_REGEX = re.compile(r"/(?:[^/\\\n]|\\.)+/")
_AWK_FORBIDDEN = frozenset(
    names("system getline ARGV ARGC ENDFILE BEGINFILE close fflush PROCINFO SYMTAB FUNCTAB extension")
)
_AWK_SUSPICIOUS = re.compile(rf"[|@>]|{'|'.join(sorted(_AWK_FORBIDDEN))}")
_AWK_KEYWORDS = frozenset(names("print printf return in if while for do else delete exit case"))
_MAY_BE_OPTION = "a word that only the run knows may be an option: quote it and write -- before it, or write it out"
_WORST = (Kind.READ_ONLY, Kind.WRITE, Kind.RUN, Kind.UNKNOWN)
_ACTS = re.compile(r"[ewW]")
_PUTS_IN = re.compile(r"\s*(?:\d+|\$|/(?:[^/\n\\]|\\.)*/)?\s*[aic]\\\n?(?:[^\n\\]|\\.)*", re.DOTALL)
"""One command that puts text in: `3a\\` and the text, with an escaped line break at most."""
_CONSOLE = ('"/dev/stderr"', '"/dev/stdout"')


def judge_sed(words: Sequence[Word]) -> Judged:
    """Judge `sed ...`; a script that may run commands (e), write (w, W) or read other files (r, R) is code, as `perl -e` is."""
    return _with_numbers(words, _sed)


def judge_awk(words: Sequence[Word]) -> Judged:
    """Judge `awk ...`; a program that is not given in full, or does more than print, is code, as `perl -e` is."""
    return _with_numbers(words, _awk)


def _with_numbers(words: Sequence[Word], judge: Callable[[Sequence[Word]], Judged]) -> Judged:
    """Judge words in which only the run knows whole numbers: with one, with none and with lines of them; the worst counts.

    No option of sed or awk is a digit. As a path such a word stays one that only the run knows.
    """
    open_words = {word.text: word for word in words if word.whole and not word.splits}
    found = []
    for number in ("1", "", "1\n1") if open_words else ("",):
        filled = [_filled(word, number) if word.text in open_words else word for word in words]
        judged = judge(filled)
        reads = tuple(open_words.get(word.text, word) for word in judged.reads)
        writes = tuple(open_words.get(word.text, word) for word in judged.writes)
        found.append(replace(judged, reads=reads, writes=writes))
    return max(found, key=lambda one: _WORST.index(one.kind))


def _filled(word: Word, number: str) -> Word:
    return replace(word, pieces=tuple(number if piece is None else piece for piece in word.pieces), whole=False)


def _sed(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-e", "--expression", "-f", "--file", "-l", "--line-length"))
    given_scripts = given.of("-e", "--expression")
    scripts = given_scripts or given.operands[:1]
    files = given.operands if given_scripts else given.operands[1:]
    in_place = given.has("-i", "--in-place") or any(re.match(r"-[nErszu]*i", word.known) for word in words)
    if given.dynamic:
        return _unknown(_MAY_BE_OPTION)
    if not in_place and not given.only((*_SED_OPTIONS, "-f", "--file")):
        return _unknown("an option of sed is not known here")
    script_files = given.of("-f", "--file")
    if script_files or not all(_harmless_sed(word) for word in scripts):
        operands = given.operands if script_files else files
        if any(_may_act(word.value) for word in scripts if not _harmless_sed(word)):
            return _unknown("the sed script may run a command or write a file")
        return _code("sed runs a script that may do more than print", (*script_files, *operands), in_place=in_place)
    if in_place:
        return Judged(kind=Kind.WRITE, reason="sed changes the files in place", writes=files)
    return Judged(kind=Kind.READ_ONLY, reason="sed only prints", reads=files)


def _awk(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-F", "-v", "--field-separator", "--assign"))
    program = given.operands[0] if given.operands else None
    if program is None or not given.only(("-F", "-v", "--field-separator", "--assign", "--posix")):
        return _unknown("awk takes its program from elsewhere, or an option is not known here")
    if given.dynamic:
        return _unknown(_MAY_BE_OPTION)
    if program.value is not None and _AWK_SUSPICIOUS.search(program.value) and not _harmless_awk(program.value):
        return _unknown("the awk program may run a command, or read or write a file")
    if program.value is None:
        return _code("awk runs a program that may do more than print", given.operands[1:])
    return Judged(kind=Kind.READ_ONLY, reason="awk only prints", reads=given.operands[1:])


def _unknown(reason: str) -> Judged:
    return Judged(kind=Kind.UNKNOWN, reason=reason)


def _code(reason: str, files: Sequence[Word], *, in_place: bool = False) -> Judged:
    """What a script is that is not known to print only: code, whatever it is handed."""
    return Judged(kind=Kind.RUN, reason=reason, reads=tuple(files), writes=tuple(files) if in_place else ())


def _may_act(script: str | None) -> bool:
    """Whether a script of sed has a letter with which it may run a command or write a file; the text that it puts in has none."""
    return script is not None and _ACTS.search(script) is not None and _PUTS_IN.fullmatch(script) is None


def _harmless_sed(word: Word) -> bool:
    if word.value is None:
        return False
    rest, depth = word.value, 0
    while rest:
        match = _SED_SUBSTITUTE.match(rest)
        if match is not None:
            mark = re.escape(match[2])
            part = rf"(?:[^\\{mark}\n]|\\.)*{mark}"
            found = re.compile(rf"{part}{part}([gpiIm0-9]*){_SED_END}", re.DOTALL).match(rest, match.end())
        else:
            found = _SED_PLAIN.match(rest)
        if found is None or not found.end():
            return False
        depth += {"{": 1, "}": -1}.get(found[0].strip(" \t;\n")[-1:], 0) if match is None else 0
        if depth < 0:
            return False
        rest = rest[found.end() :]
    return not depth


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    """One token of an awk program; `depth` counts the open parentheses before it."""

    kind: str
    text: str
    depth: int


def _harmless_awk(program: str) -> bool:
    """Whether no token runs a command, opens a file, or sends output anywhere but to the console."""
    tokens = _awk_tokens(program)
    if tokens is None:
        return False
    printing: int | None = None  # the depth at which a print statement goes on
    for place, token in enumerate(tokens):
        if token.kind == "name" and token.text in ("print", "printf"):
            printing = token.depth
        elif token.text in (";", "\n", "}"):
            printing = None
        elif token.text in ("|", "|&", "@") or (token.kind == "name" and token.text in _AWK_FORBIDDEN):
            return False
        elif token.text in (">", ">>") and printing == token.depth:
            target = tokens[place + 1 : place + 3]
            if not target or target[0].text not in _CONSOLE or (target[1:] and target[1].text not in (";", "\n", "}")):
                return False
    return True


def _awk_tokens(program: str) -> list[_Token] | None:
    """The tokens of a program, or None where a slash could be a division as well as the begin of a pattern."""
    tokens: list[_Token] = []
    at = depth = 0
    while at < len(program):
        if program[at] == "/":
            before = tokens[-1] if tokens else None
            if before is not None and before.text == ")":
                return None
            if before is None or not _is_operand(before):
                match = _AWK_REGEX.match(program, at)
                if match is None:
                    return None
                tokens.append(_Token(kind="regex", text=match[0], depth=depth))
                at = match.end()
                continue
        found = _AWK_TOKEN.match(program, at)
        if found is None or found.lastgroup is None or found[0] == '"':
            return None
        at = found.end()
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if found.lastgroup not in ("space", "comment"):
            tokens.append(_Token(kind=found.lastgroup, text=found[0], depth=depth - (found[0] == "(")))
    return tokens


def _is_operand(token: _Token) -> bool:
    if token.kind == "name":
        return token.text not in _AWK_KEYWORDS
    return token.kind in ("number", "string", "regex") or token.text in ("]", "$", "++", "--")
