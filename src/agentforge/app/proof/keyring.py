"""The user's signing keys: made, listed, and used to sign. Private keys stay in the keys folder, or where ssh has them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agentforge.config.paths import data_dir
from agentforge.errors import ConflictError, ToolchainError, UsageError
from agentforge.frozen import dataclass
from agentforge.installation import command_for
from agentforge.proof.envelope import SSH_NAMESPACE, Signer
from agentforge.proof.public_keys import PublicKey, ed25519_line, process_environment, read_public_key
from agentforge.store.log.files import replace_file
from agentforge.workspace.processes import process

OWN = "default"
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptKey:
    """A key of the keys folder.

    Attributes:
        kind: "ed25519" (its private half lies here), "ssh" (ssh has it), or "known" (somebody else's public key).
        path: of the private key; "" for somebody else's.
    """

    name: str
    kind: str
    public: PublicKey
    path: str = ""


def make_key(environ: Mapping[str, str], *, ssh: Path | None = None) -> KeptKey:
    """Make the key that signs deliveries, or let an SSH key do it.

    Args:
        ssh: an SSH private key, or its public half when an agent holds the private one.
    Raises:
        ConflictError: there is one already.
        ToolchainError: cryptography is not installed (and no SSH key was given).
        UsageError: the SSH key has no public half beside it.
    Side effects: files in the keys folder, the private one readable by its owner alone.
    """
    folder = _folder(environ)
    if (folder / f"{OWN}.pub").exists():
        raise ConflictError(f"there is a signing key in {folder}", hint="`agentforge keys show` prints it")
    if ssh is not None:
        return _adopt_ssh(folder, ssh)
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
    except ImportError as exc:
        hint = f"{command_for('sign')}, or let an SSH key sign: agentforge keys init --ssh PATH"
        raise ToolchainError("an Ed25519 key cannot be made: cryptography is missing", hint=hint) from exc
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    _write_private(folder / f"{OWN}.key", private)
    _write_public(folder, f"{ed25519_line(raw)} agentforge\n")
    return _kept(folder, OWN)


def kept_keys(environ: Mapping[str, str]) -> list[KeptKey]:
    """The keys of the folder: the own one first, then those of others (any NAME.pub that is put there)."""
    folder = _folder(environ)
    names = sorted(path.stem for path in folder.glob("*.pub"))
    return [_kept(folder, name) for name in sorted(names, key=lambda name: name != OWN)]


def own_key(environ: Mapping[str, str]) -> KeptKey | None:
    """The key that signs deliveries; None when there is none."""
    folder = _folder(environ)
    return _kept(folder, OWN) if (folder / f"{OWN}.pub").is_file() else None


def own_signer(environ: Mapping[str, str]) -> Signer | None:
    """What signs deliveries; None when the user has made no key."""
    key = own_key(environ)
    if key is None:
        return None
    path = Path(key.path)
    sign = _sign_with_ssh if key.kind == "ssh" else _sign_with_ed25519
    return Signer(key_id=key.public.key_id, sign=lambda data: sign(path, data))


def public_key_file(path: Path) -> PublicKey:
    """Read a public key from a file.

    Raises:
        UsageError: it is not there or holds none.
    """
    try:
        return read_public_key(path.read_text("utf-8"), source=str(path))
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"{path} cannot be read: {exc}", hint="give a public key file") from exc


def _folder(environ: Mapping[str, str]) -> Path:
    return data_dir(environ) / "keys"


def _kept(folder: Path, name: str) -> KeptKey:
    public = public_key_file(folder / f"{name}.pub")
    if name != OWN:
        return KeptKey(name=name, kind="known", public=public)
    elsewhere = folder / f"{OWN}.ssh"
    if elsewhere.is_file():
        return KeptKey(name=name, kind="ssh", public=public, path=elsewhere.read_text("utf-8").strip())
    return KeptKey(name=name, kind="ed25519", public=public, path=str(folder / f"{OWN}.key"))


def _adopt_ssh(folder: Path, ssh: Path) -> KeptKey:
    private = ssh.expanduser().resolve()
    beside = private if private.suffix == ".pub" else private.with_name(f"{private.name}.pub")
    if not beside.is_file():
        raise UsageError(f"{beside} is missing: the public half must lie beside the key", hint="ssh-keygen -y makes it")
    public = public_key_file(beside)
    _write_private(folder / f"{OWN}.ssh", f"{private}\n".encode())
    _write_public(folder, f"{public.line} {public.name}\n")
    return _kept(folder, OWN)


def _write_private(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _write_public(folder: Path, line: str) -> None:
    replace_file(folder / f"{OWN}.pub", line.encode())


def _sign_with_ed25519(path: Path, data: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        key = load_pem_private_key(path.read_bytes(), password=None)
    except (ImportError, OSError, ValueError) as exc:
        hint = f"{command_for('sign')}, or move the key away to deliver unsigned; then resume"
        raise ToolchainError(f"the signing key {path} cannot be used: {exc}", hint=hint) from exc
    if not isinstance(key, Ed25519PrivateKey):
        raise ToolchainError(f"{path} is not an Ed25519 key", hint="make one: agentforge keys init")
    return key.sign(data)


def _sign_with_ssh(path: Path, data: bytes) -> bytes:
    agent = {name: os.environ[name] for name in ("SSH_AUTH_SOCK", "HOME") if name in os.environ}
    argv = ["ssh-keygen", "-q", "-Y", "sign", "-n", SSH_NAMESPACE, "-f", str(path)]
    env = process_environment() | agent
    done = process.run(argv, cwd=path.parent, env=env, timeout_s=_TIMEOUT_S, stdin=data, merge_stderr=False)
    if done.exit_code != 0:
        words = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise ToolchainError(f"ssh-keygen does not sign with {path}: {words}", hint="is the key in the agent?")
    return done.output
