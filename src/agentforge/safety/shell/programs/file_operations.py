"""Programs that create, change, move or remove files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from posixpath import normpath

from agentforge.safety.shell.grammar.options import Arguments, sort_arguments, tail
from agentforge.safety.shell.grammar.syntax import Word, names
from agentforge.safety.shell.programs.classes import CommandClass as Kind, Judged

_ROOTS = frozenset({"/", "~", "..", ".", "*", "/*", "~/*", "../*", "./*", ".*", "{.,}*", "./.*"})
_SYSTEM = names("/bin /boot /dev /etc /home /lib /lib64 /opt /proc /root /sbin /srv /sys /usr /var")
_VALUED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("cp", "mv", "ln"), names("-t -S --target-directory --suffix")),
    "install": names("-m -o -g -t -S --target-directory --suffix --mode --owner --group"),
    "tar": names("-f -C -X --file --directory --exclude"),
    "split": names("-l -b -n -a"),
    "csplit": names("-f -b -n"),
    "touch": names("-t -r -d --date --reference"),
    **dict.fromkeys(("mkdir", "mkfifo"), ("-m", "--mode")),
    "mktemp": ("-p", "--suffix"),
    "patch": names("-p -i -d -o -r --input --directory --output"),
    "unzip": ("-d",),
    "truncate": names("-s -r --size --reference"),
    "shred": names("-n -s"),
    "setfacl": names("-m -x -M -X"),
    "rsync": ("-e", "--exclude", "--include"),
}


def is_filing(name: str) -> bool:
    """Whether a program of this name is judged here."""
    return name in _FILING


def judge_filing(name: str, words: Sequence[Word]) -> Judged:
    """Judge a program that changes files.

    Args:
        words: the arguments after the name.
    """
    if [word.value for word in words] in (["--version"], ["--help"]):
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} prints its version or help")
    return _FILING[name](name, sort_arguments(words, valued=_VALUED.get(name, ())))


def reaches_beyond(word: Word) -> bool:
    """Whether removing this recursively would reach the workspace itself, the home, the system, or what nobody knows."""
    text = word.known
    if "\0" in text:
        head = text.partition("\0")[0]
        return not head.strip("./") or head.startswith("/")
    if word.tilde and text.strip("/") in ("~", "~/*", "~/.", "~/.*"):
        return True
    clean = normpath(text) if text else "."
    if clean in _ROOTS or clean.startswith("//") or set(clean) <= set("./*?"):
        return True
    base = clean.removesuffix("/*").removesuffix("/.*")
    return base in _SYSTEM or base == "" or (base.count("/") == 2 and base.startswith(("/home/", "/Users/")))


def _rm(name: str, given: Arguments) -> Judged:
    recursive = given.has("-r", "-R", "--recursive", "-d", "--no-preserve-root")
    unsure = given.dynamic or any(word.glob or word.value is None for word in given.operands)
    fatal = given.has("--no-preserve-root") or (recursive and any(reaches_beyond(word) for word in given.operands))
    if recursive or unsure or not given.operands:
        reason = (
            "removes the root, the home or the whole workspace" if fatal else "removes folders or what a pattern names"
        )
        return Judged(kind=Kind.DESTRUCTIVE, reason=reason, writes=given.operands, fatal=fatal)
    return Judged(kind=Kind.WRITE, reason=f"{name} removes the named files", writes=given.operands)


def _shred(name: str, given: Arguments) -> Judged:
    return Judged(kind=Kind.DESTRUCTIVE, reason=f"{name} overwrites or removes for good", writes=given.operands)


def _plain(name: str, given: Arguments) -> Judged:
    if name == "split" and (given.has("--filter") or given.dynamic):
        return Judged(kind=Kind.UNKNOWN, reason="split --filter runs a command")
    targets = given.of("-t", "--target-directory", "-p") + (given.of("-f") if name == "csplit" else ())
    return Judged(kind=Kind.WRITE, reason=f"{name} changes files", writes=(*given.operands, *targets), reads=())


def _copy(name: str, given: Arguments) -> Judged:
    targets = given.of("-t", "--target-directory")
    if targets:
        sources, written = given.operands, targets
    else:
        sources, written = given.operands[:-1], given.operands[-1:]
    moved = sources if name == "mv" else ()
    if name == "ln":  # a link opens its target to everything that follows it
        return Judged(kind=Kind.WRITE, reason="ln makes a link", writes=(*sources, *written))
    return Judged(kind=Kind.WRITE, reason=f"{name} changes files", reads=sources, writes=(*moved, *written))


def _modes(name: str, given: Arguments) -> Judged:
    files = given.operands if given.has("--reference") else given.operands[1:]
    recursive = given.has("-R", "--recursive")
    if recursive and any(reaches_beyond(word) for word in files if word.known not in (".", "./")):
        return Judged(
            kind=Kind.DESTRUCTIVE, reason=f"{name} changes the rights of the root or the home", writes=files, fatal=True
        )
    mode = given.operands[0].known if given.operands else ""
    if name == "chmod" and ("s" in mode or (mode.isdigit() and len(mode) > 3 and mode[-4] != "0")):
        return Judged(kind=Kind.DESTRUCTIVE, reason="sets the set-user-id bit", writes=files)
    kind = Kind.WRITE if name == "chmod" else Kind.DESTRUCTIVE
    return Judged(kind=kind, reason=f"{name} changes rights or owners", writes=files)


def _tar(name: str, given: Arguments) -> Judged:
    archive = given.of("-f", "--file")
    first = given.operands[0].known if given.operands else ""
    letters = first if not archive and first.isalpha() else ""
    named = archive or (given.operands[1:2] if "f" in letters else ())
    if not given.only(_TAR_KNOWN) or given.dynamic or not set(letters) <= set("ctxvzjJfpkhaP"):
        return Judged(kind=Kind.UNKNOWN, reason="tar may run another program by this option")
    if any(":" in word.known.partition("/")[0] or word.value is None for word in named):
        return Judged(kind=Kind.NETWORK, reason="tar asks another machine for an archive with a colon in its name")
    if given.has("-t", "--list") or "t" in letters:
        return Judged(kind=Kind.READ_ONLY, reason="tar lists", reads=archive or given.operands[1:])
    if given.has("-P", "--absolute-names") or "P" in letters:
        return Judged(kind=Kind.DESTRUCTIVE, reason="tar writes outside the folder", writes=given.operands)
    extracting = given.has("-x", "--extract", "--get") or "x" in letters
    places = given.of("-C", "--directory")
    if extracting:
        return Judged(kind=Kind.WRITE, reason="tar unpacks files", reads=archive or given.operands[1:], writes=places)
    return Judged(
        kind=Kind.WRITE,
        reason="tar makes an archive",
        reads=given.operands[1:] if letters else given.operands,
        writes=(*archive, *places),
    )


_TAR_KNOWN = names(
    "-c -t -x -v -z -j -J -f -C -p -k -h -a -P -X --create --list --extract --get --verbose --gzip --bzip2 --xz --zstd "
    "--file --directory --exclude --exclude-vcs --strip-components --keep-old-files --dereference --auto-compress "
    "--absolute-names --no-same-owner --no-same-permissions --wildcards --force-local --sort --mtime --owner --group "
    "--numeric-owner --totals --help --version"
)
_ZIP_KNOWN = names("-r -q -j -x -i -u -m -e -y -D -X -v -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --exclude")
_UNZIP_KNOWN = names("-l -p -v -t -Z -q -o -d -x -n -j -u -1")


def _tee(name: str, given: Arguments) -> Judged:
    files = tuple(word for word in given.operands if word.known not in ("/dev/null", "/dev/stdout", "/dev/stderr"))
    if not files and not given.dynamic:
        return Judged(kind=Kind.READ_ONLY, reason=f"{name} writes no file")
    return Judged(kind=Kind.WRITE, reason=f"{name} writes its files", writes=files)


def _dd(name: str, given: Arguments) -> Judged:
    out = [word for word in given.operands if word.known.startswith("of=")]
    device = any(
        word.known.startswith("of=/dev/") and word.known not in ("of=/dev/null", "of=/dev/stdout") for word in out
    )
    reads = tuple(tail(word, 3) for word in given.operands if word.known.startswith("if="))
    reason = f"{name} overwrites what it is pointed at"
    writes = tuple(tail(word, 3) for word in out)
    return Judged(kind=Kind.DESTRUCTIVE, reason=reason, reads=reads, writes=writes, fatal=device)


def _archive_list(name: str, given: Arguments) -> Judged:
    if not given.only(_ZIP_KNOWN if name == "zip" else _UNZIP_KNOWN) or given.dynamic:
        return Judged(kind=Kind.UNKNOWN, reason=f"{name} may run another program by this option")
    if name == "unzip" and given.has("-l", "-t", "-p", "-Z", "-v"):
        return Judged(kind=Kind.READ_ONLY, reason="unzip lists", reads=given.operands)
    return Judged(kind=Kind.WRITE, reason=f"{name} packs or unpacks files", writes=(*given.operands, *given.of("-d")))


def _rsync(name: str, given: Arguments) -> Judged:
    remote = any(":" in word.known.partition("/")[0] for word in given.operands)
    if remote or given.has("-e", "--rsh", "--rsync-path"):
        return Judged(kind=Kind.NETWORK, reason="rsync talks to another machine")
    if not given.only(_RSYNC_KNOWN) or given.dynamic:
        return Judged(kind=Kind.UNKNOWN, reason="rsync may run or write something by this option")
    kind = Kind.DESTRUCTIVE if given.has("--delete", "--remove-source-files", "--del") else Kind.WRITE
    return Judged(kind=kind, reason=f"{name} copies files", reads=given.operands[:-1], writes=given.operands[-1:])


_RSYNC_KNOWN = names(
    "-a -v -r -z -h -P -n -q -u -l -p -t -g -o -D -c -i --archive --recursive --exclude --include --delete --del "
    "--remove-source-files --dry-run --progress --stats --update --checksum --verbose --human-readable --delete-after"
)


def _patch(name: str, given: Arguments) -> Judged:
    named = given.operands[:1] or (Word(text="the files of the patch", pieces=(None,)),)
    writes = (*named, *given.of("-d", "--directory", "-o", "--output", "-r"))
    return Judged(
        kind=Kind.WRITE,
        reason=f"{name} changes the files that the patch names",
        reads=given.of("-i", "--input"),
        writes=writes,
    )


_FILING: dict[str, Callable[[str, Arguments], Judged]] = {
    **dict.fromkeys(("rm", "unlink", "rmdir"), _rm),
    **dict.fromkeys(("shred", "wipe", "truncate", "srm", "trash"), _shred),
    **dict.fromkeys(
        names("touch mkdir mkfifo mktemp split csplit gzip gunzip bzip2 xz unxz zstd dos2unix unix2dos setfacl"), _plain
    ),
    **dict.fromkeys(("cp", "mv", "ln", "install", "link"), _copy),
    **dict.fromkeys(("chmod", "chown", "chgrp", "chattr"), _modes),
    **dict.fromkeys(("tar", "bsdtar"), _tar),
    **{
        "tee": _tee,
        "sponge": _tee,
        "dd": _dd,
        "zip": _archive_list,
        "unzip": _archive_list,
        "rsync": _rsync,
        "patch": _patch,
    },
}
