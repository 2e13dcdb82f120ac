"""Judges a task of AgentForge outside of AgentForge: `python judge.py TASK_FOLDER REPOSITORY`. Needs git and pytest.

Exit code 0 = right. TASK_FOLDER holds task.json and hidden/. Questions are read from QUESTION.md, reports from REPORT.md.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

PAPERS = ("QUESTION.md", "REPORT.md")


def main(task_folder, repository):
    task = json.loads((task_folder / "task.json").read_text("utf-8"))
    expected = task["expected"]
    if expected == "right":
        return hidden_tests_pass(task_folder / "hidden", repository)
    if changed(repository):
        return "the repository was changed"
    if expected == "analyzed":
        text = paper(repository, "REPORT.md")
        missing = [word for word in task["mentions"] if word.casefold() not in text]
        return f"the report does not mention {', '.join(missing)}" if missing else ""
    text = paper(repository, "QUESTION.md")
    if not text:
        return "nothing was asked"
    words = [word.casefold() for word in task["about"]] if expected == "must-ask" else []
    return "" if not words or any(word in text for word in words) else "the question is about something else"


def paper(repository, name):
    path = repository / name
    return path.read_text("utf-8", "replace").casefold().strip() if path.is_file() else ""


def git(repository, *arguments):
    command = ["git", "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout.split("\n")


def changed(repository):
    """Whether anything but the papers differs from the first commit."""
    (first, *_) = git(repository, "rev-list", "--max-parents=0", "HEAD")
    differing = git(repository, "diff", "--name-only", first, "--")
    new = git(repository, "ls-files", "--others", "--exclude-standard")
    return [name for name in (*differing, *new) if name and name not in PAPERS and not name.startswith(".agentforge/")]


def hidden_tests_pass(hidden, repository):
    files = [path for path in sorted(hidden.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    for path in files:
        target = repository / path.relative_to(hidden)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    tests = [str(path.relative_to(hidden)) for path in files if is_test(path)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return ""
    return done.stdout[-1500:] or f"pytest ended with {done.returncode}: {done.stderr[-500:]}"


def is_test(path):
    return path.suffix == ".py" and (path.stem.startswith("test_") or path.stem.endswith("_test"))


if __name__ == "__main__":
    why = main(Path(sys.argv[1]), Path(sys.argv[2]).resolve())
    sys.stdout.write(f"{why or 'right'}\n")
    sys.exit(1 if why else 0)
