"""Finds new product code that replaces the clock, chance or a built-in of its process.

Objects that claim to be others are seen through where results are compared (`typed_comparison.py`); what a result depends on,
and what a call does beside giving it, is measured (`measured_dependencies.py`).

New against the base: the places of changed files that the files had nowhere before.

Finds new suppressions: what tells a checker or a test runner to look away.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from agentforge.languages.python.source import module_of
from agentforge.languages.test_parts import may_hold_tests, with_blank_tests
from agentforge.workspace.git.repository import Read

_PATCHED = frozenset(
    {"time", "random", "datetime", "builtins", "math", "operator", "json", "unittest", "pytest", "_pytest"}
)


def new_replacements(changed: Iterable[str], *, before: Read, after: Read) -> tuple[Place, ...]:
    """List the places of changed product files that replace such a thing, and did not at the base.

    Args:
        changed: product files; see `stages/product_files.py`.
    """
    return new_places([path for path in changed if path.endswith(".py")], _replacements, before=before, after=after)


def _replacements(_path: str, data: bytes) -> list[tuple[int, str]]:
    return sorted(set(_patches(module_of(data))))


def _patches(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Assignments to clock, chance and built-ins."""
    modules = {
        alias.asname or alias.name: alias.name for alias in _imports(tree) if alias.name.split(".")[0] in _PATCHED
    }
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        named = [one for one in targets if isinstance(one, ast.Attribute)]
        owners = [(one.value, one.attr) for one in named]
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("setattr", "builtins.setattr")
            and len(node.args) == 3
        ):
            owners = [(node.args[0], ast.unparse(node.args[1]))]
        for owner, attribute in owners:
            name = ast.unparse(owner)
            if name in modules:
                yield node.lineno, f"{name}.{attribute.strip(chr(39))} is replaced"  # type: ignore[attr-defined]  # statement or call


def _imports(tree: ast.Module) -> Iterator[ast.alias]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from node.names
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield ast.alias(name=node.module, lineno=node.lineno, col_offset=0)


Reader = Callable[[str, bytes], Iterable[tuple[int, str]]]
"""Given a path and the file's bytes, names (line, text) of the places of one kind."""
_MOST_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place that the base does not have."""

    path: str
    line: int
    text: str


def new_places(changed: Iterable[str], reader: Reader, *, before: Read, after: Read) -> tuple[Place, ...]:
    """List the places of changed files that the base does not have; one that only moved, even to another file, is not new."""
    files = tuple(changed)
    known = Counter(text for path in files for _, text in reader(path, before(path) or b""))
    found: list[Place] = []
    for path in files:
        for line, text in reader(path, after(path) or b""):
            if known[text] > 0:
                known[text] -= 1
            else:
                found.append(Place(path=path, line=line, text=text[:_MOST_CHARS]))
    return tuple(found)


_COMMENT = re.compile(
    r"#\s*(?:type:\s*ignore|noqa\b|pragma:\s*no\s*(?:cover|branch)|pylint:\s*disable|mypy:\s*ignore|pyright:\s*ignore"
    r"|ruff:\s*noqa|nosec\b|fmt:\s*(?:off|skip)|ty:\s*ignore)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"eslint-disable|@ts-(?:ignore|expect-error|nocheck)|istanbul ignore|c8 ignore|prettier-ignore"
    r"|//\s*nolint|#!?\[allow\(|#\[ignore|#!?\[cfg_attr\([^)]*ignore"
    r"|\b(?:describe|context|suite|test|it|specify)(?:\.\w+)*\.(?:skip|only|todo|fails|failing|skipIf|runIf)\b"
    r"|\b(?:xit|xtest|xdescribe|xcontext|fit|fdescribe)\s*\(|\bt\.(?:Skip|Skipf|SkipNow)\("
    r"|@(?:Disabled\w*|Ignore|SuppressWarnings|SuppressFBWarnings)\b|CHECKSTYLE[:. ]OFF|//\s*NOSONAR|//\s*NOPMD"
)
_CONDITION = re.compile(r"\bcfg(?:_attr)?\s*!?\s*\(")
_QUOTED = re.compile(r'"[^"]*"')
_ASSERTING = re.compile(
    r"\bmacro_rules\s*!\s*(?:debug_)?(?:assert|assert_eq|assert_ne|panic|matches)\b"
    r"|\bas\s+(?:debug_)?(?:assert|assert_eq|assert_ne|panic|matches)\b"
)
_SKIPS = frozenset({"skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure", "importorskip", "skipTest"})
_OWNERS = frozenset({"pytest", "mark", "unittest", "self"})
_OTHER_LANGUAGES = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".go", ".rs", ".java", ".kt")


def new_suppressions(changed: Iterable[str], *, before: Read, after: Read) -> tuple[Place, ...]:
    """List suppressions that the base does not have in the changed files: not those that moved or whose line was edited."""
    files = tuple(changed)
    found = _without_carried(new_places(files, _suppressions, before=before, after=after), files, before, after)
    kept: dict[str, list[int]] = {
        path: _edited_lines(before(path), after(path)) for path in {one.path for one in found}
    }
    return tuple(one for one in found if one.line not in kept[one.path])


def _without_carried(found: Iterable[Place], files: Sequence[str], before: Read, after: Read) -> list[Place]:
    """The places but those in which an expression of the base stands with its own suppression, on a line of another form."""
    had, has = (
        Counter(text for path in files for text in suppressed_lines(path, read(path))) for read in (before, after)
    )
    gone = list((had - has).elements())
    left = []
    for one in found:
        carried = next((text for text in gone if _carries(one.text, text)), None)
        if carried is None:
            left.append(one)
        else:
            gone.remove(carried)
    return left


def _carries(line: str, old: str) -> bool:
    """Whether a line ends in the comment of an old one, and its code holds the old one's, or is a part of it."""
    sign = _comment_at(line)
    code, before = (text[: len(text) - len(_comment_at(text))].strip() for text in (line, old))
    shorter, longer = sorted((code, before), key=len)
    return bool(sign) and sign == _comment_at(old) and shorter in longer and re.search(r"\w{3}", shorter) is not None


def _edited_lines(before: bytes | None, after: bytes | None) -> list[int]:
    """Lines that end in the comment of the very line whose place they take: its code was changed, and what it hides was not."""
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    found: list[int] = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace" and last - first == end - start:
            pairs = zip(old[first:last], range(start, end), strict=True)
            found += [
                number + 1 for line, number in pairs if (sign := _comment_at(line)) and sign == _comment_at(new[number])
            ]
    return found


def _comment_at(line: str) -> str:
    """The comment with which a line suppresses something; "" where it has none."""
    match = _COMMENT.search(line)
    return line[match.start() :].strip() if match else ""


def suppressed_lines(path: str, data: bytes | None) -> list[str]:
    """The lines of a file that suppress something, stripped."""
    return [text for _line, text in _suppressions(path, data or b"")]


def _suppressions(path: str, data: bytes) -> Iterator[tuple[int, str]]:
    if path.endswith(".py"):
        yield from _of_python(data)
    elif path.endswith(_OTHER_LANGUAGES):
        inside = may_hold_tests(path)
        text = (with_blank_tests(path, data) if inside else data).decode("utf-8", "replace")
        aside = {text.count("\n", 0, at) + 1 for at in _under_tests(text)} if inside else ()
        for number, line in enumerate(text.splitlines(), start=1):
            if _OTHER.search(line) or number in aside:
                yield number, line.strip()


def _under_tests(text: str) -> Iterator[int]:
    """Where a product file of Rust becomes another one under its own tests: by a condition, or by an assertion of its own."""
    yield from (found.start() for found in _ASSERTING.finditer(text))
    for found in _CONDITION.finditer(text):
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        if re.search(r"\btest\b", _QUOTED.sub("", text[found.end() : end])):
            yield found.start()


def _of_python(data: bytes) -> Iterator[tuple[int, str]]:
    lines = data.decode("utf-8", "replace").splitlines()
    numbers: set[int] = set()
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT and _COMMENT.search(token.string):
                numbers.add(token.start[0])
        tree = ast.parse(data)
        numbers |= set(_skips(tree))
    except (tokenize.TokenError, SyntaxError, ValueError):
        numbers |= {number for number, line in enumerate(lines, start=1) if _COMMENT.search(line)}
    for number in sorted(numbers):
        yield number, lines[number - 1].strip() if number <= len(lines) else ""


def _skips(tree: ast.Module) -> Iterator[int]:
    """Lines with `pytest.mark.skip`, `pytest.skip(...)`, `unittest.skipIf(...)`, `self.skipTest(...)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _SKIPS:
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
            if name in _OWNERS:
                yield node.lineno


_NOQA = re.compile(r"#\s*noqa:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)", re.IGNORECASE)
_ANY = re.compile(r"#\s*(?:noqa|type:|pragma:|pylint:|mypy:|pyright:|ruff:|nosec|fmt:|ty:)|skip|xfail", re.IGNORECASE)
_COVERAGE = re.compile(r"#\s*pragma:\s*no\s*(?:cover|branch)\b", re.IGNORECASE)
_DEFECTS = ("E9", "F4", "F5", "F6", "F7", "F8", "F9", "B", "S", "PLE", "ASYNC", "BLE", "TRY")
"""Rules that hide a defect, not a taste: nobody's practice excuses a new one. F401 and F403 are about taste in a package."""
_TASTE = ("F401", "F403")


def by_practice(found: Sequence[Place], *, before: Read) -> tuple[list[Place], list[Place]]:
    """Part new suppressions into those that are refused and those that are only told.

    Told is a `# noqa: CODE` alone on its line, whose every code is of taste and is suppressed by the same code in the same
    file at the base, and a `# pragma: no cover`: which lines no test runs is measured without heeding it. Bare ones, type
    ignores, skips and everything else are refused.
    """
    refused: list[Place] = []
    told: list[Place] = []
    for one in found:
        codes = _codes(one.text)
        practised = {code for text in suppressed_lines(one.path, before(one.path)) for code in _codes(text)}
        is_told = _is_of_coverage(one.text) or (codes and codes <= practised)
        (told if is_told else refused).append(one)
    return refused, told


def _is_of_coverage(line: str) -> bool:
    """Whether a line only tells the project's own measurement of coverage to look away."""
    return bool(_COVERAGE.search(line)) and len(_ANY.findall(line)) == 1


def _codes(line: str) -> frozenset[str]:
    """The codes of taste that a line suppresses; none when it suppresses anything else, too."""
    match = _NOQA.search(line)
    if match is None or len(_ANY.findall(line)) != 1:
        return frozenset()
    codes = frozenset(code.upper() for code in re.split(r"[,\s]+", match["codes"]))
    grave = any(code.startswith(_DEFECTS) and code not in _TASTE for code in codes)
    return frozenset() if grave else codes
