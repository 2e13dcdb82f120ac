"""Do the main job with a model on this machine and no key: find or download the model, then `agentforge start`.

Called by `make run`. Without REPO and REQUEST a small repository is made under build/. The variables of the environment:
REPO and REQUEST say what is done where; MODEL names another model (PROVIDER/NAME); FROM says where the weights come from
instead; YES=1 agrees to the download. Where no model can be had, the recorded demonstration is played instead.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AGENTFORGE = ROOT / ".venv" / "bin" / "agentforge"
INTERRUPTED = 130
REQUEST = (
    "Add a function percent_of(cents, percent) to shopcart/money.py that returns that share of an amount in whole cents, "
    "rounded down. percent_of(1000, 10) returns 100, percent_of(999, 50) returns 499, and percent_of(0, 25) returns 0."
)


def main(environ: Mapping[str, str]) -> int:
    """Do the job.

    Returns:
        The exit code of `agentforge start`, or of the demonstration.
    """
    repo, request = environ.get("REPO", ""), environ.get("REQUEST", "")
    if repo and not request:
        print(f'error: REPO needs a request: make run REPO={repo} REQUEST="..."', file=sys.stderr)
        return 2
    model, code = (environ["MODEL"], 0) if environ.get("MODEL") else found_model(environ)
    if code:
        return code
    if not model and (repo or request):
        print(
            "error: there is no model for your request; see above, or name one: make run MODEL=PROVIDER/NAME",
            file=sys.stderr,
        )
        return 5
    if not model:
        print(
            "No model could be had, so the recorded demonstration is played instead: the replies are recorded, the rest is real."
        )
        return call("demo")
    folder = Path(repo) if repo else sample(ROOT / "build" / "shopcart")
    return call("start", request or REQUEST, "--model", model, folder=folder)


def found_model(environ: Mapping[str, str]) -> tuple[str, int]:
    """The model that is on this machine, or gets there, or is served here already.

    Returns:
        Its name, "" where there is none; and an exit code that ends the job, 0 = none.
    """
    listed = json.loads(output("model", "list", "--json"))
    usual, answering = listed["models"][0], listed["answering"]
    name = f"local/{usual['name']}"
    agreed, terminal = bool(environ.get("YES")), sys.stdin.isatty()
    if not (usual["whole"] or agreed or terminal or environ.get("FROM")):
        print(
            "note: the local model was not downloaded, because nobody is at a terminal to agree; agree with: make run YES=1"
        )
    else:
        place = ["--from", environ["FROM"]] if environ.get("FROM") else []
        code = call("model", "pull", usual["name"], *(["--yes"] if agreed else []), *place)
        if code == 0:
            return name, 0
        if code == INTERRUPTED or place:
            return "", code
    if answering is None:
        return "", 0
    served = f"{answering['provider']}/{answering['model']}"
    print(f"a server on this machine answers at {answering['base_url']}: the job is done with {served}")
    return served, 0


def sample(folder: Path) -> Path:
    """Make a fresh copy of the bundled repository, committed."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "src/agentforge/demo/project", folder, ignore=shutil.ignore_patterns("__pycache__"))
    git = ["git", "-C", str(folder), "-c", "user.name=sample", "-c", "user.email=sample@localhost"]
    for step in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["commit", "--quiet", "--message=shopcart, as it is before the request"],
    ):
        subprocess.run([*git, *step], check=True)
    print(f"the sample repository is {folder}")
    return folder


def call(*arguments: str, folder: Path | None = None) -> int:
    """Run agentforge as a person would, on the same terminal."""
    sys.stdout.flush()
    try:
        return subprocess.run([AGENTFORGE, *arguments], cwd=folder, check=False).returncode
    except KeyboardInterrupt:  # it heard it, too, and has said so
        return INTERRUPTED


def output(*arguments: str) -> str:
    """What agentforge prints."""
    return subprocess.run([AGENTFORGE, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    try:
        sys.exit(main(os.environ))
    except subprocess.CalledProcessError as exc:
        sys.exit(exc.returncode)
