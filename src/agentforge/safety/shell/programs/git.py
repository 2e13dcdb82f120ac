"""git: which subcommands and options only look, which change the repository, which destroy, which leave the machine.

The files that an argument of git names: what it reads besides the repository, and what it writes outside of its index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from posixpath import normpath

from agentforge.safety.shell.grammar.options import Arguments, sort_arguments, tail
from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged

_READS = frozenset(
    names(
        "status log show diff blame annotate ls-files ls-tree rev-parse rev-list shortlog describe cat-file grep "
        "for-each-ref merge-base name-rev whatchanged count-objects check-ignore check-attr check-ref-format "
        "show-ref show-branch var version help diff-tree diff-index diff-files range-diff cherry verify-commit "
        "verify-tag fsck merge-tree patch-id get-tar-commit-id"
    )
)
_WRITES = frozenset(
    names(
        "add commit merge rebase cherry-pick revert am apply mv init notes switch format-patch bundle archive "
        "read-tree write-tree commit-tree hash-object update-index pack-refs sparse-checkout worktree tag branch "
        "stash restore checkout checkout-index reset rm"
    )
)
_NETWORK = frozenset(
    names("push fetch pull clone ls-remote remote submodule fetch-pack send-pack send-email request-pull svn lfs p4")
)
_DESTROYS = frozenset(
    names("clean gc prune filter-branch filter-repo reflog update-ref replace repack symbolic-ref rerere")
)
_RUNNING = names(
    "--ext-diff --textconv --exec --upload-pack --receive-pack --open-files-in-pager --config-env --exec-path"
)
_GLOBAL_VALUED = ("-C", "--git-dir", "--work-tree", "--namespace")
_HARMLESS_GLOBAL = names("-P --no-pager --no-optional-locks --literal-pathspecs --version --help")
_LISTING: dict[str, tuple[str, ...]] = {
    "branch": names(
        "-a -r -v -vv -l --list --all --remotes --verbose --show-current --merged --no-merged --contains "
        "--no-contains --sort --format --points-at --no-color --color --column -i --ignore-case"
    ),
    "tag": names("-l -n --list --sort --format --contains --no-contains --merged --no-merged --points-at -i --column"),
}
_READ_VERBS: dict[str, tuple[str, ...]] = {
    **{
        "stash": ("list", "show"),
        "remote": ("", "get-url"),
        "worktree": ("list",),
        "submodule": ("", "status", "summary"),
    },
    **{
        "reflog": ("", "show", "exists"),
        "notes": ("", "list", "show"),
        "bundle": ("verify", "list-heads"),
        "lfs": ("ls-files", "status"),
    },
    **{"sparse-checkout": ("list",), "maintenance": (), "rerere": ("status", "diff")},
}


def judge_git(words: Sequence[Word]) -> Judged:
    """Judge `git ...`.

    Args:
        words: the arguments after "git".
    """
    rest = list(words)
    folders: list[Word] = []
    while rest and rest[0].known.startswith("-"):
        option = rest.pop(0)
        name = option.known.partition("=")[0]
        if option.known in _GLOBAL_VALUED and rest:
            folders.append(rest.pop(0))
        elif name not in _HARMLESS_GLOBAL:
            return _judged(Kind.UNKNOWN, f"git {name} changes what git runs or where", folders)
        elif name in ("--version", "--help"):
            return _judged(Kind.GIT_READ, "git prints its version or help", ())
    if not rest:
        return _judged(Kind.GIT_READ, "git prints its help", folders)
    verb = rest[0].value
    if verb is None:
        return _judged(Kind.UNKNOWN, "git's subcommand is known only at run time", folders)
    if any(word.known.startswith("--work-tree") or word.known.startswith("--git-dir") for word in words):
        return _judged(Kind.UNKNOWN, "git works on another repository", folders)
    return replace(_subcommand(verb, rest[1:], folders), argv=(Word(text="git", pieces=("git",)), *rest))


def _subcommand(verb: str, words: Sequence[Word], folders: Sequence[Word]) -> Judged:
    given = sort_arguments(
        words,
        valued=names(
            "-n -S -G -L --sort --format -m --message --grep --author --since --until --output --output-directory"
        )
        + (names("-f -e -A -B -C --contents") if verb in ("grep", "blame", "annotate") else ())
        + valued(verb),
    )
    if given.has("--help", "-h") and len(words) == 1:
        return _judged(Kind.GIT_READ, "git prints help", folders)
    if (
        given.has(*_RUNNING)
        or (verb == "grep" and given.has("-O"))
        or (verb == "rebase" and given.has("-x", "-i", "--interactive"))
    ):
        return _judged(Kind.UNKNOWN, f"git {verb} runs another program by this option", folders)
    if given.has("--output", "--output-directory") and verb != "commit":
        return _judged(
            Kind.WRITE,
            f"git {verb} writes a file by this option",
            folders,
            writes=given.of("--output", "--output-directory"),
        )
    if verb == "config":
        return _config(given, folders)
    if verb in _READS:
        return _read(verb, given, folders)
    if _only_lists(verb, given):
        return _judged(Kind.GIT_READ, f"git {verb} lists", folders)
    if verb in _NETWORK:
        forced = given.has("--force", "-f", "--mirror", "--delete", "-d", "--prune", "--force-with-lease") or any(
            word.known.startswith(("+", ":")) for word in given.operands
        )
        kind = Kind.DESTRUCTIVE if verb == "push" and forced else Kind.NETWORK
        return _judged(kind, f"git {verb} talks to another repository", folders)
    if verb == "archive" and given.has("--remote"):
        return _judged(Kind.NETWORK, "git archive asks another repository", folders)
    if verb in _DESTROYS or _destroys(verb, given) or (verb == "checkout" and throws_away(words)):
        return _judged(Kind.DESTRUCTIVE, f"git {verb} throws away what may not be had again", folders)
    if verb in _WRITES:
        reads, writes = files_read(verb, given), files_written(verb, given)
        return _judged(Kind.GIT_WRITE, f"git {verb} changes the repository", (*folders, *reads), writes=writes)
    return _judged(Kind.UNKNOWN, f"git {verb} is not a subcommand that is known here; it may be an alias", folders)


def _read(verb: str, given: Arguments, folders: Sequence[Word]) -> Judged:
    if given.dynamic and verb in ("diff", "log", "show", "grep", "whatchanged", "diff-tree"):
        return _judged(Kind.UNKNOWN, "an argument that only the run knows may be an option", folders)
    if (verb == "cat-file" and given.has("--filters", "--textconv")) or (verb == "help" and given.has("-w", "--web")):
        return _judged(Kind.UNKNOWN, f"git {verb} runs another program by this option", folders)
    if verb == "fsck" and given.has("--lost-found"):
        return _judged(Kind.GIT_WRITE, "git fsck writes what it found", folders)
    outside = [
        word for word in given.operands if given.has("--no-index") or word.known.startswith(("/", "~", "..", "."))
    ]
    outside += [tail(word, word.known.rfind(":") + 1) for word in given.operands if ":" in word.known]
    lists = files_read(verb, given)
    return _judged(Kind.GIT_READ, f"git {verb} only reads", (*folders, *outside, *lists))


def _only_lists(verb: str, given: Arguments) -> bool:
    names = (*given.options, *(name for name, _ in given.values))
    if verb in _LISTING:
        listing = given.has("-l", "--list", "--contains", "--merged", "--no-merged", "--points-at", "--no-contains")
        return all(name in _LISTING[verb] for name in names) and (listing or not given.operands) and not given.dynamic
    if verb == "symbolic-ref":  # with a second name it changes the first
        asks = ("--short", "-q", "--quiet", "--no-recurse")
        return len(given.operands) == 1 and not given.dynamic and all(name in asks for name in names)
    verbs = _READ_VERBS.get(verb)
    if verbs is None:
        return False
    first = given.operands[0].value if given.operands else ""
    if verb == "reflog" and given.has("--expire", "--all", "--updateref", "--rewrite"):
        return False
    return first in verbs and (
        verb not in ("remote", "submodule", "reflog", "stash")
        or all(
            name in ("-v", "--verbose", "-p", "--stat", "--all", "-n", "--oneline", "--format", "--date")
            or name[1:].isdigit()
            for name in names
        )
    )


def _destroys(verb: str, given: Arguments) -> bool:
    first = given.operands[0].known if given.operands else ""
    match verb:
        case "branch" | "tag":
            return given.has("-D", "-d", "--delete", "-f", "--force", "-M")
        case "reset":
            return given.has("--hard", "--merge", "--keep")
        case "checkout" | "switch":
            dashes = any(word.known in (".", "--") for word in given.operands)
            return (
                given.has("-f", "--force", "--discard-changes", "-B", "-C", "--ours", "--theirs")
                or dashes
                or first == "."
            )
        case "restore":
            return not given.has("--staged", "-S") or given.has("--worktree", "-W")
        case "stash":
            return first in ("drop", "clear", "pop")
        case "worktree":
            return first in ("remove", "prune")
        case "rm":
            return not given.has("--cached")
        case "commit":
            return given.has("--amend")
        case "rebase":
            return True
    return False


def _config(given: Arguments, folders: Sequence[Word]) -> Judged:
    reading = given.has("--get", "--get-all", "--list", "-l", "--get-regexp", "--show-origin", "--get-urlmatch")
    first = given.operands[0].value if given.operands else ""
    changing = given.has(
        "--add",
        "--unset",
        "--unset-all",
        "--replace-all",
        "--edit",
        "-e",
        "--remove-section",
        "--rename-section",
        "--file",
        "-f",
        "--global",
        "--system",
    )
    if not changing and (
        reading
        or first in ("get", "list")
        or (len(given.operands) == 1 and not given.options and first not in ("edit",))
    ):
        return _judged(Kind.GIT_READ, "git config only prints", folders)
    return _judged(Kind.UNKNOWN, "git config may set what git runs later (hooks, filters, pager)", folders)


def _judged(kind: Kind, reason: str, reads: Sequence[Word], *, writes: Sequence[Word] = ()) -> Judged:
    return Judged(kind=kind, reason=reason, reads=tuple(reads), writes=tuple(writes))


_READING: dict[str, tuple[str, ...]] = {
    "commit": ("-F", "-t", "--file", "--template"),
    **dict.fromkeys(("tag", "notes", "merge"), ("-F", "--file")),
    **dict.fromkeys(names("diff log show diff-tree diff-index diff-files format-patch"), ("-O",)),
    **dict.fromkeys(names("grep blame annotate"), ("-f", "--contents", "--ignore-revs-file", "-O")),
    **dict.fromkeys(names("add rm reset stash restore"), ("--pathspec-from-file",)),
}
_WRITING: dict[str, tuple[str, ...]] = {
    "format-patch": ("-o",),
    "archive": ("-o",),
    **dict.fromkeys(("checkout-index", "read-tree"), ("--prefix",)),
    **dict.fromkeys(("apply", "am"), ("--directory",)),
}
_UNKNOWN_FILES = names("apply am")
_PATHS_READ = names("add archive hash-object")


def valued(verb: str) -> tuple[str, ...]:
    """The options of a subcommand whose value is a file."""
    return (*_READING.get(verb, ()), *_WRITING.get(verb, ()))


def files_read(verb: str, given: Arguments) -> tuple[Word, ...]:
    """Files that a subcommand takes something from."""
    operands = given.operands if verb in _PATHS_READ else ()
    return (*given.of(*_READING.get(verb, ("--pathspec-from-file",))), *operands)


def files_written(verb: str, given: Arguments) -> tuple[Word, ...]:
    """Files and folders that a subcommand that changes something writes; a word that only the run knows for those of a patch."""
    found = given.of(*_WRITING.get(verb, ("--output",)))
    first, rest = (given.operands[0].known if given.operands else ""), given.operands[1:]
    if verb == "mv":
        found += given.operands
    elif verb == "init":
        found += given.operands[:1]
    elif (verb, first) in (("worktree", "add"), ("bundle", "create")):
        found += rest[:1]
    elif verb in _UNKNOWN_FILES and not given.has("--stat", "--check", "--numstat", "--summary", "--abort", "--cached"):
        found += (Word(text="the files of the patch", pieces=(None,)),)
    return (*found, *(word for word in given.operands if _leads_out(word)))


def _leads_out(word: Word) -> bool:
    text = word.known
    return text.startswith(("/", "~/")) or (".." in text.split("/") and normpath(text).startswith(".."))


def throws_away(words: Sequence[Word]) -> bool:
    """Whether a checkout names paths, whose changes are lost: everything behind two dashes is one."""
    return any(word.value == "--" for word in words[:-1])
