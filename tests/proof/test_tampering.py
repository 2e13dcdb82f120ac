"""Whatever is changed in a run's folder is found: thousands of random tampers of one real run, in memory."""

from __future__ import annotations

import functools
import hashlib
import json
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from agentforge.app.proof.verification import views_of
from agentforge.events.storage.blob_form import PACK, packed
from agentforge.proof.anchors import Anchor, read_commit
from agentforge.proof.chain import LOG
from agentforge.proof.public_keys import read_public_key
from agentforge.proof.run import Surroundings, verify_run
from agentforge.workspace.git.objects import commit_object
from agentforge.workspace.git.repository import Git
from tests.support.forged_logs import chained

if TYPE_CHECKING:
    from tests.proof.conftest import Golden

TAMPERS = 2_100
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def around(golden: Golden) -> Surroundings:
    """What stands outside of the folder: head and length in the git note, the commit, the key."""
    git = Git(golden.world.repo)
    records = golden.files[LOG].splitlines()
    anchor = Anchor(source="git note", head=json.loads(records[-1])["hash"], records=len(records))
    made = {}
    for record in map(json.loads, records):
        if record["type"] == "Delivered":
            raw = commit_object(git, record["data"]["commit"])
            assert raw is not None
            made[record["data"]["commit"]] = read_commit(raw, oid=record["data"]["commit"])
    key = read_public_key(golden.public_key.read_text(), source="ann")

    @functools.cache
    def rebuilt(log: bytes) -> dict[str, bytes]:
        return views_of({**golden.files, LOG: log})

    return Surroundings(
        rebuild=lambda files: rebuilt(files[LOG]), anchors=[anchor], commit=made.get, keys=(key,), required=True
    )


def test_the_run_itself_holds(golden: Golden, around: Surroundings) -> None:
    report, _ = verify_run(golden.files, around)
    assert report.ok, report.value()


@pytest.mark.parametrize("part", range(3))
def test_every_random_tamper_is_found(golden: Golden, around: Surroundings, part: int) -> None:
    missed, kinds = [], set()
    for seed in range(part * TAMPERS // 3, (part + 1) * TAMPERS // 3):
        rng = random.Random(seed)
        tamper = rng.choice(_TAMPERS)
        files = dict(golden.files)
        tamper(files, rng)
        if files == golden.files:
            continue
        kinds.add(tamper.__name__)
        report, _ = verify_run(files, around)
        if report.ok or report.exit_code != 9:
            missed.append((seed, tamper.__name__))
    assert missed == []
    assert kinds == {tamper.__name__ for tamper in _TAMPERS}


def test_a_blob_whose_file_differs_is_found_even_when_it_inflates_to_the_same_content(
    golden: Golden, around: Surroundings
) -> None:
    tried = 0
    for name in [name for name in golden.files if name.endswith(".z")]:
        for data in _same_content(golden.files[name]):
            tried += 1
            report, _ = verify_run({**golden.files, name: data}, around)
            assert report.exit_code == 9, name
    assert tried > 20


def _same_content(data: bytes) -> Iterator[bytes]:
    """Other files with the same content: another level named in the header, other bits behind the last code."""
    content = zlib.decompress(data)
    changed = [bytes([data[0], second]) + data[2:] for second in (0x5E, 0x9C, 0xDA)]
    changed += [data[:-5] + bytes([data[-5] ^ 1 << bit]) + data[-4:] for bit in range(8)]
    for other in [*changed, zlib.compress(content, 9), zlib.compress(content, 0)]:
        with suppress(zlib.error):
            if other != data and zlib.decompress(other) == content:
                yield other


def test_a_run_whose_blobs_are_packed_holds_and_whatever_is_changed_in_the_pack_is_found(
    golden: Golden, around: Surroundings
) -> None:
    blobs = {name: data for name, data in golden.files.items() if name.startswith("blobs/")}
    files = {**{name: data for name, data in golden.files.items() if name not in blobs}, PACK: packed(blobs)}
    report, _ = verify_run(files, around)
    assert report.ok, report.value()
    pack, missed = files[PACK], []
    for seed in range(300):
        rng = random.Random(seed)
        tamper = rng.choice((change_a_byte, flip_a_bit, delete_bytes, insert_bytes, swap_bytes, truncate))
        only = {PACK: pack}
        tamper(only, rng, name=PACK)
        if only[PACK] != pack and verify_run({**files, **only}, around)[0].exit_code != 9:
            missed.append((seed, tamper.__name__))
    assert missed == []
    one = next(iter(blobs))
    assert verify_run({**files, one: blobs[one]}, around)[0].exit_code == 9


def test_a_rewritten_trail_whose_chain_holds_breaks_its_anchors(golden: Golden, around: Surroundings) -> None:
    lines = golden.files[LOG].splitlines(keepends=True)
    for cut in range(0, len(lines), 7):
        records = [json.loads(line) for line in lines]
        records[cut]["data"]["note_of_the_forger"] = cut
        files = {**golden.files, LOG: chained(records)}
        report, _ = verify_run({**files, **views_of(files)}, around)
        assert "anchors" in {check.name for check in report.checks if not check.ok}


def test_a_cut_tail_is_found_even_when_the_views_fit_it(golden: Golden, around: Surroundings) -> None:
    lines = golden.files[LOG].splitlines(keepends=True)
    for left in (len(lines) - 1, len(lines) - 3, len(lines) // 2, 1):
        cut = b"".join(lines[:left])
        views = views_of({**golden.files, LOG: cut})
        kept = {name: data for name, data in golden.files.items() if name.startswith("blobs/") or name == "lease"}
        report, _ = verify_run({**kept, LOG: cut, **views}, around)
        assert "anchors" in {check.name for check in report.checks if not check.ok}
        assert report.exit_code == 9


# -- the tampers


def _pick(files: Files, rng: random.Random) -> str:
    """The log every other time, any file else."""
    return LOG if rng.random() < 0.4 else rng.choice(sorted(files))


def change_a_byte(files: Files, rng: random.Random, *, name: str = "") -> None:
    name = name or _pick(files, rng)
    data = bytearray(files[name])
    data[rng.randrange(len(data))] = rng.randrange(256)
    files[name] = bytes(data)


def flip_a_bit(files: Files, rng: random.Random, *, name: str = "") -> None:
    name = name or _pick(files, rng)
    data = bytearray(files[name])
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    files[name] = bytes(data)


def delete_bytes(files: Files, rng: random.Random, *, name: str = "") -> None:
    name = name or _pick(files, rng)
    at = rng.randrange(len(files[name]))
    files[name] = files[name][:at] + files[name][at + rng.choice((1, 1, 2, 40)) :]


def insert_bytes(files: Files, rng: random.Random, *, name: str = "") -> None:
    name = name or _pick(files, rng)
    at = rng.randrange(len(files[name]) + 1)
    more = rng.choice((b" ", b"\n", b"\0", b"{}", rng.randbytes(rng.randrange(1, 9))))
    files[name] = files[name][:at] + more + files[name][at:]


def swap_bytes(files: Files, rng: random.Random, *, name: str = "") -> None:
    name = name or _pick(files, rng)
    data = bytearray(files[name])
    one, other = rng.randrange(len(data)), rng.randrange(len(data))
    data[one], data[other] = data[other], data[one]
    files[name] = bytes(data)


def truncate(files: Files, rng: random.Random, *, name: str = "") -> None:
    name = name or _pick(files, rng)
    files[name] = files[name][: rng.randrange(len(files[name]))]


def drop_a_record(files: Files, rng: random.Random) -> None:
    lines = files[LOG].splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    files[LOG] = b"".join(lines)


def cut_the_tail(files: Files, rng: random.Random) -> None:
    lines = files[LOG].splitlines(keepends=True)
    files[LOG] = b"".join(lines[: rng.randrange(len(lines))])


def swap_records(files: Files, rng: random.Random) -> None:
    lines = files[LOG].splitlines(keepends=True)
    one, other = rng.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    files[LOG] = b"".join(lines)


def repeat_a_record(files: Files, rng: random.Random) -> None:
    lines = files[LOG].splitlines(keepends=True)
    at = rng.randrange(len(lines))
    files[LOG] = b"".join([*lines[:at], lines[at], *lines[at:]])


def remove_a_file(files: Files, rng: random.Random) -> None:
    del files[rng.choice(sorted(files))]


def swap_files(files: Files, rng: random.Random) -> None:
    one, other = rng.sample(sorted(files), 2)
    files[one], files[other] = files[other], files[one]


def rename_a_file(files: Files, rng: random.Random) -> None:
    name = rng.choice(sorted(files))
    files[f"{name}.bak"] = files.pop(name)


def add_a_file(files: Files, rng: random.Random) -> None:
    folder = rng.choice(("", "artifacts/", "artifacts/phases/green/", "blobs/", "blobs/ab/", "escalations/"))
    files[f"{folder}{rng.randrange(1 << 30):x}.yaml"] = rng.randbytes(20)


def add_a_blob(files: Files, rng: random.Random) -> None:
    content = rng.randbytes(30)
    digest = hashlib.sha256(content).hexdigest()
    files[f"blobs/{digest[:2]}/{digest[2:]}"] = content


def empty_a_file(files: Files, rng: random.Random) -> None:
    files[rng.choice(sorted(files))] = b""


def forge_the_end(files: Files, rng: random.Random) -> None:
    """Alter a record and make all hashes behind it right again."""
    records = [json.loads(line) for line in files[LOG].splitlines()]
    at = rng.randrange(len(records))
    records[at]["at"] = records[at]["at"].replace("Z", "0Z") if rng.random() < 0.5 else records[at]["at"]
    records[at]["data"]["forged"] = True
    files[LOG] = chained(records)


_TAMPERS: tuple[Callable[[Files, random.Random], None], ...] = (
    change_a_byte, flip_a_bit, delete_bytes, insert_bytes, swap_bytes, truncate, drop_a_record, cut_the_tail,
    swap_records, repeat_a_record, remove_a_file, swap_files, rename_a_file, add_a_file, add_a_blob, empty_a_file,
    forge_the_end,
)  # fmt: skip


def test_a_forged_record_that_means_nothing_is_a_finding_and_no_crash(golden: Golden, around: Surroundings) -> None:
    """The chain is made right again around values of the wrong type; the verifier must say so in its own words."""
    for seed in range(60):
        rng = random.Random(seed)
        records = [json.loads(line) for line in golden.files[LOG].splitlines()]
        record = rng.choice(records)
        if record["data"]:
            record["data"][rng.choice(sorted(record["data"]))] = rng.choice(
                ([], {}, 7, None, "x", {"a": [None]}, [[1]])
            )
        report, _ = verify_run({**golden.files, LOG: chained(records)}, around)
        assert not report.ok or records == [json.loads(line) for line in golden.files[LOG].splitlines()]
