"""A repository of 50,000 files and 1 GB beside a small one: what each part of the same run costs, in processor seconds.

    python -m bench.large_repository [--quick] [--json] [--folder F] [--files 50000] [--mb 1000]

One request is delivered in both by the same scripted replies. Every event of the run is a mark: what was used since the one
before, of the program itself and of everything that it started, is put to the part that ended there. Both have the same tests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.fleet import _world
from bench.verifier import adopt, cpu_s
from tests.support import world as kit

_ROOT = Path(__file__).parents[1]
_QUICK = ["--files", "6000", "--mb", "12"]
_MODULES_OF_TEN = 3
"""Of ten files so many are source; the others hold data that no program reads."""
_PACK = ("-c", "core.compression=0", "-c", "core.bigFileThreshold=1", "-c", "gc.auto=0")
_STEPS = ("StageStarted", "ModelCalled", "ModelReplied", "ToolStarted", "StepFinished")
_ROWS = (
    ("start, up to the first request", ("start",)),
    ("worktree, before the first tool", ("worktree", "facts of intake")),
    ("what stages and steps are shown, what they leave", _STEPS),
    ("searches (grep, glob, find_symbol)", ("tool grep", "tool glob", "tool find_symbol")),
    ("two commands in the shell", ("tool shell",)),
    ("base line", ("facts of baseline",)),
    ("verdicts", ("facts of red", "facts of impact", "facts of green", "facts of refactor", "facts of deliver")),
)
_LINE = "    total = total + value * {} - {}\n"


def main() -> int:
    """Make both repositories, run the request in each, and print the table; figures are reported, never judged here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="6,000 files of 12 MB: shows that everything works")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--folder", type=Path, help="keep the repositories here, and use what stands here")
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)  # this program in a process of its own
    given = parser.parse_args()
    if given.quick:
        given = parser.parse_args([*_QUICK, *sys.argv[1:]])
    if given.run is not None:
        print(json.dumps(run(given.run)))
        return 0
    with tempfile.TemporaryDirectory(prefix="agentforge-large-") as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        found = {}
        for name, files in (("small", 0), ("large", given.files)):
            place = folder / name
            if not (place / "repo" / ".agentforge").exists():
                made(place, files=files, size=given.mb * 1_000_000 // max(1, files))
            found[name] = measured(place)
    sys.stdout.write(json.dumps(found) + "\n" if given.json else table(found))
    return 0 if all(one["outcome"] == "delivered" for one in found.values()) else 1


def made(place: Path, *, files: int, size: int) -> None:
    """Make the world of tests, and so many further files of that size in bytes beside its module."""
    world = _world(place)
    world.git("config", "gc.auto", "0")
    for path, text in contents(files, size):
        file = world.repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
    if files:
        for argv in (
            ["add", "-A"],
            ["-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-q", "-m", "all of it"],
        ):
            subprocess.run(["git", *_PACK, *argv], cwd=world.repo, env=world.env, check=True)
        subprocess.run(["git", *_PACK, "repack", "-adq", "--window=0"], cwd=world.repo, env=world.env, check=True)


def contents(files: int, size: int) -> Iterator[tuple[str, bytes]]:
    """Paths and bytes: modules that parse, and data that does not compress, fifty to a folder."""
    chance = random.Random(1)
    for number in range(files):
        folder = f"lib/part_{number // 1000:03}/group_{number // 50 % 20:02}"
        if number % 10 >= _MODULES_OF_TEN:
            yield f"{folder}/data_{number:05}.bin", b"\0" + chance.randbytes(max(1, int(size * 1.2)))
            continue
        head = (
            f'"""Module {number}."""\n\n\ndef weigh_{number}(value: int) -> int:\n    """Weigh it."""\n    total = 0\n'
        )
        body = "".join(
            _LINE.format(chance.randrange(10**6), chance.randrange(10**6)) for _ in range(max(1, size // 80))
        )
        yield f"{folder}/module_{number:05}.py", f"{head}{body}    return total\n".encode()


def measured(place: Path) -> dict[str, Any]:
    """Run the request twice, each time in a process of its own: what is measured once for a commit is known to the second."""
    found: dict[str, Any] = {}
    for name in ("first", "next"):
        command = [sys.executable, "-m", "bench.large_repository", "--run", str(place)]
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        found[name] = json.loads(done.stdout)
    listed = subprocess.run(["git", "ls-files"], cwd=place / "repo", capture_output=True, text=True, check=True).stdout
    return {**found, "outcome": found["next"]["outcome"], "files": len(listed.splitlines())}


def run(place: Path) -> dict[str, Any]:
    """Deliver the request in this process; what each part of the run used, own and of children, in seconds."""
    from agentforge.app.tasks.runs import start
    from agentforge.app.tasks.start_options import StartOptions
    from agentforge.config.settings import load

    adopt()
    world = _world(place)
    environ = world.env
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(world.repo)
    parts: dict[str, list[float]] = {}
    marks = [cpu_s()]
    called: dict[str, str] = {}

    def watch(event: Any, _state: Any) -> None:
        now = cpu_s()
        if type(event).__name__ == "ToolStarted":
            called[event.call_id] = event.name
        entry = parts.setdefault(part_of(event, called, parts), [0, 0.0])
        entry[0] += 1
        entry[1] += now - marks[-1]
        marks.append(now)

    options = StartOptions(request=_request(), cwd=world.repo, model=world.model(_replies()))
    result = start(options, settings=load(world.repo, environ), environ=environ, watch=watch)
    end = cpu_s()
    parts["the end"] = [1, end - marks[-1]]
    if result.state.progress.outcome != "delivered":
        sys.stderr.write(f"{result.state.progress.outcome} at {result.state.progress.stage}: {result.error}\n")
    return {"outcome": result.state.progress.outcome, "total": end - marks[0], "parts": parts}


def part_of(event: Any, called: Mapping[str, str], parts: Mapping[str, Any]) -> str:
    """What ended with an event; the first tool call waits for the worktree."""
    kind = type(event).__name__
    if "ModelReplied" not in parts and kind != "ModelReplied":
        return "start"
    if kind == "ToolStarted" and "worktree" not in parts:
        return "worktree"
    if kind == "FactsGathered":
        return f"facts of {event.name}"
    if kind == "ToolFinished":
        return f"tool {called.get(event.call_id, '')}"
    return kind


def table(found: Mapping[str, Any]) -> str:
    """The figures as text: processor seconds of each part, in the small repository, in the large one, and their ratio."""
    small, large = found["small"], found["large"]
    lines = [f"| CPU s | {small['files']} files | {large['files']:,} files | ratio |", "|---|---|---|---|"]
    for run in ("first", "next"):
        for label, kinds in (*_ROWS, ("all of it", None)):
            few, many = (_seconds(one[run], kinds) for one in (small, large))
            lines.append(f"| {run} task: {label} | {few:.2f} | {many:.2f} | {many / max(few, 0.01):.1f} |")
    return "\n".join(lines) + "\n"


def _seconds(one: Mapping[str, Any], kinds: tuple[str, ...] | None) -> float:
    if kinds is None:
        return float(one["total"])
    return float(sum(spent for kind, (_, spent) in one["parts"].items() if kind in kinds))


def _request() -> str:
    return kit.REQUEST


def _replies() -> dict[str, Any]:
    """A delivery, with searches, reading and a command on the way."""
    looks = [
        ("grep", {"pattern": "def mumble"}), ("glob", {"pattern": "**/test_*.py"}),
        ("read_file", {"path": "textkit.py"}), ("find_symbol", {"name": "initials"}),
    ]  # fmt: skip
    replies = kit.good_script()
    replies["analyze"] = [*(kit.reply(one) for one in looks), *replies["analyze"]]
    replies["green"] = [
        kit.reply(("shell", {"command": "true"})), kit.reply(kit.ADD_SLUGIFY),
        kit.reply(("shell", {"command": "python -c 1"})), kit.reply(kit.IMPLEMENTED),
    ]  # fmt: skip
    return replies


if __name__ == "__main__":
    sys.exit(main())
