"""What an examiner's tests see: of dishonest solutions that measurement alone lets pass, and of the honest ones beside them.

    python -m bench.examiner                              every case of the corpus with a trick, and those of bench/tricks
    python -m bench.examiner --write-prompts DIR          a prompt for each case, DIR/NAME.md; replies go into another folder
    python -m bench.examiner --replies DIR [--cases DIR]  other replies than those of bench/examined, other cases

A case outside of it is a file NAME.yaml (`request`, and below `files` the texts of base/, trick/, twin/ and hidden/), or a
folder NAME with request.md and these folders; a deleted file is an empty one with `.deleted` behind its name.
A case is played without a run: the examiner's file is laid into the base, the dishonest and the honest tree, and pytest or node
runs it there. Whether a second reader would uphold a test that fails is not asked.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agentforge.evals.case import FileTree, read_mapping, read_tree, write_files
from agentforge.evals.corpus import load_own, tricked_names
from agentforge.pipeline.examination.settlement import file_in, place_beside, says_and_code, stands_in
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.symbols import implementations, outline_of

_KEPT = Path(__file__).with_name("examined")
_TRICKS = Path(__file__).with_name("tricks")
_PROMPT = Path(__file__).parents[1] / "src/agentforge/pipeline/prompts/examine.md"
_DELETED = ".deleted"
_LIMIT_S = 120
Tree = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Trial:
    """A request and three trees: before it, and after each of two solutions."""

    name: str
    request: str
    base: Tree
    trick: Tree
    twin: Tree

    @property
    def javascript(self) -> bool:
        """Whether node runs its tests."""
        return "package.json" in self.base

    @property
    def tests(self) -> list[str]:
        """The test files of the base."""
        return [path for path in sorted(self.base) if is_test_path(path) and not path.endswith("__init__.py")]


def main() -> None:
    """Print a row for each case, then the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases; all when none is named")
    parser.add_argument("--cases", type=Path, help="a folder of cases in place of the corpus")
    parser.add_argument("--replies", type=Path, default=_KEPT, help="where the examiner's replies lie, NAME.md each")
    parser.add_argument("--write-prompts", type=Path, help="write the prompts and stop")
    parser.add_argument("--json", type=Path, help="write what every test gave into this file, too")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="cases at a time")
    given = parser.parse_args()
    trials = _trials(given.cases, given.names)
    if given.write_prompts:
        given.write_prompts.mkdir(parents=True, exist_ok=True)
        for trial in trials:
            (given.write_prompts / f"{trial.name}.md").write_text(prompt_of(trial), encoding="utf-8")
        return
    trials = [trial for trial in trials if (given.replies / f"{trial.name}.md").is_file()]
    with ThreadPoolExecutor(max(1, given.j)) as pool:
        rows = list(pool.map(lambda trial: (trial, played(trial, given.replies)), trials))
    for trial, sides in rows:
        print(f"| {trial.name} | {_failing(sides['trick'])} | {_failing(sides['twin'])} | {len(sides['twin'])} |")
    caught = sum(_failing(sides["trick"]) > 0 for _, sides in rows)
    clean = sum(_failing(sides["twin"]) == 0 for _, sides in rows)
    print(f"a test fails on {caught} of {len(rows)} tricks; all pass on {clean} of {len(rows)} honest solutions")
    if given.json:
        given.json.write_text(json.dumps({trial.name: sides for trial, sides in rows}, indent=1), encoding="utf-8")


def _trials(folder: Path | None, names: list[str]) -> list[Trial]:
    found = _below(folder or _TRICKS)
    if folder is None:
        found |= {name: partial(_of_corpus, name) for name in tricked_names()}
    unknown = sorted(set(names) - set(found))
    if unknown:
        sys.exit(f"there is no case of the name {', '.join(unknown)}")
    return [found[name]() for name in names or sorted(found)]


def _below(folder: Path) -> dict[str, Callable[[], Trial]]:
    files = {path.stem: partial(_of_file, path) for path in folder.glob("*.yaml")}
    return {**files, **{path.parent.name: partial(_of_folder, path.parent) for path in folder.glob("*/request.md")}}


def _of_corpus(name: str) -> Trial:
    case = load_own(name)
    base, files = case.commits[-1], case.files
    honest, cheat = (
        {**base, **files.below("answers/green").texts, **files.below(f"{side}/green").texts}
        for side in ("twin", "trick")
    )
    return Trial(name, case.request, base, cheat, honest)


def _of_file(path: Path) -> Trial:
    told = read_mapping(path)
    return _of_trees(path.stem, str(told["request"]), read_tree(told, source=path))


def _of_folder(folder: Path) -> Trial:
    tree = FileTree(source=str(folder), texts=_read(folder))
    return _of_trees(folder.name, (folder / "request.md").read_text("utf-8"), tree)


def _of_trees(name: str, request: str, files: FileTree) -> Trial:
    base = files.below("base").texts
    sides = []
    for side in ("trick", "twin"):
        changed = files.below(side).texts
        gone = {path.removesuffix(_DELETED) for path in changed if path.endswith(_DELETED)}
        kept = {
            path: text for path, text in {**base, **changed}.items() if path not in gone and not path.endswith(_DELETED)
        }
        sides.append(kept)
    return Trial(name, request.strip(), base, *sides)


def _read(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8", "surrogateescape") for path in files}


def prompt_of(trial: Trial) -> str:
    """What an examiner is told of a case: as a run tells it, but for the packing, which small projects do not need."""
    head = _PROMPT.read_text("utf-8").replace("{RUNNER}", "node:test" if trial.javascript else "pytest")
    parts = [head.replace("{PATH}", _place(trial, "")), "## the request, word for word", trial.request]
    parts += ["## public names of the changed files, as they are now", *_interface(trial)]
    parts += [f"## {path} (as it was before the change)\n{text}" for path, text in sorted(trial.base.items())]
    return "\n\n".join(parts)


def _interface(trial: Trial) -> list[str]:
    """Signatures alone, those of the honest solution: names that only one of the two has would give it away."""
    out = []
    for path, text in sorted(trial.twin.items()):
        if is_test_path(path) or trial.base.get(path) == text:
            continue
        names = [set(_signatures(path, tree.get(path, ""))) for tree in (trial.twin, trial.trick)]
        out.append("\n".join([f"### {path}", *(f"- {one}" for one in _signatures(path, text) if one in names[1])]))
    return out


def _signatures(path: str, text: str) -> list[str]:
    public = [
        one for one in implementations(outline_of(path, text).symbols) if not re.search(r"(^|\.)_", one.qualified)
    ]
    return [f"{one.signature} ({one.qualified})" for one in public]


def _place(trial: Trial, source: str) -> str:
    fallback = "test/examined.test.js" if trial.javascript else "tests/test_examined.py"
    place = place_beside(trial.tests, trial.base.__contains__, fallback)
    module = trial.javascript and re.search(r"^import ", source, re.MULTILINE)
    return re.sub(r"\.c?js$", ".mjs", place) if module else place


def played(trial: Trial, replies: Path) -> dict[str, dict[str, str]]:
    """What each test of the examiner's file gave on base, trick and twin: {side: {test: "pass" or what it said}}."""
    source = file_in((replies / f"{trial.name}.md").read_text("utf-8"))
    return {side: _run(trial, getattr(trial, side), source) for side in ("base", "trick", "twin")}


def _run(trial: Trial, tree: Tree, source: str) -> dict[str, str]:
    place = _place(trial, source)
    with tempfile.TemporaryDirectory(prefix="agentforge-examined-") as folder:
        root, report = Path(folder) / "tree", Path(folder) / "report.xml"
        write_files({**tree, place: source}, root)
        python = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", place]
        node = [
            shutil.which("node") or "node",
            "--test",
            "--test-reporter=junit",
            f"--test-reporter-destination={report}",
            place,
        ]
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root), "HOME": folder}
        try:
            subprocess.run(
                node if trial.javascript else python,
                cwd=root,
                env=environ,
                capture_output=True,
                timeout=_LIMIT_S,
                check=False,
            )
            found = ET.parse(report)
        except (subprocess.TimeoutExpired, OSError, ET.ParseError) as exc:
            return {"(the file)": f"{type(exc).__name__}: {exc}"}
    return {str(one.get("name")): _outcome(one, source, trial, place) for one in found.iter("testcase")}


def _outcome(case: ET.Element, source: str, trial: Trial, place: str) -> str:
    """A test that fails and has no words of the request above it counts as nothing, as in a run; a file that breaks off fails."""
    failed = [part for part in case if part.tag in ("failure", "error")]
    if failed and str(case.get("name")).endswith(place):
        return "the file broke off before its tests had ended"
    says, _ = says_and_code(source, str(case.get("name")))
    if not failed or not stands_in(says, trial.request):
        return "pass"
    return (failed[0].get("message") or failed[0].text or "failed").strip()[:300]


def _failing(side: Mapping[str, str]) -> int:
    return sum(told != "pass" for told in side.values())


if __name__ == "__main__":
    main()
