"""Excerpts of source for a context: whole small files, the named symbols of large ones, an outline, a sample of test style."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.tokens import count_tokens, cut_middle

if TYPE_CHECKING:
    from agentforge.workspace.relevance import Candidate
    from agentforge.workspace.symbols import Symbol

_TEST_SAMPLE_LINES = 60
_LEAST_EXCERPT = 60
_MOST_EXCERPT = 420
_MARK = 10  # the line that says which lines follow
_QUOTES = ('"""', "'''", 'r"""', "r'''")
_DEFINING = ("def ", "class ", "async def ", "@")
_IMPORTING = ("import ", "from ", "use ", "#include", "package ", "const ", "require")
_SMALL_CLASS = 40  # lines
_STANDS_OUT = 1.5  # times the score of the next file


def code_of(root: Path, path: str, names: Iterable[str], *, lines: Iterable[int] = (), limit: int) -> str:
    """Source of a file as it is: whole when it costs at most `limit` tokens, else its head, the named symbols and the lines.

    Args:
        names: dotted names of symbols that must be seen.
        lines: numbers of lines that matter; a symbol too long for its share is shown around those inside it.
    """
    from agentforge.workspace.codemap import source_of

    text = _text(root / path)
    if count_tokens(text) <= limit:
        return text
    head = cut_middle(_head(text), limit=max(64, limit // 6))
    parts, room, open_lines = [], limit - count_tokens(head), set(lines)
    for source in [found for name in names if (found := source_of(root, path, name)) is not None]:
        inside = {number for number in open_lines if source.line <= number <= source.end_line}
        open_lines -= inside
        shown = _around(source.text, {number - source.line for number in inside}, limit=max(64, room * 3 // 4))
        room -= count_tokens(shown) + _MARK
        parts.append(f"# ... lines {source.line}-{source.end_line}:\n{shown}")
        if room < _LEAST_EXCERPT:
            break
    if open_lines and room >= _LEAST_EXCERPT:
        parts.append(_around(text, {number - 1 for number in open_lines}, limit=room))
        return "\n".join(parts)
    if not parts:
        return cut_middle(text, limit=limit)
    return f"{head}\n" + "\n".join(parts)


def _around(text: str, focus: set[int], *, limit: int) -> str:
    """The first lines and those around `focus` (counted from 0) within `limit` tokens; without a focus the code before the
    docstring."""
    rows = text.split("\n")
    wanted = {index for index in focus if 1 < index < len(rows)}
    if count_tokens(text) <= limit:
        return text
    shown = cut_middle(_with_short_docstring(rows), limit=limit)
    if not wanted:
        return shown
    for radius in range(2, len(rows), 2):
        kept = {0, 1} | {index for middle in wanted for index in range(middle - radius, middle + radius + 1)}
        wider = _with_gaps(rows, kept)
        if count_tokens(wider) > limit:
            break
        shown = wider
    return shown


def _with_short_docstring(rows: list[str]) -> str:
    start = next((index for index, row in enumerate(rows[:12]) if row.strip().startswith(_QUOTES)), len(rows))
    end = next((index for index in range(start + 1, len(rows)) if rows[index].rstrip().endswith(('"""', "'''"))), 0)
    if end < start + 4 or rows[start].count('"""') + rows[start].count("'''") > 1:
        return "\n".join(rows)
    gap = f"    ... {end - start - 1} lines of the docstring omitted ..."
    return "\n".join([*rows[: start + 1], gap, *rows[end:]])


def _with_gaps(rows: list[str], kept: set[int]) -> str:
    out, omitted = [], 0
    for index, row in enumerate([*rows, ""]):
        if omitted and (index in kept or index == len(rows)):
            out.append(f"... {omitted} lines omitted ...")
            omitted = 0
        if index < len(rows) and index in kept:
            out.append(row)
        elif index < len(rows):
            omitted += 1
    return "\n".join(out)


def candidate_text(candidate: Candidate, *, symbols: int) -> str:
    """A candidate file with its best symbols, one line each."""
    lines = [candidate.path + (" (tests)" if candidate.is_test else "")]
    for symbol in candidate.symbols[:symbols]:
        doc = f"  # {symbol.doc}" if symbol.doc else ""
        lines.append(f"  {symbol.line}-{symbol.end_line} {symbol.signature}{doc}")
    return "\n".join(lines)


def likeliest_source(
    root: Path, candidates: Iterable[Candidate], *, named: Iterable[str] = (), limit: int
) -> list[str]:
    """Source of the best symbols of the best files, within `limit` tokens together; a file that stands out has it all.

    Args:
        named: words of the request; symbols that bear one of them come first.
    """
    from agentforge.workspace.codemap import source_of

    parts: list[str] = []
    best, words = list(candidates)[:3], {word.rpartition(".")[2] for word in named}
    if best and best[0].symbols and (len(best) == 1 or best[0].score >= _STANDS_OUT * best[1].score):
        callables = [symbol for symbol in best[0].symbols if symbol.kind != "class"]
        callables.sort(key=lambda symbol: symbol.name not in words)
        names = [symbol.qualified for symbol in callables]
        return [f"--- {best[0].path}\n{code_of(root, best[0].path, names, limit=limit)}"]
    for candidate in best:
        for symbol in [item for item in candidate.symbols if _tells(item)][:2]:
            source = source_of(root, candidate.path, symbol.qualified)
            if source is None or limit < _LEAST_EXCERPT:
                continue
            text = cut_middle(source.text, limit=min(limit, _MOST_EXCERPT))
            limit -= count_tokens(text)
            parts.append(f"--- {candidate.path} lines {source.line}-{source.end_line}\n{text}")
    return parts


def _tells(symbol: Symbol) -> bool:
    """A function or a small class; the line of a variable stands in the list already."""
    return symbol.kind != "variable" and (symbol.kind != "class" or symbol.end_line - symbol.line < _SMALL_CLASS)


def test_sample(root: Path, *, near: Iterable[str], tests: list[str], names: Iterable[str] = ()) -> str:
    """The start of the test file that most likely shows the style for the files `near`: by its name, else by its words.

    Args:
        names: symbols that matter; the file that speaks of them most is taken when no name fits.
    """
    candidates = [path for path in tests if (root / path).is_file() and not path.endswith("__init__.py")]
    if not candidates:
        return ""
    stems = {Path(path).stem.strip("_") for path in near}
    kin = {path: _kinship(path, stems) for path in candidates}
    if not any(kin.values()):
        words = {name.rsplit(".", 1)[-1] for name in names}
        kin = {path: sum(text.count(word) for word in words) for path in candidates if (text := _text(root / path))}
    best = max(candidates, key=lambda path: (kin.get(path, 0), Path(path).name != "conftest.py", -len(path)))
    lines = _text(root / best).split("\n")
    first = _after_opening(lines)
    shown = "\n".join(lines[first : first + _TEST_SAMPLE_LINES])
    return f"--- {best} (lines {first + 1}-{min(len(lines), first + _TEST_SAMPLE_LINES)} of {len(lines)})\n{shown}"


def _after_opening(lines: list[str]) -> int:
    """Where the imports begin: licence and docstring show no style."""
    starts = (number for number, line in enumerate(lines) if line.startswith(("import ", "from ")))
    return next(starts, 0)


def _kinship(path: str, stems: set[str]) -> int:
    name = Path(path).stem.lower()
    return sum(len(stem) for stem in stems if stem and stem.lower() in name)


def _head(text: str) -> str:
    """What stands before the first function or class: imports and constants, without the licence and the long words before."""
    lines = text.split("\n")
    end = next((index for index, line in enumerate(lines) if line.startswith(_DEFINING)), min(40, len(lines)))
    start = next((index for index, line in enumerate(lines[:end]) if line.startswith(_IMPORTING)), 0)
    return "\n".join(lines[start:end]).strip("\n")


def _text(path: Path) -> str:
    from agentforge.workspace.files import read_text

    try:
        return read_text(path).text
    except (OSError, ValueError):
        return "(not a readable text file)"
