"""Where the links of documents lead: relative files and headings, in Markdown and reStructuredText. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from urllib.parse import unquote

from agentforge.verification.inert.context import text_of
from agentforge.workspace.git.repository import Read

MARKDOWN = (".md", ".markdown", ".mdx")
RST = (".rst",)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_LITERAL = re.compile(r"``[^`\n]+``(?!_)")
_REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
_INLINE = re.compile(r"\]\(\s*(?:<([^>\n]+)>|((?:[^\s()]|\([^\s()]*\))+))(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_DEFINED = re.compile(r"^ {0,3}\[[^\]^][^\]]*\]:\s*(?:<([^>\n]+)>|(\S+))", re.MULTILINE)
_TAG = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)\s*=\s*[\"']([^\"'\n]+)[\"']", re.IGNORECASE)
_DIRECTIVE = re.compile(r"^\s*\.\. (?:\|[^|\n]+\| )?(?:image|figure|include|literalinclude)::\s*(\S+)", re.MULTILINE)
_ROLE = re.compile(r"`[^`<\n]*<([^`>\n]+)>`__?")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-+)\s*$")
_NAMED = re.compile(
    r"\b(?:id|name)\s*=\s*[\"']([^\"']+)[\"']|\{:?\s*#([\w.:-]+)[^}]*\}|^\(([\w.-]+)\)=\s*$", re.MULTILINE
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|/|#$|\{|<|\$")
_MADE = re.compile(r"^(?:::: |--8<--|\.\. include|\{!|\{%|\{\{)|<[A-Z]\w+", re.MULTILINE)
_LINE = re.compile(r"L?\d+(?:-L?\d+)?")
_ENDINGS = ("", ".md", ".mdx", ".rst", ".markdown")
_INDEX = ("index.md", "README.md", "index.rst", "index.html")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteReference:
    """A link of a document as it stands there."""

    path: str
    line: int
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dangling:
    """A link that leads nowhere.

    Attributes:
        sort: file or heading, whichever is missing.
    """

    reference: RouteReference
    sort: str

    @property
    def why(self) -> str:
        """For people."""
        return f"links to {self.reference.target}, and there is no such {self.sort}"


def is_document(path: str) -> bool:
    """Whether the links of a file can be read here."""
    return path.lower().endswith((*MARKDOWN, *RST))


def references(path: str, text: str) -> Iterator[RouteReference]:
    """The relative links of a document, each with its line; code and remarks hold none."""
    rst = path.lower().endswith(RST)
    prose = _LITERAL.sub(lambda found: " " * len(found.group()), text) if rst else prose_of(text)
    for pattern in (_DIRECTIVE, _ROLE) if rst else (_INLINE, _DEFINED, _TAG):
        for found in pattern.finditer(prose):
            target = next(one for one in found.groups() if one is not None)
            if not _SCHEME.match(target):
                yield RouteReference(
                    path=path, line=prose.count("\n", 0, found.start(found.lastindex or 0)) + 1, target=target
                )


def prose_of(text: str) -> str:
    """A Markdown document with blanks in the place of its code and remarks; lines stay where they are."""
    text = _REMARK.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    out, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark.group(1)
            out.append("")
        elif fence:
            closing = mark is not None and mark.group(1).startswith(fence) and not line.strip(" `~")
            fence = "" if closing else fence
            out.append("")
        else:
            out.append(_CODE.sub(lambda found: " " * len(found.group()), line))
    return "\n".join(out)


class Library:
    """The documents of one tree: which files there are, and which headings they have."""

    def __init__(self, read: Read, files: Collection[str]) -> None:
        self._read, self._files = read, frozenset(files)
        self._anchors: dict[str, frozenset[str] | None] = {}

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(str(parent) for path in self._files for parent in PurePosixPath(path).parents)

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The files whose links can be read."""
        return tuple(sorted(path for path in self._files if is_document(path)))

    def dangling(self, path: str) -> list[Dangling]:
        """The links of a document that lead nowhere; one that leaves the repository is not looked at."""
        text = text_of(self._read(path))
        found = ((one, self._missing(one)) for one in references(path, text))
        return [Dangling(reference=one, sort=sort) for one, sort in found if sort]

    def count(self, path: str) -> int:
        """How many links of a document are looked at."""
        return sum(1 for _ in references(path, text_of(self._read(path))))

    def _missing(self, one: RouteReference) -> str:
        target, _, anchor = unquote(one.target).partition("#")
        place = one.path
        if target.partition("?")[0]:
            joined = _joined(PurePosixPath(one.path).parent, target.partition("?")[0])
            if joined is None:
                return ""
            found = self._resolved(joined)
            if found is None:
                return "file"
            place = found
        anchors = self._anchors_of(place) if anchor and is_document(place) else None
        if anchors is None or "." in anchor or ":" in anchor or _LINE.fullmatch(anchor):
            return ""
        return "" if _bare(anchor) in anchors else "heading"

    def _resolved(self, joined: str) -> str | None:
        """The file or folder that a path means; the way in which sites spell it is taken, too."""
        stem = joined.removesuffix("/").removesuffix(".html")
        candidates = [joined, *(f"{stem}{ending}" for ending in _ENDINGS), *(f"{stem}/{name}" for name in _INDEX)]
        return next((one for one in candidates if one in self._files or one in self._folders), None)

    def _anchors_of(self, path: str) -> frozenset[str] | None:
        """The headings of a document without their signs; None where other files or programs add to them."""
        if path not in self._anchors:
            text = text_of(self._read(path))
            known = path.lower().endswith(MARKDOWN) and not _MADE.search(prose_of(text))
            self._anchors[path] = frozenset(_bare(one) for one in _headings(text)) if known else None
        return self._anchors[path]


def new_dangling(
    before: Library, after: Library, changed: Callable[[str], bool]
) -> tuple[list[Dangling], list[Dangling]]:
    """The links that led somewhere before a change, or are new, and lead nowhere after it.

    Args:
        changed: whether a path was added, removed or changed.
    Returns:
        those that are a fault, and those in folders where links of the same sort lead nowhere at the base either: the project
        resolves them in a way of its own.
    """
    known = {(one.reference.path, one.reference.target) for path in before.documents for one in before.dangling(path)}
    habits = {
        (str(PurePosixPath(one.reference.path).parent), one.sort)
        for path in before.documents
        for one in before.dangling(path)
    }
    found = [
        one
        for path in after.documents
        for one in after.dangling(path)
        if (one.reference.path, one.reference.target) not in known and (changed(path) or changed(_aimed(one.reference)))
    ]
    usual = [one for one in found if (str(PurePosixPath(one.reference.path).parent), one.sort) in habits]
    return [one for one in found if one not in usual], usual


def _aimed(one: RouteReference) -> str:
    """The path that a link names, as it would stand in the repository; "" outside of it."""
    target = unquote(one.target).partition("#")[0].partition("?")[0]
    return (_joined(PurePosixPath(one.path).parent, target) or "") if target else one.path


def _joined(folder: PurePosixPath, target: str) -> str | None:
    """A path as seen from a folder; None where it leaves the repository."""
    parts: list[str] = list(folder.parts)
    for part in PurePosixPath(target).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def _headings(text: str) -> Iterator[str]:
    """Headings and anchors that are spelled out; a heading that stands several times has numbers."""
    prose, raw = prose_of(text).split("\n"), text.split("\n")
    counts: dict[str, int] = {}
    for number, line in enumerate(prose):
        found = _HEADING.match(raw[number]) if line.strip() else None
        under = number + 1 < len(prose) and line.strip() and _UNDERLINE.match(prose[number + 1])
        if found or under:
            name = _plain(found.group(1) if found else raw[number])
            yield name
            counts[name] = counts.get(name, 0) + 1
            yield from (f"{name}-{one}" for one in range(1, counts[name]))
    for found in _NAMED.finditer(text):
        yield next(one for one in found.groups() if one)


def _plain(heading: str) -> str:
    """A heading without what is not shown of it: targets of links, marks, attributes."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"\s*\{:?[^}]*\}\s*$|<[^>]+>", "", text)


def _bare(anchor: str) -> str:
    """Letters and digits alone: sites make anchors of headings in several ways, and agree in these."""
    return re.sub(r"[\W_]+", "", anchor).casefold()
