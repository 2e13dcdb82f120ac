"""Where a path leads and what that means: the workspace, protected places, secrets, the machine. No file is opened here."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from posixpath import dirname, join, normpath

from agentforge.frozen import dataclass
from agentforge.guarded import NEVER, ONLY_BY_NAME, is_secret, may_name_secret
from agentforge.safety.policy.modes import Consent
from agentforge.safety.shell.grammar.syntax import Word, names

SCRATCH = ("/tmp", "/var/tmp")
"""Folders that are private to the sandbox: a command tries things there."""

_READABLE = names("/usr /lib /lib64 /bin /sbin /opt /etc /sys /proc")
_DEVICES = frozenset(
    names("/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/stdin /dev/stdout /dev/stderr /dev/tty")
)
_PROC_LINK = re.compile(r"/+proc/[^/]+/(?:cwd|root|fd|task)/")
_PROC_SECRET = re.compile(
    r"/proc/[^/]+/(?:environ|mem|maps|fd|cwd|root|exe|task)(?:/.*)?|/proc/(?:kcore|kmem|sysrq-trigger).*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPolicy:
    """Where the call would happen.

    Attributes:
        root: the workspace, absolute, links resolved.
        folder: where the command starts, absolute.
        home: the user's home directory.
        scratch: folders that are private to the sandbox, so that they may be read and written; none without a sandbox.
        real: resolves an absolute path's links; the path need not exist.
        named: protected files that may be written because they are named (by the specification).
    """

    root: str
    folder: str
    home: str
    scratch: tuple[str, ...] = SCRATCH
    real: Callable[[str], str] = normpath
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFinding:
    """What a path means for a call; `verdict` allow means that nothing speaks against it."""

    verdict: Consent
    reason: str = ""
    path: str = ""


def absolute(word: Word, folder: str | None, ground: PathPolicy) -> str | None:
    """The absolute path that a word stands for, its pattern characters kept; None when only the run knows it.

    Args:
        folder: relative to `ground.folder`; None when unknown.
    """
    text = word.value
    if text is None:
        return None
    if word.glob:
        *above, last = text.split("/")
        text = "/".join([*(".." if may_climb(part) else part for part in above), last])
    if word.tilde:
        head, _, rest = text.partition("/")
        if head in ("~+", "~-"):
            return None
        if head != "~":  # the home of another user
            return normpath(join("/home", head[1:], rest))
        return _resolved(join(ground.home, rest), ground)
    if text.startswith("/"):
        return _resolved(text, ground)
    return None if folder is None else _resolved(join(folder_of(folder, ground), text), ground)


def folder_of(folder: str, ground: PathPolicy) -> str:
    """The absolute place of a folder in which a command runs, as `flow.folders_after` names it."""
    if folder.split("/", 1)[0] == "~":
        return ground.home + folder[1:]
    return join(ground.folder, folder)


def _resolved(path: str, ground: PathPolicy) -> str | None:
    """The path without `..`, as the kernel climbs: from where a link leads. A link that a pattern may name is unknown."""
    if _PROC_LINK.match(path):
        return path  # leads to where the command runs, not to where this program does
    plain = normpath(path)
    if "/../" not in f"{path}/" or plain == path:
        return plain
    now = "/"
    for part in path.split("/"):
        if part == "..":
            if _is_pattern(now):
                return None if is_below(plain, ground.root) else plain
            now = dirname(_real(now, ground))
        elif part not in ("", "."):
            now = join(now, part)
    return now


def may_climb(part: str) -> bool:
    """Whether a part of a path is a pattern that names the folder above, too: `.*`, `.?`, `.[.]`."""
    return part.startswith(".") and _is_pattern(part) and fnmatchcase("..", part)


def judge_steering(path: str | None, ground: PathPolicy) -> PathFinding:
    """Judge a path from which a program takes what it runs: its project, its configuration, its plugins, its folder."""
    if path is None:
        return PathFinding(verdict=Consent.ASK, reason="takes what it runs from a path that only the run knows")
    if path in _DEVICES:
        return PathFinding(verdict=Consent.ALLOW, path=path)
    real = _real(_climbed(path), ground)
    if _inside(real, (ground.root, *ground.scratch)):
        return PathFinding(verdict=Consent.ALLOW, path=real)
    return PathFinding(verdict=Consent.ASK, reason=f"takes what it runs from {path}, outside the workspace", path=real)


def _climbed(path: str) -> str:
    """The path, from the folder above where its last part is a pattern that names that one, too."""
    head, _, last = path.rpartition("/")
    return dirname(head) or "/" if may_climb(last) else path


def judge_write(path: str | None, ground: PathPolicy) -> PathFinding:
    """Judge a path that would be written or removed; None is a path that only the run knows."""
    if path is None:
        return PathFinding(verdict=Consent.ASK, reason="writes to a path that only the run knows")
    if path in _DEVICES:
        return PathFinding(verdict=Consent.ALLOW, path=path)
    if re.match(r"/dev/(?:tcp|udp)/", path):
        return PathFinding(verdict=Consent.DENY, reason=f"{path} is a network connection", path=path)
    real = _real(_climbed(path), ground)
    if _inside(real, ground.scratch) and not _inside(real, (ground.root,)) and _inside(path, ground.scratch):
        return PathFinding(verdict=Consent.ALLOW, path=real)
    inside = _below(real, ground.root)
    if inside is None:
        return PathFinding(verdict=Consent.DENY, reason=f"{path} lies outside the workspace", path=real)
    found = _protected(inside, ground.named) or _protected_pattern(path, ground)
    if found is not None:
        return PathFinding(verdict=Consent.DENY, reason=f"{inside or path} is protected: {found}", path=real)
    return PathFinding(verdict=Consent.ALLOW, path=real)


def judge_read(path: str | None, ground: PathPolicy) -> PathFinding:
    """Judge a path that would be read; None is a path that only the run knows."""
    if path is None:
        return PathFinding(verdict=Consent.ASK, reason="reads a path that only the run knows")
    if path in _DEVICES:
        return PathFinding(verdict=Consent.ALLOW, path=path)
    if re.match(r"/dev/(?:tcp|udp)/", path):
        return PathFinding(verdict=Consent.DENY, reason=f"{path} is a network connection", path=path)
    real = _real(path, ground)
    if is_secret(path) or is_secret(real) or _PROC_SECRET.fullmatch(path) or _PROC_SECRET.fullmatch(real):
        return PathFinding(verdict=Consent.ASK, reason=f"{path} may hold secrets", path=real)
    if _below(real, ground.root) is None and not _inside(real, ground.scratch) and may_name_secret(path):
        return PathFinding(verdict=Consent.ASK, reason=f"{path} may name a file that holds secrets", path=real)
    if _below(real, ground.root) is None and not _inside(real, (*_READABLE, *ground.scratch)):
        return PathFinding(verdict=Consent.ASK, reason=f"{path} lies outside the workspace", path=real)
    return PathFinding(verdict=Consent.ALLOW, path=real)


def _real(path: str, ground: PathPolicy) -> str:
    """Where a path leads; what cannot be found out lies nowhere that is open."""
    try:
        return ground.real(_fixed(path))
    except OSError:  # a link that only another process may follow, such as /proc/1/root
        return f"/proc/unknown/root{path}"


def _protected(inside: str, named: tuple[str, ...]) -> str | None:
    """Why a path of the workspace is protected at any depth, or None."""
    parts = inside.split("/")
    lower = [part.casefold() for part in parts]
    found = next((name for name in NEVER if name in lower), None)
    if found is not None:
        return f"{found} steers git or the harness"
    for name in ONLY_BY_NAME:
        wanted = name.split("/")
        spans = [lower[place : place + len(wanted)] for place in range(len(lower))]
        if wanted in spans and inside not in named:
            return f"{name} runs something later"
    return None


def _protected_pattern(path: str, ground: PathPolicy) -> str | None:
    """Whether a pattern such as `.g*` may name a protected place."""
    below = _below(path, ground.root)
    if below is None or not _is_pattern(below):
        return None
    for part in below.split("/"):
        if _is_pattern(part) and part.startswith("."):
            hit = next((name for name in (*NEVER, *ONLY_BY_NAME) if fnmatchcase(name.split("/")[0], part)), None)
            if hit is not None:
                return f"the pattern may name {hit}"
    return None


def _fixed(path: str) -> str:
    """The part of a path before its first pattern character, as a folder."""
    if not _is_pattern(path):
        return path
    kept = []
    for part in path.split("/"):
        if _is_pattern(part):
            break
        kept.append(part)
    return "/".join(kept) or "/"


def _is_pattern(text: str) -> bool:
    return any(mark in text for mark in "*?[")


def is_below(path: str, root: str) -> bool:
    """Whether a path is a folder or lies in it; both absolute with links resolved."""
    return _below(path, root) is not None


def _below(path: str, root: str) -> str | None:
    """The path relative to a folder that holds it ("" for the folder itself), else None."""
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(root.rstrip("/") + "/") else None


def is_scratch(path: str | None, ground: PathPolicy) -> bool:
    """Whether a path lies in a folder that is private to the sandbox, and neither in the workspace nor around it."""
    real = _real(_climbed(path), ground) if path is not None else ""
    apart = not _inside(real, (ground.root,)) and not _inside(ground.root, (real,))
    return path is not None and apart and _inside(path, ground.scratch) and _inside(real, ground.scratch)


def _inside(path: str, roots: tuple[str, ...]) -> bool:
    return any(_below(path, root) is not None for root in roots)
