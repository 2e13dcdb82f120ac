"""Programs that only look at things: for each the options that are known to be harmless; any other one is not understood."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agentforge.frozen import dataclass
from agentforge.safety.shell.grammar.options import Arguments, sort_arguments
from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged
from agentforge.safety.shell.programs.stream_scripts import judge_awk, judge_sed


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How a reading program's arguments are to be taken.

    Attributes:
        texts: options whose value is a text or a number, no path.
        files: options whose value is a file that it reads.
        skip: leading operands that are no paths (a pattern, a program text).
        pattern: options that give the pattern instead, so that no operand is skipped.
        writes: options whose value is a file that it writes.
        only: the options that are known to be harmless besides texts and files; None where every other option is, too.
        paths: whether operands may be paths at all.
        deep: options by which it reads everything below a folder.
    """

    texts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    skip: int = 0
    pattern: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    paths: bool = True
    deep: tuple[str, ...] = ()


def _letters(text: str, more: str = "") -> tuple[str, ...]:
    return (*(f"-{letter}" for letter in text), *names(f"--help --version --color --colour {more}"))


_GREP = Reader(
    texts=names(
        "-e -m -A -B -C -d -D --regexp --include --exclude --exclude-dir --max-count --color --colour --context"
    ),
    files=("-f", "--file", "--exclude-from"),
    skip=1,
    pattern=("-e", "-f", "--regexp", "--file"),
    deep=("-r", "-R", "--recursive", "--dereference-recursive"),
)
_BINARY = _letters(
    "adDhxtTsSCrRlpwgnuABHeNIWV", "--syms --dynamic --demangle --headers --all-headers --disassemble --wide"
)
# Coreutils and their like: they have no option that writes a file or runs a program but those that are named.
_PLAIN = (
    "cat tac rev wc tr comm cmp expand unexpand dir vdir realpath readlink md5sum sha1sum sha224sum "
    "sha256sum sha384sum sha512sum b2sum cksum sum zcat bzcat xzcat zstdcat look tsort hexdump"
)
_TALKERS = (
    "pwd whoami id groups logname tty uname arch nproc lscpu lsblk lsmem free uptime printenv locale cal ncal sleep "
    "seq yes expr factor numfmt tput clear which whereis vmstat w pgrep pidof basename dirname"
)
_READERS: dict[str, Reader] = {
    **dict.fromkeys(_PLAIN.split(), Reader()),
    **dict.fromkeys(_TALKERS.split(), Reader(paths=False)),
    **dict.fromkeys(("who", "users"), Reader()),
    **dict.fromkeys(("whatis", "apropos"), Reader(only=_letters(""), paths=False)),
    **dict.fromkeys(("hostnamectl", "timedatectl", "nvidia-smi", "iostat", "ncdu", "tokei", "scc", "cloc"), Reader(only=())),
    **dict.fromkeys(("size", "nm", "objdump", "readelf"), Reader(only=_BINARY)),
    **dict.fromkeys(("egrep", "fgrep", "zgrep", "grep"), _GREP),
    "head": Reader(texts=("-n", "-c", "--lines", "--bytes")),
    "tail": Reader(texts=("-n", "-c", "--lines", "--bytes", "--pid", "-s", "--follow")),
    "cut": Reader(texts=("-d", "-f", "-c", "-b", "--delimiter", "--fields", "--output-delimiter")),
    "paste": Reader(texts=("-d", "--delimiters")),
    "join": Reader(texts=("-t", "-1", "-2", "-j", "-o", "-e", "-a", "-v")),
    "nl": Reader(texts=("-b", "-s", "-w", "-n", "-v", "-i")),
    "pr": Reader(texts=("-h", "-l", "-w", "-o")),
    "fold": Reader(texts=("-w", "--width")),
    "fmt": Reader(texts=("-w", "--width", "-p")),
    "column": Reader(texts=("-s", "-o", "-c", "-N", "--separator", "--output-separator")),
    "od": Reader(texts=("-t", "-A", "-j", "-N", "-w")),
    "strings": Reader(texts=("-n", "-t", "-e"), only=_letters("afn")),
    "stat": Reader(texts=("-c", "--format", "--printf")),
    "du": Reader(texts=("-d", "--max-depth", "-t", "--exclude"), files=("-X", "--exclude-from", "--files0-from")),
    "df": Reader(texts=("-t", "-x", "-B", "--type", "--output")),
    "ls": Reader(texts=names("-I -w -T --color --sort --time --time-style --format --ignore --hide --block-size")),
    **dict.fromkeys(("base64", "base32"), Reader(texts=("-w", "--wrap"))),
    "zipinfo": Reader(only=_letters("12smlvhtzTC")),
    "more": Reader(only=()),
    "less": Reader(only=_letters("NSRFXniIMEeg")),
    "man": Reader(only=_letters("akfwi")),
    "tree": Reader(
        texts=names("-L -P -I --filelimit --charset --sort --timefmt"),
        writes=("-o", "--output"),
        only=_letters(
            "adfilpshugDFCnrtcvQqNSAJX",
            "--dirsfirst --noreport --prune --gitignore --du --si --matchdirs --ignore-case --filesfirst",
        ),
    ),
    "file": Reader(only=_letters("biLhkN0", "--brief --mime --mime-type --mime-encoding --dereference --no-dereference")),
    "sort": Reader(
        texts=("-k", "-t", "-S", "--key", "--field-separator", "--buffer-size", "--parallel", "--sort", "--batch-size"),
        files=("-T", "--temporary-directory", "--files0-from", "--random-source"),
        writes=("-o", "--output"),
        only=_letters(
            "bdfgiMhnRrVcCmsuz",
            "--reverse --unique --numeric-sort --human-numeric-sort --version-sort --ignore-case --stable --check "
            "--zero-terminated --random-sort --general-numeric-sort --month-sort --debug --merge",
        ),
    ),
    "shuf": Reader(
        texts=("-n", "-i", "--head-count", "--input-range"), files=("--random-source",), writes=("-o", "--output")
    ),
    "rg": Reader(
        texts=names(
            "-e -g -t -T -m -A -B -C -r -j -M -E -d --glob --iglob --type --type-not --regexp --max-count --context "
            "--after-context --before-context --replace --threads --max-columns --encoding --max-depth --sort --sortr "
            "--colors --color --max-filesize"
        ),
        files=("-f", "--file", "--ignore-file"),
        skip=1,
        pattern=("-e", "-f", "--regexp", "--file", "--files"),
        only=_letters(
            "nNiIsSwxvclLoFPUpHhquab0V.",
            "--files --hidden --no-ignore --no-ignore-vcs --ignore-case --smart-case --line-number --count --json --trim "
            "--files-with-matches --files-without-match --word-regexp --fixed-strings --multiline --pcre2 --vimgrep --quiet "
            "--no-heading --heading --stats --invert-match --only-matching --type-list --unrestricted --null --text --column "
            "--follow --passthru --count-matches --no-messages --no-filename --with-filename --pretty --case-sensitive",
        ),
        deep=("-u", "--unrestricted", "--hidden", "-.", "--no-ignore"),
    ),
    "ag": Reader(
        texts=("-A", "-B", "-C", "-G", "-m", "--ignore", "--ignore-dir"), skip=1, only=_letters("acilLsSQuwv", "--hidden"),
        deep=("-u", "--hidden", "-a"),
    ),
    "diff": Reader(
        texts=("-U", "-C", "-x", "-I", "-L", "-W", "--exclude", "--label", "--unified", "--context", "--color"),
        files=("--to-file", "--from-file", "-X", "--exclude-from"),
        deep=("-r", "--recursive"),
    ),
    **dict.fromkeys(
        ("bat", "batcat"),
        Reader(texts=names("-r -l -H --line-range --language --style"), only=_letters("npAP", "--plain --number")),
    ),
    **dict.fromkeys(
        ("exa", "eza", "lsd"),
        Reader(texts=names("-L -I -s --level --sort"), only=_letters("1aAlhrRTStdFgimuUx", "--tree --all --long")),
    ),
    "iconv": Reader(texts=("-f", "-t", "--from-code", "--to-code"), writes=("-o", "--output"), only=_letters("cls", "--list")),
    "top": Reader(texts=("-n", "-d", "-p", "-u", "-o", "-w"), only=_letters("bHci1sS"), paths=False),
    "lsof": Reader(texts=("-p", "-u", "-c", "-d"), only=_letters("itnPalUR")),
    "bc": Reader(only=_letters("lqi", "--mathlib --quiet")),
}  # fmt: skip


def is_reader(name: str) -> bool:
    """Whether a program of this name is judged here."""
    return name in _READERS or name in _SPECIAL


def judge_reader(name: str, words: Sequence[Word]) -> Judged:
    """Judge a reading program by its arguments.

    Args:
        words: the arguments after the name.
    """
    if name != "echo" and [word.value for word in words] in (["--version"], ["--help"]):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} prints its version or help")
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words)
    reader = _READERS[name]
    given = sort_arguments(words, valued=(*reader.texts, *reader.files, *reader.writes))
    if reader.writes and given.has(*reader.writes):
        return Judged(
            kind=Kind.WRITE,
            reason=f"{name} writes a file by this option",
            reads=_reads(reader, given),
            writes=given.of(*reader.writes) or given.operands,
        )
    if reader.only is not None or reader.writes:
        allowed = (*reader.texts, *reader.files, *(reader.only or ()))
        if reader.only is not None and not given.only(allowed):
            return _unknown(f"an option of {name} is not known to be harmless")
        if given.dynamic:
            return _unknown("an argument that only the run knows may be an option")
        if any(word.known[:1] in ("+", "@") for word in given.operands):
            return _unknown(f"{name} takes more options or commands by such an argument")
    if name in _VERBS and given.operands and given.operands[0].known in _VERBS[name]:
        return _unknown(f"{name} {given.operands[0].known} changes something")
    deep = bool(reader.deep) and given.has(*reader.deep)
    return Judged(kind=Kind.READ_ONLY, reason=f"{name} only reads", reads=_reads(reader, given), deep=deep)


_VERBS = {
    **dict.fromkeys(("bat", "batcat"), ("cache",)),
    "hostnamectl": names("set-hostname hostname icon-name chassis deployment location set-icon-name set-chassis"),
    "timedatectl": names("set-time set-timezone set-local-rtc set-ntp ntp-servers revert"),
}


def _reads(reader: Reader, given: Arguments) -> tuple[Word, ...]:
    """Operands, the values of file options, and those of long options that nobody knows."""
    if not reader.paths:
        return ()
    skip = 0 if given.has(*reader.pattern) else reader.skip
    known = (*reader.texts, *reader.writes)
    values = tuple(word for name, word in given.values if name not in known)
    return (*given.operands[skip:], *values)


def _unknown(reason: str) -> Judged:
    return Judged(kind=Kind.UNKNOWN, reason=reason)


def _harmless(reason: str, reads: tuple[Word, ...] = ()) -> Judged:
    return Judged(kind=Kind.READ_ONLY, reason=reason, reads=reads)


def _uniq(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-f", "-s", "-w"))
    if given.dynamic:
        return _unknown("an argument that only the run knows may be the file that uniq writes")
    if len(given.operands) > 1:
        reads, writes = given.operands[:1], given.operands[1:]
        return Judged(kind=Kind.WRITE, reason="uniq writes its second file", reads=reads, writes=writes)
    return _harmless("uniq only reads", given.operands)


def _hostname(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words)
    if given.operands or not given.only(_letters("fsidAI")):
        return Judged(kind=Kind.DESTRUCTIVE, reason="sets the machine's name")
    return _harmless("prints the machine's name")


_DATE_FORM = re.compile(r"-u|--utc|-I(?:date|hours|minutes|seconds|ns)?|--(?:iso-8601|rfc-3339)=\w+|\+.*", re.DOTALL)


def _date(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-d", "--date", "-r", "--reference", "-f", "--file"))
    known = given.only(
        names("-d --date -r --reference -f --file -u --utc -R -I --iso-8601 --rfc-3339 --rfc-email --help")
    )
    known = known or all(_DATE_FORM.fullmatch(word.known) for word in words)
    if not known or given.dynamic or any(not word.known.startswith("+") for word in given.operands):
        return _unknown("date sets the clock by such an argument")
    return _harmless("date only prints", given.of("-r", "--reference", "-f", "--file"))


def _xxd(words: Sequence[Word]) -> Judged:
    rest, files = list(words), list[Word]()
    while rest:
        word = rest.pop(0)
        if word.known in names("-l -len -c -cols -s -seek -g -groupsize -o") and rest:
            rest.pop(0)
        elif word.value is None or word.glob or word.known.startswith("-r"):
            return _unknown("xxd may write a file by this argument")
        elif not word.known.startswith("-") or word.known == "-":
            files.append(word)
    if len(files) > 1:
        return Judged(kind=Kind.WRITE, reason="xxd writes its second file", reads=(files[0],), writes=tuple(files[1:]))
    return _harmless("xxd only reads", tuple(files))


def _ps(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=names("-C -p -u -U -o -g -t -G --sort --format --pid --ppid --user"))
    if given.dynamic or any(re.fullmatch(r"[A-Za-z]*e[A-Za-z]*", word.known) for word in given.operands):
        return _unknown("ps shows the environment of programs by this argument")
    return _harmless("ps lists programs that run")


def _getent(words: Sequence[Word]) -> Judged:
    if words and words[0].value in names("passwd group services protocols shells aliases rpc"):
        return _harmless("getent looks names of this machine up")
    return Judged(kind=Kind.NETWORK, reason="getent may ask a name server")


def _jq(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-f", "--from-file", "--indent", "--arg", "--argjson"))
    from_file = given.of("-f", "--from-file")
    known = given.only(
        names(
            "-r -c -n -s -S -e -a -j -C -M -R --raw-output --compact-output --slurp --sort-keys --exit-status --tab "
            "--null-input --raw-input --join-output --indent -f --from-file --arg --argjson --color-output --monochrome-output"
        )
    )
    loads = any(word.value is None or re.search(r"\b(?:import|include)\b", word.known) for word in given.operands[:2])
    if not known or given.dynamic or (loads and not from_file):
        return _unknown("jq may load a file by this argument")
    skip = 0 if from_file else 1 + len(given.of("--arg", "--argjson"))
    return _harmless("jq only prints", (*given.operands[skip:], *from_file))


def _yq(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-o", "-p", "-I", "--output-format", "--input-format", "--indent"))
    operands = given.operands[1:] if given.operands and given.operands[0].known in ("e", "eval") else given.operands
    if given.has("-i", "--inplace", "--in-place"):
        return Judged(kind=Kind.WRITE, reason="yq changes the files in place", writes=operands[1:])
    program = operands[0].value if operands else None
    known = given.only(names("-r -o -p -I -P -y -j -C -M -e --output-format --input-format --indent --unwrapScalar"))
    if not known or given.dynamic or program is None or re.search(r"load|env|import|include|eval", program):
        return _unknown("yq may read or write other files by this argument")
    return _harmless("yq only prints", operands[1:])


def _ldd(words: Sequence[Word]) -> Judged:
    return Judged(kind=Kind.RUN, reason="ldd may run the program that it looks at", reads=tuple(words))


_SPECIAL: dict[str, Callable[[Sequence[Word]], Judged]] = {
    **{"sed": judge_sed, "gsed": judge_sed, "awk": judge_awk, "gawk": judge_awk, "mawk": judge_awk, "nawk": judge_awk},
    **{"uniq": _uniq, "hostname": _hostname, "date": _date, "xxd": _xxd, "ps": _ps, "getent": _getent},
    **{"jq": _jq, "yq": _yq, "ldd": _ldd},
}
