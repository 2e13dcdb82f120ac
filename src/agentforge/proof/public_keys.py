"""Public keys, and whether one of them made a signature. A key is one OpenSSH line; its id is its SHA-256 fingerprint."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import tempfile
from pathlib import Path

from agentforge.errors import IntegrityError, ToolchainError, UsageError
from agentforge.frozen import dataclass
from agentforge.installation import command_for
from agentforge.proof.envelope import SSH_NAMESPACE, Envelope, Signature
from agentforge.workspace.processes import process

_SSH_SIGNATURE = b"-----BEGIN SSH SIGNATURE-----"
_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """A key that may have signed.

    Attributes:
        name: what people call it: the comment of its line, or its file.
        line: type and base64 blob as OpenSSH writes them.
    """

    name: str
    line: str

    @property
    def blob(self) -> bytes:
        """The key as OpenSSH encodes it."""
        return base64.b64decode(self.line.split()[1])

    @property
    def key_id(self) -> str:
        """`SHA256:...`, as `ssh-keygen -l` prints it."""
        digest = base64.b64encode(hashlib.sha256(self.blob).digest()).decode("ascii")
        return f"SHA256:{digest.rstrip('=')}"


def read_public_key(text: str, *, source: str) -> PublicKey:
    """Read one OpenSSH public key line, or an Ed25519 key in PEM.

    Raises:
        UsageError: it is none.
    """
    if "BEGIN PUBLIC KEY" in text:
        return PublicKey(name=source, line=_line_of_pem(text, source))
    parts = text.split()
    try:
        if len(parts) < 2 or not base64.b64decode(parts[1], validate=True).startswith(b"\0\0\0"):
            raise ValueError("no key")
    except (ValueError, binascii.Error) as exc:
        raise UsageError(f"{source} holds no public key", hint="give an OpenSSH .pub file or a PEM public key") from exc
    return PublicKey(name=" ".join(parts[2:]) or source, line=" ".join(parts[:2]))


def made_by(key: PublicKey, envelope: Envelope, signature: Signature) -> bool:
    """Whether `key` made this signature over this envelope.

    Raises:
        ToolchainError: what is needed to check it is not installed.
    """
    if signature.data.startswith(_SSH_SIGNATURE):
        return _made_by_ssh(key, envelope.signed_bytes, signature.data)
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as exc:
        raise ToolchainError(
            "the signature cannot be checked: cryptography is missing", hint=command_for("sign")
        ) from exc
    try:
        Ed25519PublicKey.from_public_bytes(key.blob[-32:]).verify(signature.data, envelope.signed_bytes)
    except (InvalidSignature, ValueError):
        return False
    return True


def ed25519_line(raw: bytes) -> str:
    """The OpenSSH form of the 32 bytes of an Ed25519 public key."""
    kind = b"ssh-ed25519"
    blob = len(kind).to_bytes(4, "big") + kind + len(raw).to_bytes(4, "big") + raw
    return f"{kind.decode()} {base64.b64encode(blob).decode('ascii')}"


def _line_of_pem(text: str, source: str) -> str:
    lines = [line for line in text.splitlines() if line and not line.startswith("-----")]
    try:
        data = base64.b64decode("".join(lines), validate=True)
    except binascii.Error as exc:
        raise UsageError(f"{source} holds no public key", hint="the PEM text is damaged") from exc
    if len(data) != 44 or data[:12] != bytes.fromhex("302a300506032b6570032100"):
        raise UsageError(f"{source} is not an Ed25519 key", hint="Ed25519 and OpenSSH keys are understood")
    return ed25519_line(data[12:])


def _made_by_ssh(key: PublicKey, data: bytes, signature: bytes) -> bool:
    with tempfile.TemporaryDirectory(prefix="agentforge-signature-") as folder:
        allowed, made = Path(folder, "allowed"), Path(folder, "sig")
        allowed.write_text(f"signer {key.line}\n", "utf-8")
        made.write_bytes(signature)
        argv = ["ssh-keygen", "-Y", "verify", "-f", str(allowed), "-I", "signer", "-n", SSH_NAMESPACE, "-s", str(made)]
        done = process.run(
            argv,
            cwd=Path(folder),
            env=process_environment(),
            timeout_s=_TIMEOUT_S,
            output_limit_bytes=65536,
            stdin=data,
        )
    return done.exit_code == 0


def process_environment() -> dict[str, str]:
    """What ssh-keygen needs to be found."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def signature_problem(envelope: Envelope, keys: tuple[PublicKey, ...]) -> tuple[str, PublicKey | None]:
    """Why the signatures of an envelope are not believed ("" = they are, or there is none), and who made one.

    Raises:
        IntegrityError: a known key is said to have signed, and did not.
    """
    known = {key.key_id: key for key in keys}
    for signature in envelope.signatures:
        key = known.get(signature.key_id)
        if key is None:
            continue
        if not made_by(key, envelope, signature):
            raise IntegrityError(f"the signature of {key.name} ({key.key_id}) is not over these bytes")
        return "", key
    if envelope.signatures:
        return f"signed by a key that is not known here: {envelope.signatures[0].key_id}", None
    return "", None
