"""Programs that only look at things, and the options by which some of them do more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agentforge.frozen import dataclass
from agentforge.safety.shell.classes import CommandClass as Kind
from agentforge.safety.shell.classes import Judged
from agentforge.safety.shell.options import Arguments, sort_arguments
from agentforge.safety.shell.syntax import Word, names


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How a reading program's arguments are to be taken.

    Attributes:
        valued: options that take a value.
        skip: leading operands that are no paths (a pattern, a program text).
        pattern: options that give the pattern instead, so that no operand is skipped.
        writes: options whose value is a file that it writes.
        runs: options that run another program or load code: not understood.
        paths: whether operands may be paths at all.
    """

    valued: tuple[str, ...] = ()
    skip: int = 0
    pattern: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    paths: bool = True


_PLAIN = (
    "cat nl tac rev head tail wc cut tr paste join comm cmp diff sdiff fold fmt expand unexpand column od hexdump "
    "strings stat file du df ls dir vdir tree realpath readlink basename dirname md5sum sha1sum sha224sum sha256sum "
    "sha384sum sha512sum b2sum cksum sum base64 base32 more zcat bzcat xzcat zstdcat ncdu lsof size nm ldd objdump "
    "readelf look pr tsort iconv exa eza lsd bat batcat cloc tokei scc"
)
_TALKERS = (
    "echo printf true false : pwd whoami id groups logname users who w tty uname arch nproc lscpu lsblk lsmem free "
    "uptime ps pgrep pidof printenv locale getent date cal ncal sleep seq yes expr factor numfmt tput clear which "
    "type hash jobs wait ulimit umask history times help dirs shift return break continue exit unset pushd popd cd "
    "whereis whatis apropos vmstat iostat top htop hostnamectl timedatectl nvidia-smi neofetch fortune cowsay figlet "
    "bc"
)
_READERS: dict[str, Reader] = {
    **dict.fromkeys(_PLAIN.split(), Reader()),
    **dict.fromkeys(_TALKERS.split(), Reader(paths=False)),
    "head": Reader(valued=("-n", "-c", "--lines", "--bytes")),
    "tail": Reader(valued=("-n", "-c", "--lines", "--bytes", "--pid", "-s")),
    "cut": Reader(valued=("-d", "-f", "-c", "-b", "--delimiter", "--fields", "--output-delimiter")),
    "tr": Reader(paths=False),
    "test": Reader(paths=False, runs=("-v", "-R")),
    "[": Reader(paths=False, runs=("-v", "-R")),
    "man": Reader(
        paths=False, runs=names("-P --pager -H --html -C --config-file -l --local-file -X --gxditview -T -p")
    ),
    "tree": Reader(valued=("-L", "-P", "-I", "--filelimit"), writes=("-o", "--output")),
    "file": Reader(valued=("-m", "-f", "-F", "-P"), runs=("-C", "--compile", "-m")),
    "sort": Reader(
        valued=("-k", "-t", "-S", "-T", "-o", "--key", "--field-separator", "--output"),
        writes=("-o", "--output"),
        runs=("--compress-program",),
    ),
    "shuf": Reader(valued=("-n", "-o", "-i", "--head-count", "--output"), writes=("-o", "--output")),
    "grep": Reader(
        valued=names("-e -f -m -A -B -C --regexp --file --include --exclude --exclude-dir --max-count"),
        skip=1,
        pattern=("-e", "-f", "--regexp", "--file"),
    ),
    "rg": Reader(
        valued=names("-e -f -g -t -T -m -A -B -C -r --glob --type --regexp --max-count -j -M"),
        skip=1,
        pattern=("-e", "-f", "--regexp", "--file", "--files"),
        runs=("--pre", "--hostname-bin", "-z", "--search-zip"),
    ),
    "ag": Reader(valued=("-A", "-B", "-C", "-G", "-m"), skip=1, runs=("--pager",)),
    "jq": Reader(valued=("-f", "--from-file", "--indent", "-L"), skip=1, pattern=("-f", "--from-file")),
    "yq": Reader(skip=1, writes=("-i", "--inplace", "-s", "--split-exp")),
    "less": Reader(
        writes=("-o", "-O", "--log-file", "--LOG-FILE"), runs=("-k", "--lesskey-file", "--lesskey-src", "-T", "-p", "+")
    ),
    "date": Reader(valued=("-d", "--date", "-r", "--reference", "-f"), paths=False, runs=("-s", "--set")),
    "xxd": Reader(valued=("-l", "-c", "-s", "-g"), runs=("-r",)),
    "nproc": Reader(paths=False),
    "bat": Reader(runs=("--pager",)),
    "objdump": Reader(),
    "iconv": Reader(valued=("-f", "-t", "-o", "--output"), writes=("-o", "--output")),
    "top": Reader(paths=False),
    "diff": Reader(valued=("-U", "-C", "--exclude", "-x")),
    "printenv": Reader(paths=False),
}
for _same in ("egrep", "fgrep", "zgrep", "ugrep", "ack"):
    _READERS[_same] = _READERS["grep"]


def is_reader(name: str) -> bool:
    """Whether a program of this name is judged here."""
    return name in _READERS or name in _SPECIAL


def judge_reader(name: str, words: Sequence[Word]) -> Judged:
    """Judge a reading program by its arguments.

    Args:
        words: the arguments after the name.
    """
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words)
    reader = _READERS[name]
    given = sort_arguments(words, valued=reader.valued)
    if name == "less" and any(word.known.startswith("+") for word in given.operands):
        return _unknown("less runs commands that follow +")
    if reader.runs and (given.has(*reader.runs) or given.dynamic):
        return _unknown(
            f"{name} runs or changes something by such an option"
            if not given.dynamic
            else "an argument that only the run knows may be an option"
        )
    if reader.writes and given.has(*reader.writes):
        return Judged(
            kind=Kind.WRITE,
            reason=f"{name} writes a file by this option",
            writes=given.of(*reader.writes) or given.operands,
        )
    if reader.writes and given.dynamic:
        return _unknown("an argument that only the run knows may be an option that writes")
    return Judged(kind=Kind.READ_ONLY, reason=f"{name} only reads", reads=_reads(reader, given))


def _reads(reader: Reader, given: Arguments) -> tuple[Word, ...]:
    if not reader.paths:
        return ()
    skip = 0 if given.has(*reader.pattern) else reader.skip
    files = tuple(
        word
        for name, word in given.values
        if name in ("-f", "--file", "-r", "--reference", "--from-file", "--files0-from", "-T")
    )
    return (
        *given.operands[skip:],
        *files,
        *(word for name, word in given.values if "/" in word.known and name.startswith("--")),
    )


def _unknown(reason: str) -> Judged:
    return Judged(kind=Kind.UNKNOWN, reason=reason)


_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/I?)"
_SED_PLAIN = re.compile(
    rf"\s*(?:{_SED_ADDRESS}(?:\s*,\s*(?:[+~]?\d+|{_SED_ADDRESS}))?)?\s*!?\s*(?:[pdqQ=lnNPDhHgGx]\d*)?\s*"
)
_SED_SUBSTITUTE = re.compile(rf"\s*(?:{_SED_ADDRESS}(?:\s*,\s*(?:[+~]?\d+|{_SED_ADDRESS}))?)?\s*!?\s*([sy])([^\w\s\\])")


def _harmless_sed(script: str) -> bool:
    """Whether a sed script neither runs (e), writes (w, W), nor reads other files (r, R)."""
    rest = script
    while rest:
        match = _SED_SUBSTITUTE.match(rest)
        if match is not None:
            mark = re.escape(match[2])
            body = re.compile(
                rf"(?:[^\\{mark}\n]|\\.)*{mark}(?:[^\\{mark}\n]|\\.)*{mark}([gpiIm0-9]*)\s*(?:;|\n|$)", re.DOTALL
            )
            found = body.match(rest, match.end())
        else:
            found = re.compile(_SED_PLAIN.pattern + r"(?:;|\n|$)").match(rest)
        if found is None or not found.end():
            return False
        rest = rest[found.end() :]
    return True


def _sed(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-e", "--expression", "-f", "--file", "-l", "--line-length"))
    given_scripts = given.of("-e", "--expression")
    scripts = given_scripts or given.operands[:1]
    files = given.operands if given_scripts else given.operands[1:]
    if given.has("-f", "--file") or given.dynamic or any(word.value is None for word in scripts):
        return _unknown("the sed script is known only at run time")
    if not all(_harmless_sed(word.value or "") for word in scripts):
        return _unknown("the sed script may run a command or write a file")
    in_place = any(one.startswith(("-i", "--in-place")) or one == "-i" for one in given.options) or given.has(
        "--in-place", "-i"
    )
    if in_place or any(word.known.startswith(("-i", "-ni", "-Ei", "-ri")) for word in words):
        return Judged(kind=Kind.WRITE, reason="sed changes the files in place", writes=files)
    return Judged(kind=Kind.READ_ONLY, reason="sed only prints", reads=files)


def _awk(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=names("-F -v -f -i -l -E -e --file --include --load --exec --source"))
    program = given.operands[0].value if given.operands else None
    if (
        program is None
        or given.dynamic
        or given.has(
            "-f", "-i", "-l", "-E", "-e", "--file", "--include", "--load", "--exec", "--source", "-D", "--debug"
        )
    ):
        return _unknown("the awk program is known only at run time")
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', program)
    if re.search(r"\bsystem\b|\bgetline\b|@|\|(?!\|)|(?<!\|)\|&", bare) or ("print" in bare and ">" in bare):
        return _unknown("the awk program may run a command or write a file")
    return Judged(kind=Kind.READ_ONLY, reason="awk only prints", reads=given.operands[1:])


def _uniq(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words, valued=("-f", "-s", "-w"))
    if len(given.operands) > 1:
        return Judged(
            kind=Kind.WRITE, reason="uniq writes its second file", reads=given.operands[:1], writes=given.operands[1:]
        )
    return Judged(kind=Kind.READ_ONLY, reason="uniq only reads", reads=given.operands)


def _hostname(words: Sequence[Word]) -> Judged:
    given = sort_arguments(words)
    if given.operands or given.has("-F", "--file", "-b"):
        return Judged(kind=Kind.DESTRUCTIVE, reason="sets the machine's name")
    return Judged(kind=Kind.READ_ONLY, reason="prints the machine's name")


def _printf(words: Sequence[Word]) -> Judged:
    if any(word.known.startswith("-v") for word in words[:1]) or (words and words[0].value is None):
        return _unknown("printf may set a variable or take its format from the run")
    return Judged(kind=Kind.READ_ONLY, reason="printf only prints")


def _builtin_set(words: Sequence[Word]) -> Judged:
    flags = [word.known for word in words]
    if all(re.fullmatch(r"[-+][euxfC]+|-o|\+o|pipefail|errexit|nounset|xtrace|noglob", flag) for flag in flags):
        return Judged(kind=Kind.READ_ONLY, reason="sets an option of this shell")
    return _unknown("changes this shell")


def _history(words: Sequence[Word]) -> Judged:
    return (
        _unknown("changes the shell's history")
        if words
        else Judged(kind=Kind.READ_ONLY, reason="prints the shell's history")
    )


def _read_builtin(words: Sequence[Word]) -> Judged:
    names = [word.value for word in words if not word.known.startswith("-")]
    if all(name is not None and re.fullmatch(r"[a-z_][a-z0-9_]*", name) for name in names):
        return Judged(kind=Kind.READ_ONLY, reason="read fills a variable")
    return _unknown("read may set a variable that changes what is run")


_SPECIAL: dict[str, Callable[[Sequence[Word]], Judged]] = {
    **{"sed": _sed, "gsed": _sed, "awk": _awk, "gawk": _awk, "mawk": _awk, "nawk": _awk},
    **{
        "uniq": _uniq,
        "hostname": _hostname,
        "printf": _printf,
        "set": _builtin_set,
        "history": _history,
        "read": _read_builtin,
    },
}
