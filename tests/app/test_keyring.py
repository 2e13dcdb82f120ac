"""Signing keys: made with the right permissions, used by name of their fingerprint, of both kinds."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest

from agentforge.app.proof.keyring import kept_keys, make_key, own_key, own_signer, public_key_file
from agentforge.errors import ConflictError, IntegrityError, UsageError
from agentforge.proof.envelope import read_envelopes, seal, write_envelopes
from agentforge.proof.public_keys import PublicKey, read_public_key, signature_problem

STATEMENT = {"_type": "https://in-toto.io/Statement/v1", "subject": []}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"AGENTFORGE_HOME": str(tmp_path / "af"), "HOME": str(tmp_path)}


@pytest.fixture
def ssh_key(tmp_path: Path) -> Path:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ann@example.org", "-f", str(tmp_path / "id")]
    subprocess.run(argv, check=True)
    return tmp_path / "id"


def signed(environ: dict[str, str]) -> bytes:
    return write_envelopes([seal(STATEMENT, signer=own_signer(environ))])


def problem(envelopes: bytes, *keys: PublicKey) -> tuple[str, PublicKey | None]:
    (envelope,) = read_envelopes(envelopes)
    return signature_problem(envelope, keys)


def test_a_private_key_is_its_owner_s_alone(environ: dict[str, str]) -> None:
    made = Path(make_key(environ).path)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700


def test_a_key_is_never_written_over(environ: dict[str, str]) -> None:
    make_key(environ)
    with pytest.raises(ConflictError):
        make_key(environ)


def test_a_signature_is_believed_for_its_key_alone(environ: dict[str, str], ssh_key: Path) -> None:
    key = make_key(environ).public
    other = public_key_file(ssh_key.with_suffix(".pub"))
    assert problem(signed(environ), key) == ("", key)
    assert "not known" in problem(signed(environ), other)[0]


def test_an_ssh_key_signs_too(environ: dict[str, str], ssh_key: Path) -> None:
    made = make_key(environ, ssh=ssh_key)
    assert (made.kind, made.public.name) == ("ssh", "ann@example.org")
    assert problem(signed(environ), made.public) == ("", made.public)
    listed = subprocess.run(["ssh-keygen", "-l", "-f", f"{ssh_key}.pub"], capture_output=True, text=True, check=True)
    assert made.public.key_id in listed.stdout


@pytest.mark.parametrize("kind", ["ed25519", "ssh"])
def test_a_statement_that_was_changed_is_refused(environ: dict[str, str], ssh_key: Path, kind: str) -> None:
    key = make_key(environ, ssh=ssh_key if kind == "ssh" else None).public
    (before,) = read_envelopes(signed(environ))
    changed = write_envelopes([seal({**STATEMENT, "subject": ["other"]}, signer=None)])
    (other,) = read_envelopes(changed)
    forged = type(other)(payload=other.payload, signatures=before.signatures)
    with pytest.raises(IntegrityError):
        signature_problem(forged, (key,))


def test_without_a_key_nothing_is_signed_and_nothing_fails(environ: dict[str, str]) -> None:
    assert own_key(environ) is None
    assert problem(signed(environ)) == ("", None)


def test_keys_of_others_are_listed_behind_the_own(environ: dict[str, str], ssh_key: Path) -> None:
    folder = Path(make_key(environ).path).parent
    (folder / "ann.pub").write_bytes(Path(f"{ssh_key}.pub").read_bytes())
    assert [(key.name, key.kind) for key in kept_keys(environ)] == [("default", "ed25519"), ("ann", "known")]


def test_a_key_in_pem_is_the_same_key(environ: dict[str, str]) -> None:
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    made = make_key(environ)
    private = serialization.load_pem_private_key(Path(made.path).read_bytes(), password=None)
    pem = private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    assert read_public_key(pem.decode(), source="pem").key_id == made.public.key_id


@pytest.mark.parametrize(
    "text", ["", "hello", "ssh-ed25519 !!!", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"]
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_public_key(text, source="file")
