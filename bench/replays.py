"""Replay the corpus of merged commits through the whole pipeline, and write the table of docs/replays.md.

The corpus (bench/replays.yaml) names public projects and commits. Nothing of a project is kept here, and nothing of it is built:
the first call makes the checkouts, you put each one's environment into it (`.venv`, `node_modules`; git ignores both there), and
the next call plays those in which one stands. Go and Rust need none.

    python -m bench.replays --mirrors DIR --work DIR                  everything that the record does not have yet
    python -m bench.replays --mirrors DIR --work DIR --only pallets/jinja
    python -m bench.replays --mirrors DIR --work DIR --again          those that were refused, once more
    python -m bench.replays --work DIR --table                        the table alone, as Markdown

--mirrors holds a git repository for each project: OWNER+NAME/repo, OWNER+NAME or NAME, bare or not. --work keeps the
checkouts with their environments, the record (results.jsonl) and the trails; a broken-off run goes on after the record.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).with_name("replays.yaml")
_ENVIRONMENTS = (".venv", "node_modules", "go.mod", "Cargo.toml")
_IGNORED = ".venv\nnode_modules\npackage-lock.json\n"


def main() -> int:
    """Play what is missing, then print the closing lines or the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, help="where the git repositories of the projects lie")
    parser.add_argument("--work", type=Path, required=True, help="for checkouts, environments, record and trails")
    parser.add_argument("--only", action="append", default=[], metavar="PROJECT", help="only this project; repeatable")
    parser.add_argument("--again", action="store_true", help="play those that were refused once more")
    parser.add_argument("--table", action="store_true", help="print the table of what is recorded, and play nothing")
    given = parser.parse_args()
    from agentforge.evals.history.replay import recorded, summary_lines

    if not given.table:
        for entry in _entries(given.only):
            _play(entry, given.mirrors, given.work, again=given.again)
    done = recorded(given.work)
    print("\n".join(_table(done) if given.table else summary_lines(done)))
    return 0


def _entries(only: list[str]) -> Iterator[Mapping[str, Any]]:
    import yaml

    for entry in yaml.safe_load(CORPUS.read_text("utf-8")):
        if not only or entry["project"] in only:
            yield entry


def _play(entry: Mapping[str, Any], mirrors: Path | None, work: Path, *, again: bool) -> None:
    from agentforge.config.settings import load
    from agentforge.evals.history.commits import History
    from agentforge.evals.history.replay import replays

    project = str(entry["project"])
    checkout = _checkout(entry, mirrors, work)
    if checkout is None:
        print(f"{project}: left out, it has no repository below --mirrors", file=sys.stderr)
        return
    if not _is_ready(checkout):
        print(f"{project}: left out, put its environment into {checkout} first (.venv, node_modules)", file=sys.stderr)
        return
    history = History(checkout)
    asked = history.read(shas=[str(sha) for sha in entry["commits"]], keep=frozenset({"no-tests"}))
    settings = load(checkout, os.environ)
    for one in replays(history, asked, work, project=project, settings=settings, environ=os.environ, again=again):
        print(f"{project} {one.sha[:9]} {one.outcome} {one.stage} {' '.join(one.rules)}", flush=True)


def _checkout(entry: Mapping[str, Any], mirrors: Path | None, work: Path) -> Path | None:
    """A checkout, made once; None when the project is not here."""
    owner, name = str(entry["project"]).split("/")
    place = work / "projects" / f"{owner}+{name}"
    if place.is_dir():
        return place
    known = [mirrors / f"{owner}+{name}" / "repo", mirrors / f"{owner}+{name}", mirrors / name] if mirrors else []
    source = next((one for one in known if one.is_dir()), None)
    if source is None:
        return None
    draft = place.with_name(f".{place.name}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "-q", str(source), str(draft)], check=True)
    with (draft / ".git" / "info" / "exclude").open("a") as file:
        file.write(_IGNORED)
    draft.rename(place)
    return place


def _is_ready(checkout: Path) -> bool:
    """Whether the tests of a checkout have what they need."""
    return any((checkout / name).exists() for name in _ENVIRONMENTS)


def _table(done: list[Any]) -> Iterator[str]:
    from agentforge.evals.history.replay import summary_lines

    yield "| project | commit | action | outcome | refused by |"
    yield "|---|---|---|---|---|"
    for one in sorted(done, key=lambda one: (one.project, one.sha)):
        if one.outcome != "left out":
            by = f"{one.stage}: {', '.join(one.rules)}" if one.outcome == "refused" else ""
            yield f"| {one.project} | {one.sha[:9]} {one.subject[:50]} | {one.action} | {one.outcome} | {by} |"
    yield ""
    yield from summary_lines(done)


if __name__ == "__main__":
    sys.exit(main())
