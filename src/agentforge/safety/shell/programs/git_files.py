"""The files that an argument of git names: what it reads besides the repository, and what it writes outside of its index."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import normpath

from agentforge.safety.shell.grammar.options import Arguments
from agentforge.safety.shell.grammar.syntax import Word, names

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
