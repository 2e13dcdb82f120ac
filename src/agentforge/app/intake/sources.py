"""Where requests come from: issues in files or behind `gh`. The same source starts one task, however often it is seen."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from agentforge.canonical import digest_bytes, digest_value
from agentforge.config.paths import data_dir
from agentforge.errors import StorageError, ToolchainError, UsageError
from agentforge.frozen import dataclass
from agentforge.store.log.files import replace_file

_LARGEST = 1_000_000
_GH_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSource:
    """A request and the name under which it is known again.

    Attributes:
        id: the issue's address; of a file its content, wherever it lies.
    """

    id: str
    request: str


def read_source(text: str, *, environ: Mapping[str, str]) -> RequestSource:
    """Read an issue: a file (Markdown or text; JSON as `gh issue view --json` writes it), or an address, through `gh`.

    Raises:
        UsageError: there is no such file, or nothing in it.
        ToolchainError: `gh` is not installed, or fails.
    """
    if text.startswith(("https://", "http://")):
        return _through_gh(text, environ)
    path = Path(text).expanduser()
    try:
        data = path.read_bytes()[: _LARGEST + 1]
    except OSError as exc:
        raise UsageError(
            f"{text} cannot be read: {exc.strerror}", hint="name a file, or the address of an issue"
        ) from exc
    if len(data) > _LARGEST:
        raise UsageError(f"{text} has more than {_LARGEST} bytes", hint="put the details into files of the repository")
    content = data.decode("utf-8", errors="replace")
    value = _json_object(content) if path.suffix == ".json" else None
    if value is not None:
        return issue_source(value, fallback=f"file:{digest_bytes(data)}")
    if not content.strip():
        raise UsageError(f"{text} is empty", hint="write the request into it")
    return RequestSource(id=f"file:{digest_bytes(data)}", request=content)


def issue_source(value: Mapping[str, object], *, fallback: str = "") -> RequestSource:
    """A source from an issue as GitHub describes it: {title, body, url or html_url}.

    Raises:
        UsageError: it has no title.
    """
    title, body = value.get("title"), value.get("body")
    if not isinstance(title, str) or not title.strip():
        raise UsageError("the issue has no title", hint="AgentForge works on title and body")
    address = value.get("html_url") or value.get("url")
    request = f"{title.strip()}\n\n{body}" if isinstance(body, str) and body.strip() else title.strip()
    return RequestSource(id=str(address) if isinstance(address, str) and address else fallback, request=request)


class SourceClaim:
    """The right to start a task for a source: one of many that ask gets it, and keeps it once the task stands.

    Args:
        source: what is started.
        place: the repository, or whatever else the task belongs to.
    """

    def __init__(self, source: str, place: str, environ: Mapping[str, str]) -> None:
        self._source = source
        self._file = data_dir(environ) / "sources" / f"{digest_value([source, place])[:32]}.json"

    @property
    def taken(self) -> str | None:
        """What was started for the source, None when nothing was; "" = somebody is starting it now."""
        try:
            value = json.loads(self._file.read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        started = str(value.get("started", ""))
        return started if started or _lives(value.get("pid")) else None

    def run(self, start: Callable[[], str]) -> str | None:
        """Start something unless it was started before.

        Args:
            start: returns the name of what was started.
        Returns:
            The name; None when somebody else has the claim.
        Side effects: a small file in the data folder; it goes when `start` fails.
        """
        if self.taken is not None or not self._take():
            return None
        try:
            name = start()
        except BaseException:
            self._file.unlink(missing_ok=True)
            raise
        if name:
            self._write(name)
        else:
            self._file.unlink(missing_ok=True)
        return name

    def _take(self) -> bool:
        if self._file.exists():  # of a process that died while it was starting
            self._file.unlink(missing_ok=True)
        try:
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return False
        except OSError as exc:
            raise StorageError(f"{self._file} cannot be written: {exc.strerror}", hint="check the data folder") from exc
        with os.fdopen(descriptor, "w") as out:
            json.dump({"source": self._source, "pid": os.getpid()}, out)
        return True

    def _write(self, name: str) -> None:
        replace_file(self._file, json.dumps({"source": self._source, "started": name}).encode(), durable=True)


def _lives(pid: object) -> bool:
    return isinstance(pid, int) and Path(f"/proc/{pid}").exists()


def _through_gh(url: str, environ: Mapping[str, str]) -> RequestSource:
    if urlsplit(url).hostname is None:
        raise UsageError(f"{url} is not an address", hint="https://github.com/OWNER/NAME/issues/NUMBER")
    command = ["gh", "issue", "view", url, "--json", "title,body,url"]
    try:
        done = subprocess.run(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GH_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as exc:
        raise ToolchainError(
            "issues behind an address can be read only with `gh`, which is not installed",
            hint="or save the issue to a file",
        ) from exc
    except subprocess.TimeoutExpired as exc:
        raise ToolchainError(f"gh did not answer within {_GH_TIMEOUT_S} s", hint="is the network there?") from exc
    value = _json_object(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else None
    if value is None:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ToolchainError(f"gh issue view {url} failed: {said[-1] if said else 'no answer'}", hint="gh auth status")
    return issue_source(value, fallback=url)


def _json_object(text: str) -> Mapping[str, object] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else None
