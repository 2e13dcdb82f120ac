"""The corpus of `bench/recall.py`: which commits of real projects stand for requests, and what each of them truly changed.

    python -m bench.recall_corpus --repos DIR            choose the commits again, by the seed that the file records

The data file holds names and hashes only. A clone is looked for as DIR/OWNER+NAME/repo, DIR/OWNER+NAME, DIR/OWNER/NAME or
DIR/NAME.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from agentforge.errors import RepositoryError
from agentforge.evals.history.commits import ChangedFile, History, HistoryCommit, Range
from agentforge.workspace.code.symbols import Symbol, language_of, outline_of

CORPUS = Path(__file__).with_name("recall_corpus.yaml")
SEED = 20261123
_EACH = 6
_MOST_FILES, _MOST_LINES, _LEAST_WORDS = 6, 150, 4
_LOOKED_AT = 400  # commits of one project, at most
_TRAILER = re.compile(
    r"^(?:[A-Z][A-Za-z-]+-by|Change-Id|git-svn-id|Closes|Fixes|Refs?|See|PiperOrigin-RevId):? ?.*$|^Source-.*$", re.M
)
_NUMBER = re.compile(
    r"\(?(?:\b(?:GH-|PR |pull request |(?:fix|clos|resolv)(?:e|es|ed|s)? ))?#\d+\)?|https?://\S+", re.I
)
_CHORE = re.compile(
    r"^(?:version|v?\d)|\b(?:bump\w*|releas(?:e|ing)|changelog|typos?|spelling|(?:re)?formatting|reformat|prettier|black|ruff|isort|gofmt"
    r"|rustfmt|lint\w*|flake8|clippy|whitespace|pep ?8|vendored|revert|travis|copyright|license|docs?|docstrings?|comments?"
    r"|readme|pyupgrade|pre-commit|cosmetic|version to|dependenc(?:y|ies))\b",
    re.I,
)
_NOT_PRODUCT = re.compile(
    r"(?:^|/)(?:docs?|examples?|bench(?:marks?)?|scripts?|tools?|\.github|build|playground|website|deno)/|(?:^|/)(?:setup|[a-z]*tests?)\.py$|[-.]min\.js$",
    re.I,
)
_TITLE = re.compile(r"\s*(?:it|test|specify)(?:\.\w+)?\(\s*['\"`](.+?)['\"`]\s*,")
_INLINE_TEST = re.compile(r"tests?(?:\.|$)")  # the module of the tests inside a file of Rust


@dataclass(frozen=True, slots=True)
class Place:
    """A definition that a commit edited, as it stood at the parent."""

    path: str
    symbol: Symbol


@dataclass(frozen=True, slots=True)
class Truth:
    """What a commit changed, seen from its parent.

    Attributes:
        request: the message without trailers, links and numbers of pull requests.
        files: product files that existed and were edited.
        created: product files that it added.
        places: the definitions around the edited lines, or beside what was only inserted.
        edited: lines of the parent that were replaced or removed, by path.
        inserted: lines of the parent after which something was added, by path.
        tests: test files that existed and were extended or edited, with a line of the parent where that happened.
        suite: the test files as the commit has them: path, text, names of the tests that are new or edited.
        test_hunks: lines of the parent's test files that were edited, or after which something was added.
    """

    request: str
    files: tuple[str, ...]
    created: tuple[str, ...]
    places: tuple[Place, ...]
    edited: dict[str, tuple[Range, ...]]
    inserted: dict[str, tuple[int, ...]]
    tests: tuple[tuple[str, int], ...]
    suite: tuple[tuple[str, str, tuple[str, ...]], ...]
    test_hunks: dict[str, tuple[Range, ...]]


def clone_of(repos: Path, project: str) -> Path | None:
    """The local clone of `owner/name`, None when there is none."""
    owner, _, name = project.partition("/")
    tried = (repos / f"{owner}+{name}" / "repo", repos / f"{owner}+{name}", repos / owner / name, repos / name)
    return next((place for place in tried if place.is_dir()), None)


def truth_of(commit: HistoryCommit, history: History) -> Truth:
    """Read what a commit changed in the files of its parent."""
    changed = [one for one in product_files(commit) if one.status in ("modified", "renamed")]
    places: dict[tuple[str, str], Place] = {}
    texts = [history.text(commit.parent, one.old_path) or "" for one in changed]
    changed = [_without_inline_tests(one, text) for one, text in zip(changed, texts, strict=True)]
    for one, text in zip(changed, texts, strict=True):
        for symbol in _edited_symbols(one, text):
            places.setdefault((one.old_path, symbol.qualified), Place(one.old_path, symbol))
    return Truth(
        request=request_of(commit),
        files=tuple(one.old_path for one in changed),
        created=tuple(one.path for one in product_files(commit) if one.status == "added"),
        places=tuple(places.values()),
        edited={one.old_path: one.old_lines for one in changed},
        inserted={one.old_path: one.insertions for one in changed},
        tests=tuple(_extended(one) for one in commit.tests if one.old_path and one.path and language_of(one.old_path)),
        suite=tuple(_suite(commit, history)),
        test_hunks={
            one.old_path: (*one.old_lines, *((line, line) for line in one.insertions))
            for one in commit.tests
            if one.old_path and one.status != "deleted" and language_of(one.old_path)
        },
    )


def _extended(one: ChangedFile) -> tuple[str, int]:
    """A test file and the last line of the parent that was edited, or after which something was added."""
    return one.old_path, max([last for _, last in one.old_lines] + list(one.insertions), default=1)


def _suite(commit: HistoryCommit, history: History) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for one in commit.tests:
        text = history.text(commit.sha, one.path) if one.status != "deleted" and language_of(one.path) else None
        if text is not None and one.new_lines:
            yield one.path, text, tuple(dict.fromkeys(_names_of_tests(one, text)))


def _names_of_tests(one: ChangedFile, text: str) -> Iterator[str]:
    """The tests that hold new lines: functions, or the titles of `it` and `test`."""
    symbols = [symbol for symbol in outline_of(one.path, text).symbols if symbol.kind in ("function", "method")]
    rows = text.split("\n")
    for first, last in one.new_lines:
        for line in range(first, last + 1):
            around = _around(symbols, line)
            if around is not None:
                yield around.qualified.replace(".", "::")
        titles = [found[1] for row in rows[: min(last, len(rows))] if (found := _TITLE.match(row)) is not None]
        inside = [found[1] for row in rows[first - 1 : last] if (found := _TITLE.match(row)) is not None]
        yield from inside or titles[-1:]


def _without_inline_tests(one: ChangedFile, text: str) -> ChangedFile:
    """The change of a file without its lines inside of a module of tests (Rust)."""
    symbols = outline_of(one.old_path, text.replace("\r\n", "\n")).symbols
    inside = inline_tests(symbols)
    return replace(
        one,
        old_lines=tuple(span for span in one.old_lines if span[0] not in inside),
        insertions=tuple(line for line in one.insertions if line not in inside),
    )


def inline_tests(symbols: Sequence[Symbol]) -> set[int]:
    """The lines of a module of tests that stands in a file of the product."""
    tests = [symbol for symbol in symbols if _INLINE_TEST.match(symbol.qualified)]
    return {line for symbol in tests for line in range(symbol.line, symbol.end_line + 1)}


def _edited_symbols(one: ChangedFile, text: str) -> Iterator[Symbol]:
    """The innermost definition around each edited line; for an insertion between definitions, the one before it."""
    known = outline_of(one.old_path, text.replace("\r\n", "\n")).symbols
    symbols = [symbol for symbol in known if not _INLINE_TEST.match(symbol.qualified)]
    rows = text.split("\n")
    for first, last in one.old_lines:
        for line in range(first, last + 1):
            if line <= len(rows) and rows[line - 1].strip() and (symbol := _around(symbols, line)) is not None:
                yield symbol
    for line in one.insertions:
        inside = _around(symbols, line) or _around(symbols, line + 1)
        before = [symbol for symbol in symbols if symbol.end_line <= line and symbol.kind != "variable"]
        if inside is not None or before:
            yield inside or max(before, key=lambda symbol: (symbol.end_line, symbol.line))


def _around(symbols: Sequence[Symbol], line: int) -> Symbol | None:
    found = [symbol for symbol in symbols if symbol.line <= line <= symbol.end_line]
    return max(found, key=lambda symbol: (symbol.line, -symbol.end_line), default=None)


def product_files(commit: HistoryCommit) -> list[ChangedFile]:
    """The source files of a commit that are no tests, documentation, examples or tools."""
    return [one for one in commit.files if one.role == "code" and not _NOT_PRODUCT.search(one.path)]


def request_of(commit: HistoryCommit) -> str:
    """The message as a request: subject and body, without trailers, links and numbers of pull requests."""
    text = _TRAILER.sub("", _NUMBER.sub("", f"{commit.subject}\n\n{commit.body}"))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+$", "", text, flags=re.M)).strip()


def is_request(commit: HistoryCommit) -> bool:
    """Tell whether a commit stands for a request: a message that says something, a change of a human size."""
    text = request_of(commit)
    files = product_files(commit)
    lines = sum(last - first + 1 for one in files for first, last in (*one.old_lines, *one.new_lines))
    return (
        len(re.findall(r"[A-Za-z][\w'-]+", text)) >= _LEAST_WORDS
        and not _CHORE.search(text.partition("\n")[0])
        and 1 <= len(files) <= _MOST_FILES
        and 1 <= lines <= _MOST_LINES
        and any(one.status in ("modified", "renamed") for one in files)
        and len(commit.files) <= 25
    )


def choose(folder: Path, *, seed: int, number: int) -> list[str]:
    """Choose commits of a clone at random: the same seed chooses the same ones as long as the history is the same."""
    history = History(folder)
    names = sorted(history.command.output("rev-list", "--no-merges", "HEAD", "--").decode("ascii").split())
    random.Random(seed).shuffle(names)
    chosen: list[str] = []
    for name in names[:_LOOKED_AT]:
        try:
            commit = next(history.read(shas=[name], keep=frozenset({"no-tests", "binary"})))
        except RepositoryError:
            continue  # a partial clone does not hold every object
        if isinstance(commit, HistoryCommit) and is_request(commit):
            chosen.append(commit.sha)
        if len(chosen) == number:
            break
    return chosen


def read_corpus(path: Path = CORPUS) -> list[dict[str, Any]]:
    """The rows of the data file: project, language, half ("seen" or "held out"), commits."""
    return list(yaml.safe_load(path.read_text("utf-8"))["projects"])


def read_tasks(sets: Sequence[Path]) -> list[dict[str, Any]]:
    """The tasks of sets that `agentforge eval from-history` wrote, as rows of one commit each, with the request and the clone."""
    rows = []
    for path in sorted(path for one in sets for path in one.rglob("task.yaml")):
        task = yaml.safe_load(path.read_text("utf-8"))
        clone = (path.parent / str(task["source"]).rpartition("@")[0]).resolve()
        project, sha = path.parent.parent.name, path.parent.name.partition("-")[0]
        row = {"project": project, "language": "any", "half": "tasks", "commits": [sha], "request": task["request"]}
        rows.append({**row, "clone": clone})
    return rows


def main() -> int:
    """Choose the commits of every project in the data file again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, metavar="DIR", help="Where the clones lie.")
    given = parser.parse_args()
    rows = read_corpus()
    for row in rows:
        folder = clone_of(given.repos, row["project"])
        if folder is None:
            print(f"{row['project']}: no clone below {given.repos}; its commits stay as they are", file=sys.stderr)
            continue
        row["commits"] = choose(folder, seed=SEED, number=_EACH)
    head = (
        "# Commits of real projects that bench/recall.py takes as requests: names and hashes only.\n"
        f"# Chosen at random by seed {SEED}; bench/recall_corpus.py chooses them again and says by which rule.\n"
    )
    CORPUS.write_text(head + yaml.safe_dump({"projects": rows}, sort_keys=False, width=120), "utf-8")
    print(f"{sum(len(row['commits']) for row in rows)} commits of {len(rows)} projects")
    return 0


if __name__ == "__main__":
    sys.exit(main())
