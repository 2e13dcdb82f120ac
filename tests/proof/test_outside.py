"""Whatever is changed outside of a run's folder is found, too: head file, note, branch, replaced and altered objects, bundle, lease.

What cannot be found from inside the repository is tried as well, so that docs/proof.md names it and nothing else.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge.app.proof.verification import VerifyOptions, verify
from agentforge.canonical import canonical_bytes, digest_value
from agentforge.errors import AgentForgeError
from agentforge.proof import bundle as bundles
from agentforge.proof.anchors import NOTES_REF
from agentforge.proof.bundle import COMMIT, NOTE, PACK, read_bundle, write_bundle
from agentforge.proof.files import FolderFiles

if TYPE_CHECKING:
    from tests.proof.conftest import Golden

TAMPERS = 1_000
_SAMPLED = 20
_AT_ONCE = 50
"""So many are one test: a test that runs for five minutes counts as hung."""


class Place:
    """The golden run with all that stands around it, to be tampered with and put right again."""

    def __init__(self, golden: Golden, folder: Path) -> None:
        world = golden.world
        self.git = lambda *words: world.git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", *words)
        self.task = world.task
        self.repo = world.repo
        self.environ = world.env
        self.bundle = folder / "run.afbundle"
        self.whole = golden.bundle.read_bytes()
        self.bundle.write_bytes(self.whole)
        self.folder = world.folder
        (self.head,) = [path for path in world.home.rglob("heads/*/*.json") if path.stem == world.task]
        self.branch = f"refs/heads/agentforge/{self.task}"
        self.commit = self.git("rev-parse", self.branch)
        self.base = self.git("rev-parse", f"{self.commit}^")
        self.note = self.git("notes", f"--ref={NOTES_REF}", "show", self.commit)
        self.noted = self.git("rev-parse", NOTES_REF)
        self.lease = (self.folder / "lease").read_bytes()
        self._head = self.head.read_bytes()
        self.views = {name: data for name, data in FolderFiles(self.folder).items() if name.endswith((".yaml", ".md"))}
        self.objects = [
            repo_object
            for name in self.git("rev-list", "--objects", "--no-object-names", f"{self.base}..{self.commit}").split()
            if (repo_object := self.repo / ".git" / "objects" / name[:2] / name[2:]).is_file()
        ]
        self.contents = {path: path.read_bytes() for path in self.objects}

    def put_right(self) -> None:
        """Undo every tamper."""
        self.head.write_bytes(self._head)
        self.bundle.write_bytes(self.whole)
        (self.folder / "lease").write_bytes(self.lease)
        for name, data in self.views.items():
            (self.folder / name).write_bytes(data)
        for path, data in self.contents.items():
            path.unlink(missing_ok=True)
            path.write_bytes(data)
        self.git("update-ref", self.branch, self.commit)
        self.git("update-ref", NOTES_REF, self.noted)
        for ref in self.git("for-each-ref", "--format=%(refname)", "refs/replace/").split():
            self.git("update-ref", "-d", ref)

    def annotate(self, text: str) -> None:
        """Write another note."""
        path = self.bundle.with_name("note")
        path.write_text(text)
        self.git("notes", f"--ref={NOTES_REF}", "add", "-f", "-F", str(path), self.commit)

    def exit_code(self, target: str) -> int:
        """What `verify` says."""
        try:
            return verify(VerifyOptions(target=target, cwd=self.repo), environ=self.environ).exit_code
        except AgentForgeError as exc:
            return exc.exit_code


@pytest.fixture(scope="module")
def place(golden: Golden, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(golden, tmp_path_factory.mktemp("outside"))
    yield made
    made.put_right()


def _mangled(data: bytes, rng: random.Random) -> bytes:
    """Other bytes that are not the same."""
    found = bytearray(data)
    at = rng.randrange(len(found))
    match rng.randrange(4):
        case 0:
            found[at] ^= 1 << rng.randrange(8)
        case 1:
            del found[at : at + rng.choice((1, 2, 40))]
        case 2:
            found[at:at] = rng.choice((b" ", b"\n", b"\0", b"{}", rng.randbytes(5)))
        case _:
            del found[at:]
    return bytes(found)


def head(place: Place, rng: random.Random) -> None:
    """The head file, damaged or with another head."""
    if rng.random() < 0.5:
        place.head.write_bytes(_mangled(place.head.read_bytes(), rng))
    else:
        value = json.loads(place.head.read_bytes())
        value = {"head": f"{rng.randrange(16**64):064x}", "records": rng.randint(1, value["records"] + 3)}
        place.head.write_bytes(canonical_bytes(value) + b"\n")


def note(place: Place, rng: random.Random) -> None:
    """The git note: other envelopes, another trail, another delivery, or no note of ours at all."""
    value = json.loads(place.note)
    match rng.randrange(5):
        case 0:
            row = rng.choice(value["attestation"])
            row["payload"] = row["payload"][:-8] + "AAAAAAA="
        case 1:
            rng.choice(value["attestation"])["signatures"] = []
        case 2:
            value["attestation"].pop(rng.randrange(len(value["attestation"])))
        case 3:
            value["trail"] = {
                "head": f"{rng.randrange(16**64):064x}",
                "records": rng.randint(1, value["trail"]["records"]),
            }
        case _:
            value[rng.choice(("task", "commit", "tree"))] = f"{rng.randrange(16**40):040x}"
    place.annotate(json.dumps(value, indent=1, sort_keys=True) if rng.random() < 0.9 else "no note of ours")


def branch(place: Place, rng: random.Random) -> None:
    """The branch stands elsewhere."""
    tree = place.git("rev-parse", f"{rng.choice((place.base, place.commit))}^{{tree}}")
    other = place.git("commit-tree", tree, "-p", rng.choice((place.base, place.commit)), "-m", f"other {rng.random()}")
    place.git("update-ref", place.branch, rng.choice((place.base, other)))


def replace_ref(place: Place, rng: random.Random) -> None:
    """Git is told to show something else in the place of the commit, its tree or a file."""
    named = place.git("rev-list", "--objects", "--no-object-names", f"{place.commit}^{{tree}}").split()
    victim = rng.choice([place.commit, *named])
    kind = place.git("cat-file", "-t", victim)
    other = {"commit": place.base, "tree": place.git("rev-parse", f"{place.base}^{{tree}}")}.get(kind, "")
    if kind == "blob" or other == victim:
        path = place.bundle.with_name("other")
        path.write_bytes(rng.randbytes(20))
        other, kind = place.git("hash-object", "-w", str(path)), "blob"
        victim = next(name for name in named if place.git("cat-file", "-t", name) == "blob")
    place.git("update-ref", f"refs/replace/{victim}", other)


def loose_object(place: Place, rng: random.Random) -> None:
    """The file of an object of the delivery is gone, damaged, or a right file with another content."""
    path = rng.choice(place.objects)
    path.chmod(0o644)
    match rng.randrange(3):
        case 0:
            path.unlink()
        case 1:
            path.write_bytes(path.read_bytes()[: rng.randrange(1, 12)])
        case _:
            kind, _, content = zlib.decompress(path.read_bytes()).partition(b"\0")
            more = content + b"# nobody wrote this\n"
            path.write_bytes(zlib.compress(kind.split(b" ")[0] + b" %d\0" % len(more) + more))


def lease(place: Place, rng: random.Random) -> None:
    """The lease says that a process died, and a view is another one."""
    value = json.loads(place.lease)
    value.pop("digest")
    value["released"] = False
    (place.folder / "lease").write_bytes(canonical_bytes({**value, "digest": digest_value(value)}) + b"\n")
    path = place.folder / rng.choice(sorted(place.views))
    path.write_bytes(_mangled(path.read_bytes(), rng) + b"x")


def views_version(place: Place, rng: random.Random) -> None:
    """The mark of the views names other views of this version, and a view is another one."""
    path = place.folder / "views.json"
    if path.name not in place.views:
        place.views[path.name] = path.read_bytes()
    value = json.loads(path.read_bytes())
    value["writer"] = value["writer"].rpartition(" ")[0] + f" {rng.randrange(3, 99)}"
    name = rng.choice([name for name in sorted(place.views) if name != path.name])
    (place.folder / name).write_bytes(place.views[name] + b"x")
    path.write_bytes(canonical_bytes(value) + b"\n")


def bundle(place: Place, rng: random.Random) -> None:
    """The bundle, damaged, or packed anew with something else in it and a manifest that fits."""
    if rng.random() < 0.5:
        place.bundle.write_bytes(_mangled(place.whole, rng))
        return
    found = read_bundle(place.whole)
    inside = bundles._untar(bundles._inflated(place.whole))
    git = {name: inside[name] for name in (COMMIT, NOTE, PACK)}
    run, task = dict(found.files), found.task
    match rng.randrange(4):
        case 0:
            task = f"task-{rng.randrange(10**6)}"
        case 1:
            git[PACK] = _mangled(git[PACK], rng)
        case 2:
            del git[rng.choice((COMMIT, PACK))]
        case _:
            value = json.loads(git[NOTE])
            value["attestation"][0]["signatures"] = []
            git[NOTE] = json.dumps(value).encode()
    place.bundle.write_bytes(write_bundle(task=task, run=run, git=git))


_KINDS: tuple[Callable[[Place, random.Random], None], ...] = (
    head, note, branch, replace_ref, loose_object, lease, views_version, bundle,
)  # fmt: skip


def _missed(place: Place, seeds: range) -> list[tuple[int, str]]:
    missed = []
    for seed in seeds:
        rng = random.Random(seed)
        kind = _KINDS[seed % len(_KINDS)]
        try:
            kind(place, rng)
            if place.exit_code(str(place.bundle) if kind is bundle else place.task) == 0:
                missed.append((seed, kind.__name__))
        finally:
            place.put_right()
    return missed


def test_a_sample_of_what_is_changed_outside_of_the_folder_is_found(place: Place) -> None:
    assert (place.exit_code(place.task), place.exit_code(str(place.bundle))) == (0, 0)
    assert _missed(place, range(_SAMPLED)) == []
    assert (place.exit_code(place.task), place.exit_code(str(place.bundle))) == (0, 0)


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Iterator[list[int]]:
    """How many changes were tried and found; told at the end, so that `make chaos` shows the sum."""
    counted = [0, 0]
    yield counted
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\n{counted[1]} of {counted[0]} changes outside of a run's folder were found")


@pytest.mark.chaos
@pytest.mark.parametrize("first", range(0, TAMPERS, _AT_ONCE))
def test_a_thousand_changes_outside_of_the_folder_are_found(place: Place, found: list[int], first: int) -> None:
    missed = _missed(place, range(first, first + _AT_ONCE))
    found[0] += _AT_ONCE
    found[1] += _AT_ONCE - len(missed)
    assert missed == []


def test_every_way_of_changing_a_git_object_is_put_right_again(place: Place) -> None:
    for seed in range(24):
        try:
            loose_object(place, random.Random(seed))
        finally:
            place.put_right()
    assert {path: path.read_bytes() for path in place.objects} == place.contents


def test_what_cannot_be_found_is_what_the_docs_name(place: Place) -> None:
    """An anchor that is gone, and a branch that is gone, are not missed: they may never have been here, or were merged."""
    for gone in (lambda: place.head.unlink(), lambda: place.git("update-ref", "-d", NOTES_REF),
                 lambda: place.git("update-ref", "-d", place.branch)):  # fmt: skip
        try:
            gone()
            assert place.exit_code(place.task) == 0
        finally:
            place.put_right()
    text = " ".join((Path(__file__).parents[2] / "docs" / "proof.md").read_text("utf-8").split())
    for words in (
        "An anchor that was removed",
        "A branch that was removed",
        "rewrite log, lease, head file and note together",
    ):
        assert words in text
