"""`agentforge verify` as a user meets it: a task, a branch in a clone, a bundle elsewhere; and what each forgery is answered."""

from __future__ import annotations

import json
import shutil
import subprocess
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentforge.app.proof.verification import views_of
from agentforge.canonical import canonical_bytes, digest_value
from agentforge.errors import IntegrityError
from agentforge.proof.anchors import read_note
from agentforge.proof.bundle import read_bundle, write_bundle
from agentforge.proof.chain import LOG
from agentforge.proof.envelope import Signer, read_envelopes, seal, write_envelopes
from agentforge.proof.files import FolderFiles
from agentforge.proof.run import Surroundings, verify_run
from tests.support.forged_logs import chained
from tests.support.world import World, own_settings

if TYPE_CHECKING:
    from tests.proof.conftest import Golden

ENVELOPES = "application/vnd.in-toto+json"


def checks(done: Any) -> dict[str, bool]:
    return {row["name"]: row["ok"] for row in done.json["checks"]}


@pytest.fixture
def elsewhere(golden: Golden, tmp_path: Path) -> Any:
    """A machine that has neither the repository, nor the data folder, nor a key."""
    (tmp_path / "empty").mkdir()
    own_settings(tmp_path / "other", "")  # the same python: another version of pytest is measured differently
    return World(repo=tmp_path / "empty", home=tmp_path / "other", pycache=golden.world.pycache)


@pytest.fixture
def clone(golden: Golden, tmp_path: Path) -> Path:
    """A clone with the branch and the notes, as CI has it."""
    golden.world.git("clone", "-q", str(golden.world.repo), str(tmp_path / "clone"))
    golden.world.git("fetch", "-q", "origin", "refs/notes/*:refs/notes/*", cwd=tmp_path / "clone")
    return tmp_path / "clone"


def test_a_task_holds_by_its_id_by_its_branch_and_by_its_folder(golden: Golden) -> None:
    world = golden.world
    for target in (world.task, f"agentforge/{world.task}", str(world.folder)):
        done = world.run("verify", target, "--json")
        assert (done.code, done.json["ok"]) == (0, True), done.out
        assert {"chain", "blobs", "artifacts", "verdicts", "views", "anchors", "attestation", "signature"} <= set(
            checks(done)
        )


def test_a_verification_leaves_the_folder_as_it_is(golden: Golden) -> None:
    before = {name: (golden.world.folder / name).stat().st_mtime_ns for name in golden.files}
    golden.world.run("verify", golden.world.task)
    assert {name: (golden.world.folder / name).stat().st_mtime_ns for name in golden.files} == before


def test_a_bundle_holds_where_nothing_else_is(golden: Golden, elsewhere: Any) -> None:
    done = elsewhere.run("verify", str(golden.bundle), "--key", str(golden.public_key), "--json")
    assert (done.code, all(checks(done).values())) == (0, True), done.out
    assert "signed by" in next(row["detail"] for row in done.json["checks"] if row["name"] == "signature")


def test_a_bundle_is_measured_again_where_nothing_else_is(golden: Golden, elsewhere: Any) -> None:
    done = elsewhere.run("verify", str(golden.bundle), "--rerun", "--json")
    assert done.code == 0, done.out
    assert {"rerun baseline", "rerun red", "rerun green", "rerun refactor"} <= set(checks(done))


def test_a_bundle_has_the_same_bytes_when_it_is_made_twice(golden: Golden, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert golden.world.run("bundle", golden.world.task, "-o", str(again)).code == 0
    assert again.read_bytes() == golden.bundle.read_bytes()


@pytest.mark.parametrize("at", [3, 40, 4_000, -30, -2])
def test_a_changed_bundle_is_refused(golden: Golden, elsewhere: Any, tmp_path: Path, at: int) -> None:
    data = bytearray(golden.bundle.read_bytes())
    data[at] ^= 0x21
    (tmp_path / "bad").write_bytes(bytes(data))
    done = elsewhere.run("verify", str(tmp_path / "bad"))
    assert done.code == 9 or at == 3  # byte 3 of gzip holds flags
    assert done.code != 0


def test_a_branch_in_a_clone_is_verified_by_its_note_and_signature(golden: Golden, clone: Path, elsewhere: Any) -> None:
    branch = f"origin/agentforge/{golden.world.task}"
    done = elsewhere.run("verify", branch, "--key", str(golden.public_key), "--json", cwd=clone)
    assert (done.code, checks(done)["signature"], checks(done)["attestation"]) == (0, True, True), done.out


def test_a_branch_with_its_note_alone_is_measured_again_by_its_attested_tests(
    golden: Golden, clone: Path, elsewhere: Any
) -> None:
    branch = f"origin/agentforge/{golden.world.task}"
    done = elsewhere.run("verify", branch, "--rerun", "--json", cwd=clone)
    assert (done.code, checks(done).get("rerun tests")) == (0, True), done.out
    assert "refs/agentforge/bundles" in next(row["detail"] for row in done.json["checks"] if row["name"] == "trail")


def test_a_branch_in_a_clone_is_verified_whole_when_its_bundle_is_in_a_ref(
    golden: Golden, clone: Path, elsewhere: Any
) -> None:
    world = golden.world
    assert world.run("bundle", world.task, "--ref").code == 0
    world.git("fetch", "-q", "origin", "refs/agentforge/bundles/*:refs/agentforge/bundles/*", cwd=clone)
    done = elsewhere.run("verify", f"origin/agentforge/{world.task}", "--json", cwd=clone)
    assert done.code == 0
    assert {"branch", "bundle", "verdicts", "views"} <= set(checks(done))


def test_a_branch_that_was_changed_after_its_delivery_is_refused(golden: Golden, clone: Path, elsewhere: Any) -> None:
    world = golden.world
    world.git("checkout", "-q", f"agentforge/{world.task}", cwd=clone)
    (clone / "textkit.py").write_text("evil = True\n")
    as_e = ("-c", "user.name=E", "-c", "user.email=e@e")
    world.git(*as_e, "commit", "-qam", "more", cwd=clone)
    assert elsewhere.run("verify", "HEAD", cwd=clone).code == 2  # no trailers
    message = world.git("log", "-1", "--format=%B", "HEAD~1", cwd=clone)
    world.git(*as_e, "commit", "-q", "--amend", "-m", message, cwd=clone)
    assert (
        elsewhere.run("verify", "HEAD", cwd=clone).code == 4
    )  # the trailers are copied, the note is not about this commit
    note = world.git("notes", "--ref=agentforge", "show", "HEAD~1", cwd=clone)
    world.git(*as_e, "notes", "--ref=agentforge", "add", "-m", note, "HEAD", cwd=clone)
    assert elsewhere.run("verify", "HEAD", cwd=clone).code == 9


def test_a_key_that_did_not_sign_is_not_enough(golden: Golden, elsewhere: Any, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "k")], check=True)
    done = elsewhere.run("verify", str(golden.bundle), "--key", str(tmp_path / "k.pub"), "--json")
    assert (done.code, checks(done)["signature"]) == (4, False)


def test_a_statement_that_says_more_than_the_trail_is_refused(golden: Golden, elsewhere: Any, tmp_path: Path) -> None:
    bundle = read_bundle(golden.bundle.read_bytes())
    attested = next(
        json.loads(line) for line in golden.files["events.jsonl"].splitlines() if b'"type":"Attested"' in line
    )
    digest = attested["data"]["envelopes"]
    name = next(name for name in bundle.files if name.startswith(f"blobs/{digest[:2]}/{digest[2:]}"))
    files = {**bundle.files, name: golden.files[name][::-1]}
    bad = write_bundle(task=bundle.task, run=files, git={})
    (tmp_path / "bad").write_bytes(bad)
    done = elsewhere.run("verify", str(tmp_path / "bad"), "--json")
    assert (done.code, checks(done)["blobs"], checks(done)["attestation"]) == (9, False, False)


def test_a_verdict_that_the_rules_do_not_give_is_refused(golden: Golden) -> None:
    """The forger has the whole machine, makes the chain right, and even the views: the rules speak against it."""
    records = [json.loads(line) for line in golden.files["events.jsonl"].splitlines()]
    for record in records:
        if record["type"] == "FactsGathered" and record["data"]["name"] == "green":
            record["data"]["facts"]["regressions"] = ["tests/test_textkit.py::test_shout"]
            record["data"]["facts"]["no_regressions"] = False
    files = {**golden.files, "events.jsonl": chained(records)}
    report, _ = verify_run({**files, **views_of(files)}, Surroundings(rebuild=views_of))
    assert "verdicts" in {check.name for check in report.checks if not check.ok}


def test_what_is_not_there_is_a_usage_error(elsewhere: Any) -> None:
    assert elsewhere.run("verify", "nothing-like-it").code == 2


def test_a_bundle_that_inflates_beyond_all_measure_is_refused_before_it_is_held(
    golden: Golden, tmp_path: Path, elsewhere: Any
) -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(900)) + packer.flush()
    path = tmp_path / "bomb.afbundle"
    path.write_bytes(golden.bundle.read_bytes()[:10] + bomb[10:])
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    with pytest.raises(IntegrityError, match="inflates to more than"):
        read_bundle(path.read_bytes())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250 << 20


def _killed(golden: Golden, folder: Path, *, views_after: int) -> dict[str, bytes]:
    """A copy of the run as a process leaves it that is killed: the views are those after an earlier record."""
    lines = golden.files[LOG].splitlines(keepends=True)
    earlier = views_of({**golden.files, LOG: b"".join(lines[:views_after])})
    lease = {key: item for key, item in json.loads(golden.files["lease"]).items() if key != "digest"}
    lease["released"] = False
    kept = {name: data for name, data in golden.files.items() if name == LOG or name.startswith("blobs/")}
    value = canonical_bytes({**lease, "digest": digest_value(lease)}) + b"\n"
    for name, data in {**kept, **earlier, "lease": value}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return earlier


def test_the_views_of_a_killed_run_may_lag_behind_and_are_what_the_log_said_then(
    golden: Golden, tmp_path: Path
) -> None:
    records = len(golden.files[LOG].splitlines())
    for after in (1, records // 2, records - 1, records):
        folder = tmp_path / f"run{after}"
        earlier = _killed(golden, folder, views_after=after)
        done = golden.world.run("verify", str(folder), "--json")
        assert (done.code, checks(done)["views"]) == (0, True), done.out
        (folder / "state.yaml").write_bytes(earlier["state.yaml"] + b"behind: true\n")
        assert golden.world.run("verify", str(folder)).code == 9


def test_what_a_killed_writer_moved_aside_and_did_not_record_yet_belongs_to_the_run(
    golden: Golden, tmp_path: Path
) -> None:
    _killed(golden, tmp_path / "killed", views_after=1)
    killed, records = dict(FolderFiles(tmp_path / "killed")), golden.files[LOG].count(b"\n")
    for files, number, belongs in (
        (killed, records + 1, True),
        (killed, records, False),
        (killed, records + 2, False),
        (golden.files, records + 1, False),
    ):
        aside = {f"quarantine/record-{number:06d}-fence-0002": b'{"at":"2026-'}
        report, _ = verify_run({**files, **aside}, Surroundings(rebuild=views_of))
        assert [check.ok for check in report.checks if check.name == "files"] == [belongs]


@pytest.mark.parametrize("is_right", [True, False])
def test_a_note_whose_envelopes_no_record_names_yet_belongs_to_a_run_that_goes_on(
    golden: Golden, is_right: bool
) -> None:
    lines = golden.files[LOG].splitlines(keepends=True)
    kinds = [json.loads(line)["type"] for line in lines]
    made = next(json.loads(line)["data"] for line in lines if json.loads(line)["type"] == "Delivered")
    text = golden.world.git("notes", "--ref=agentforge", "show", str(made["commit"]))
    note = read_note(text) if is_right else replace(read_note(text), tree="0" * 40)
    files = {**golden.files, LOG: b"".join(lines[: kinds.index("Attested")])}
    report, _ = verify_run(files, Surroundings(note=note))
    assert [check.ok for check in report.checks if check.name == "note"] == [is_right]


def test_an_attestation_that_was_taken_out_is_missed(golden: Golden) -> None:
    """Even where the chain is made right again, and no anchor speaks against it."""
    records = [json.loads(line) for line in golden.files[LOG].splitlines()]
    left = [record for record in records if record["type"] != "Attested"]
    for number, record in enumerate(left, start=1):
        record["seq"] = number
    report, _ = verify_run({**golden.files, LOG: chained(left)}, Surroundings(leased=False))
    assert "attestation" in {check.name for check in report.checks if not check.ok}


def test_a_link_in_a_run_is_refused(golden: Golden, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(golden.world.folder, folder)
    (folder / "task.yaml").unlink()
    (folder / "task.yaml").symlink_to(golden.world.folder / "task.yaml")
    assert golden.world.run("verify", str(folder)).code == 9


def test_the_user_s_refs_are_left_alone(golden: Golden) -> None:
    refs = golden.world.git("for-each-ref", "--format=%(refname)").splitlines()
    ours = ("refs/heads/agentforge/", "refs/notes/agentforge", "refs/agentforge/")
    assert [ref for ref in refs if not ref.startswith(ours)] == ["refs/heads/main"]


def test_an_envelope_is_what_the_standard_says(golden: Golden) -> None:
    note = json.loads(golden.world.git("notes", "--ref=agentforge", "show", f"agentforge/{golden.world.task}"))
    types = set()
    for envelope in note["attestation"]:
        assert envelope["payloadType"] == ENVELOPES
        (statement,) = [item.statement for item in read_envelopes(write_envelopes([envelope]))]
        assert statement["_type"] == "https://in-toto.io/Statement/v1"
        assert statement["subject"][0]["digest"]["gitCommit"] == note["commit"]  # type: ignore[index]
        types.add(statement["predicateType"])
    assert types == {"https://in-toto.io/attestation/test-result/v0.1", "https://slsa.dev/provenance/v1"}


def test_a_signature_is_over_type_and_bytes() -> None:
    signed: list[bytes] = []
    seal({"a": 1}, signer=Signer(key_id="k", sign=lambda data: signed.append(data) or b"s"))  # type: ignore[func-returns-value]
    assert signed == [b'DSSEv1 28 application/vnd.in-toto+json 7 {"a":1}']


def test_the_step_of_the_documentation_runs_on_a_clone(golden: Golden, clone: Path, elsewhere: Any) -> None:
    world = golden.world
    assert world.run("bundle", world.task, "--ref").code == 0
    text = (Path(__file__).parents[2] / "docs" / "ci.md").read_text("utf-8")
    step = text.split("```sh\n")[1].split("```")[0]
    (clone / ".agentforge" / "keys").mkdir(parents=True)
    shutil.copy(golden.public_key, clone / ".agentforge" / "keys" / "ann.pub")
    env = {**elsewhere.env, "BRANCH": f"agentforge/{world.task}"}
    done = subprocess.run(["bash", "-ec", step], cwd=clone, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "signed by agentforge" in done.stdout
