"""Context recall: does what a stage shows first hold what the true change touches? Measured on real commits, without a model.

    python -m bench.recall --repos DIR                       all commits at 8,000 tokens
    python -m bench.recall --repos DIR --budget 8000,12000,16000 --out recall.jsonl
    python -m bench.recall --repos DIR --only pallets/jinja,urllib3/urllib3 --misses
    python -m bench.recall --repos DIR --only half=seen --stages analyze
    python -m bench.recall --tasks SET --stages intake,red --misses     a set of `agentforge eval from-history`

The message of a commit is the request, its parent is the repository, its change is the truth; a task of a set has its own
request. INTAKE, whose reply may serve ANALYZE and SPEC, and ANALYZE start from the request alone; before SPEC, RED and GREEN
stand artifacts that a machine made of the true change. The corpus (bench/recall_corpus.yaml) holds names and hashes only: clone
the projects yourself, DIR/OWNER/NAME. Nothing is fetched and no code of theirs is run. With --out each commit is a line of
JSON, and what stands there already is not measured again.

A body is a definition that the change edits: shown when its first line and all edited lines are. A commit is whole when all
its bodies are shown.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentforge.context.minimal import StepContext
from agentforge.evals.history.commits import History, HistoryCommit
from agentforge.pipeline.model.prompt_text import specification_text
from agentforge.pipeline.model.runtime import Runtime
from agentforge.workspace.code.symbols import read_source
from agentforge.workspace.files import search
from bench.recall_bodies import bodies_share, edited_bodies, old_tests, reasons
from bench.recall_corpus import CORPUS, Truth, clone_of, read_corpus, read_tasks, truth_of
from bench.recall_seen import Share, files_share, lines_share, names_share, seen_in
from bench.recall_stages import STAGES, first_context, make_runtime, text_of

_ASKED = 150  # lines of the read that is simulated
_END = 5  # lines at the end of a test file
_GOALS = {
    "intake lines": 90, "intake bodies": 90, "intake whole": 90,
    "analyze files": 95, "analyze definitions": 85, "spec lines": 98, "red lines": 98, "green lines": 98,
    "red specification": 100, "green specification": 100, "asked lines": 100, "red test end": 98,
    "red old tests": 90,
}  # fmt: skip


def main() -> int:
    """Measure and print; figures are reported, never judged here."""
    given = _arguments()
    done = _recorded(given.out)
    with tempfile.TemporaryDirectory(prefix="recall-") as folder:
        rows = read_tasks(given.tasks) if given.tasks else read_corpus(given.corpus)
        for row in _wanted(rows, given.only):
            clone = row.get("clone") or clone_of(given.repos, row["project"])
            if clone is None:
                print(f"{row['project']}: no clone below {given.repos}, left out", file=sys.stderr)
                continue
            ground = Ground(clone, Path(folder) / row["project"].replace("/", "+"))
            for sha in row["commits"][: given.sample]:
                for budget in given.budget:
                    if (sha, budget) in done or (given.commit and not sha.startswith(given.commit)):
                        continue
                    record = {
                        **{key: row[key] for key in ("project", "language", "half")},
                        **measured(ground, sha, budget, given.stages, request=row.get("request", "")),
                    }
                    done[sha, budget] = record
                    _keep(given.out, record)
                    if given.misses:
                        _print_misses(record)
            ground.remove()
    records = [
        one for (_, budget), one in done.items() if budget in given.budget and one in _of(done.values(), given.only)
    ]
    print(json.dumps(records) if given.json else table(records))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--repos", type=Path, metavar="DIR", help="Where the clones lie.")
    where.add_argument("--tasks", type=Path, nargs="+", metavar="SET", help="Folders of tasks instead of the corpus.")
    parser.add_argument("--corpus", type=Path, default=CORPUS, metavar="FILE", help="The commits: %(default)s.")
    parser.add_argument(
        "--only", default="", metavar="A,B", help="Projects, half=seen, half='held out' or language=Go."
    )
    parser.add_argument("--commit", default="", metavar="SHA", help="One commit, by its first letters.")
    parser.add_argument("--sample", type=int, metavar="N", help="Only the first N commits of each project.")
    parser.add_argument("--budget", default="8000", metavar="N,N", help="Tokens of one request (context.step_tokens).")
    parser.add_argument("--stages", default=",".join(STAGES), metavar="A,B", help="Stages to measure: %(default)s.")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="Keep a line of JSON for each commit, and go on from there."
    )
    parser.add_argument("--misses", action="store_true", help="Print what was not shown.")
    parser.add_argument("--json", action="store_true", help="Print the records instead of the table.")
    given = parser.parse_args()
    given.budget = [int(one) for one in given.budget.split(",")]
    given.stages = given.stages.split(",")
    return given


class Ground:
    """A checkout of a clone that shares its objects; the clone itself is only read."""

    def __init__(self, clone: Path, folder: Path) -> None:
        """Make the checkout."""
        self.folder, self.history = folder, History(clone)
        _git("clone", "-q", "--shared", "--no-checkout", str(clone), str(folder / "tree"))
        self.runtime: Runtime = make_runtime(folder / "tree", folder / "scratch")

    def at(self, sha: str) -> tuple[HistoryCommit, Truth]:
        """Check out the parent of a commit, and tell what the commit changed."""
        commit = next(self.history.read(shas=[sha], keep=frozenset({"no-tests", "binary"})))
        assert isinstance(commit, HistoryCommit), commit
        tree = str(self.folder / "tree")
        _git("-C", tree, "checkout", "-q", "-f", "--detach", commit.parent)
        _git("-C", tree, "clean", "-fdxq")
        return commit, truth_of(commit, self.history)

    def remove(self) -> None:
        """Delete the checkout."""
        shutil.rmtree(self.folder, ignore_errors=True)


def measured(ground: Ground, sha: str, budget: int, stages: Sequence[str], *, request: str) -> dict[str, Any]:
    """What the first contexts of the stages hold of one commit.

    Args:
        request: instead of the commit's message; "" = that message.
    """
    began = time.process_time()
    commit, truth = ground.at(sha)
    truth = replace(truth, request=request) if request else truth
    known = search.files(ground.runtime.worktree)
    shares: dict[str, Share] = {}
    tokens: dict[str, int] = {}
    misses: list[str] = []
    for stage in stages:
        context = first_context(stage, truth, commit.parent, ground.runtime, budget=budget)
        tokens[stage] = context.tokens
        text = text_of(context)
        if stage == "intake":
            _intake(context, truth, ground, known, shares, misses)
        elif stage == "analyze":
            _analyze(text, truth, known, shares, misses)
        else:
            _later(stage, text, truth, ground, known, shares, misses)
    if "red" in stages and truth.tests:
        _old_tests(truth, commit.parent, ground, known, budget, shares, misses)
    if "spec" in stages:
        shares["asked lines"] = _asked(truth, commit.parent, ground, known, budget, misses)
    return {
        "commit": sha, "budget": budget, "shares": shares, "tokens": tokens, "misses": misses, "files": len(known),
        "seconds": round(time.process_time() - began, 2), "request": truth.request.partition("\n")[0][:80],
    }  # fmt: skip


def _intake(
    context: StepContext,
    truth: Truth,
    ground: Ground,
    known: Sequence[str],
    shares: dict[str, Share],
    misses: list[str],
) -> None:
    """The bodies that the change edits, in the context that serves the first three stages."""
    seen, root = seen_in(text_of(context), known), ground.runtime.worktree
    bodies = edited_bodies(truth, root)
    lines = {
        path: {n: row for one in bodies if one.path == path for n, row in one.lines.items()} for path in truth.files
    }
    definitions = [body for body in bodies if body.name]
    if bodies:
        shares["intake lines"], shares["intake bodies"] = lines_share(seen, lines), bodies_share(seen, definitions)
    if definitions:
        shares["intake whole"] = (int(all(body.is_shown(seen) for body in definitions)), 1)
        misses += [f"intake {reason}" for reason in reasons(truth.request, bodies, seen, context, root)]


def _analyze(text: str, truth: Truth, known: Sequence[str], shares: dict[str, Share], misses: list[str]) -> None:
    seen = seen_in(text, known)
    places = [(place.path, place.symbol.name, place.symbol.line) for place in truth.places]
    shares["analyze files"] = files_share(seen, truth.files)
    shares["analyze definitions"] = names_share(seen, places)
    misses += [f"analyze file {path}" for path in truth.files if path not in seen.paths]
    misses += [f"analyze definition {place[0]} {place[1]}" for place in places if not seen.definition(*place)]


def _later(
    stage: str,
    text: str,
    truth: Truth,
    ground: Ground,
    known: Sequence[str],
    shares: dict[str, Share],
    misses: list[str],
) -> None:
    seen = seen_in(text, known)
    root = ground.runtime.worktree
    lines = {path: _lines(root, path, numbers) for path, numbers in _touched(truth).items()}
    shares[f"{stage} lines"] = lines_share(seen, lines)
    gone = [
        f"{path}:{number}"
        for path, rows in lines.items()
        for number, row in rows.items()
        if not seen.line(path, number, row)
    ]
    misses += [f"{stage} lines ({len(gone)}) {' '.join(gone[:8])}"] if gone else []
    if stage == "spec":
        return
    from bench.recall_stages import _specification

    wanted = specification_text(_specification(truth)).split("\n")
    shown = {row.strip() for row in text.split("\n")}
    shares[f"{stage} specification"] = (sum(row.strip() in shown for row in wanted), len(wanted))
    if stage == "red" and truth.tests:
        ends = {path: _last_lines(root, path) for path, _ in truth.tests}
        shares["red test end"] = lines_share(seen, ends)
        misses += [f"red test end {path}" for path, rows in ends.items() if not lines_share(seen, {path: rows})[0]]


def _old_tests(
    truth: Truth,
    parent: str,
    ground: Ground,
    known: Sequence[str],
    budget: int,
    shares: dict[str, Share],
    misses: list[str],
) -> None:
    """The old tests that the change edits or writes beside, in RED's context where the analysis says nothing of tests."""
    old = old_tests(truth, ground.runtime.worktree)
    context = first_context("red", replace(truth, tests=()), parent, ground.runtime, budget=budget)
    seen = seen_in(text_of(context), known)
    shares["red old tests"] = bodies_share(seen, old)
    misses += [f"red old test {one.path} {one.name} {one.gone(seen)}" for one in old if not one.is_shown(seen)]


def _asked(truth: Truth, parent: str, ground: Ground, known: Sequence[str], budget: int, misses: list[str]) -> Share:
    """A read of 150 lines in the middle of what the change touches: how much of it does the next context show?"""
    path = truth.files[0]
    first = max(1, min(_touched(truth)[path], default=1) - _ASKED // 2)
    views = ((path, {"offset": first, "limit": _ASKED}),)
    context = first_context("spec", truth, parent, ground.runtime, budget=budget, views=views)
    rows = _lines(ground.runtime.worktree, path, range(first, first + _ASKED))
    seen = seen_in(text_of(context), known)
    gone = [str(number) for number, row in rows.items() if not seen.line(path, number, row)]
    misses += [f"asked lines ({len(gone)} of {len(rows)}) {path} {' '.join(gone[:8])}"] if gone else []
    return lines_share(seen, {path: rows})


def _touched(truth: Truth) -> dict[str, set[int]]:
    """The lines that are replaced or removed, and those beside an insertion."""
    found = {
        path: {line for first, last in ranges for line in range(first, last + 1)}
        for path, ranges in truth.edited.items()
    }
    for path, after in truth.inserted.items():
        found.setdefault(path, set()).update(line for line in after if line)
    return found


def _lines(root: Path, path: str, numbers: Iterable[int]) -> dict[int, str]:
    rows = (read_source(root, path) or "").split("\n")
    return {number: rows[number - 1] for number in sorted(numbers) if 1 <= number <= len(rows)}


def _last_lines(root: Path, path: str) -> dict[int, str]:
    rows = (read_source(root, path) or "").rstrip().split("\n")
    return _lines(root, path, range(max(1, len(rows) - _END + 1), len(rows) + 1))


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: each measure over everything and by language, half and budget, in per cent, with the tokens shown."""
    groups: list[tuple[str, list[Mapping[str, Any]]]] = []
    for budget in sorted({one["budget"] for one in records}):
        own = [one for one in records if one["budget"] == budget]
        groups.append((f"{budget // 1000}K all", own))
        for key in ("half", "language"):
            for value in sorted({one[key] for one in own}):
                groups.append((f"{budget // 1000}K {value}", [one for one in own if one[key] == value]))
    if not groups:
        return "nothing was measured"
    keys = [key for key in _GOALS if any(key in one["shares"] for one in records)]
    head = (
        "| contexts | commits | "
        + " | ".join(f"{key} (goal {_GOALS[key]})" for key in keys)
        + " | tokens by stage, median (mean) | CPU s |"
    )
    rows = [head, "|" + "---|" * (len(keys) + 4)]
    for name, own in groups:
        cells = [_per_cent(one["shares"].get(key) for one in own) for key in keys]
        rows.append(
            f"| {name} | {len(own)} | {' | '.join(cells)} | {_tokens(own)} | {_median([one['seconds'] for one in own]):.1f} |"
        )
    return "\n".join(rows)


def _per_cent(shares: Iterable[Any]) -> str:
    pairs = [pair for pair in shares if pair]
    found, of = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    return f"{100 * found / of:.1f}" if of else "-"


def _tokens(records: Sequence[Mapping[str, Any]]) -> str:
    stages = [stage for stage in STAGES if any(stage in one["tokens"] for one in records)]
    found = {stage: [one["tokens"][stage] for one in records if stage in one["tokens"]] for stage in stages}
    return ", ".join(f"{stage} {_median(own):.0f} ({sum(own) / len(own):.0f})" for stage, own in found.items())


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0


def _wanted(rows: list[dict[str, Any]], only: str) -> Iterator[dict[str, Any]]:
    words = [word for word in only.split(",") if word]
    named = {word for word in words if "=" not in word}
    pairs = [word.split("=", 1) for word in words if "=" in word]
    for row in rows:
        if (not named or row["project"] in named) and all(row[key] == value for key, value in pairs):
            yield row


def _of(records: Iterable[dict[str, Any]], only: str) -> list[dict[str, Any]]:
    return list(_wanted(list(records), only))


def _recorded(out: Path | None) -> dict[tuple[str, int], dict[str, Any]]:
    if out is None or not out.is_file():
        return {}
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines() if line.endswith("}")]
    return {(row["commit"], row["budget"]): row for row in rows}


def _keep(out: Path | None, record: Mapping[str, Any]) -> None:
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def _print_misses(record: Mapping[str, Any]) -> None:
    if record["misses"]:
        print(f"{record['project']} {record['commit'][:10]} ({record['files']} files) {record['request']}")
        print("".join(f"    {miss}\n" for miss in record["misses"]), end="")


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false", *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
