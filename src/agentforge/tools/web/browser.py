"""One browser for a session: Chromium of the machine, driven by Playwright in a thread of its own, loopback by default.

What the session's background commands serve lies on a private loopback. For an address there Chromium itself runs in that
network: it reaches their ports and nothing else, and nobody else on this machine reaches them.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from agentforge.cancellation import interruptible
from agentforge.errors import ToolchainError
from agentforge.installation import command_for
from agentforge.workspace.sandbox.loopback import SharedLoopback

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page, Playwright, Route


_T = TypeVar("_T")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443}
_LOCAL_SCHEMES = ("about", "data", "blob")
_MOST_NOTED = 50
_ARGUMENTS = (
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)
_WAIT_MS = 10_000
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Browser:
    """A page that a tool works on. Every method may be called from any thread; the browser starts with the first.

    Attributes:
        hosts: other hosts that may be opened, beside this machine.

    Args:
        private: the network of the session's background commands, None when there is none.
    """

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        hosts: tuple[str, ...] = (),
        program: str = "",
        private: Callable[[], SharedLoopback | None] = lambda: None,
    ) -> None:
        self.hosts = hosts
        self._private = private
        self._inside = False
        self._door: TemporaryDirectory[str] | None = None
        self._program = program
        self._environ = environ
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="browser")
        self._playwright: Playwright | None = None
        self._page: Page | None = None
        self._noted: list[str] = []

    def refusal(self, url: str) -> str:
        """Say why an address may not be opened, "" when it may."""
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if parts.scheme in _LOCAL_SCHEMES:
            return ""
        if parts.scheme not in ("http", "https", "ws", "wss"):
            return f"{parts.scheme or 'no'}: addresses are not opened"
        if host in _LOOPBACK or host.endswith(".localhost") or host in self.hosts:
            return ""
        return f"{host} is not this machine (setting browser.hosts)"

    def open(self, url: str) -> str:
        """Open an address; title and address of the page."""

        def work(page: Page) -> str:
            page.goto(url)
            return f"{page.title()} - {page.url}"

        return self._do(work, at=url)

    def text(self, selector: str) -> str:
        """What a person reads on the page, or in a part of it."""
        return self._do(lambda page: page.locator(selector or "body").first.inner_text())

    def click(self, selector: str) -> str:
        """Click; the address of the page afterwards."""

        def work(page: Page) -> str:
            page.locator(selector).first.click()
            return page.url

        return self._do(work)

    def fill(self, selector: str, value: str) -> None:
        """Write into a field."""
        self._do(lambda page: page.locator(selector).first.fill(value))

    def screenshot(self, file: Path) -> None:
        """Write a picture of the page to a file."""
        data = self._do(lambda page: page.screenshot())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def errors(self) -> list[str]:
        """Take what the page complained about since this was asked last: console errors, crashes, refused requests."""
        self._do(lambda page: page.evaluate("() => 0"))  # lets what is under way arrive
        noted, self._noted = self._noted, []
        return noted

    def close(self) -> None:
        """End the browser."""
        if self._playwright is not None:
            self._thread.submit(self._stop).result()
        self._thread.shutdown()

    def _do(self, work: Callable[[Page], _T], *, at: str = "") -> _T:
        future = self._thread.submit(lambda: work(self._opened(at)))
        stopped: Future[None] = Future()
        with interruptible(lambda: None if stopped.done() else stopped.set_result(None)):
            either: tuple[Future[Any], ...] = (future, stopped)
            wait(either, return_when="FIRST_COMPLETED")
        return future.result()

    def _opened(self, at: str) -> Page:
        """The page; where an address lies in the other network, one of a browser that runs there."""
        if at and self._is_inside(at) != self._inside:
            self._shut()
            self._inside = not self._inside
        if self._page is None or self._page.is_closed():
            self._page = self._started()
        return self._page

    def _is_inside(self, url: str) -> bool:
        """Whether a background command of the session serves an address of this machine."""
        private, parts = self._private(), urlsplit(url)
        if private is None or (parts.hostname not in _LOOPBACK and not str(parts.hostname).endswith(".localhost")):
            return False
        return (parts.port or _PORTS.get(parts.scheme, 0)) in private.ports()

    def _entered(self, program: str) -> str:
        """A program that becomes another one in the network of the background commands."""
        private = self._private()
        joining = private.joining() if private is not None else []
        if not joining:
            return program
        self._door = TemporaryDirectory(prefix="agentforge-browser-")
        door = Path(self._door.name) / "chromium"
        door.write_text(f'#!/bin/sh\nexec {shlex.join([*joining, program])} "$@"\n')
        door.chmod(0o700)
        return str(door)

    def _started(self) -> Page:
        try:
            from playwright.sync_api import sync_playwright
        except ImportError as exc:
            raise ToolchainError("the browser tool needs the extra `browser`", hint=command_for("browser")) from exc
        program = self._program or chromium(self._environ)
        if not program:
            raise ToolchainError("no Chromium was found", hint="install chromium, or Google Chrome")
        self._playwright = self._playwright or sync_playwright().start()
        arguments = [*_ARGUMENTS, _only_hosts(self.hosts), *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        program = self._entered(program) if self._inside else program
        browser = self._playwright.chromium.launch(executable_path=program, args=arguments, env=_plain(self._environ))
        context = browser.new_context(accept_downloads=False, service_workers="block")
        context.set_default_timeout(_WAIT_MS)
        context.route("**/*", self._judge)
        page = context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self._note(f"uncaught: {error}"))
        return page

    def _judge(self, route: Route) -> None:
        """Every request of every page, redirects of pages included."""
        why = self.refusal(route.request.url)
        if why:
            self._note(f"refused {route.request.url[:200]}: {why}")
            route.abort("accessdenied")
        else:
            route.continue_()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._note(f"console {message.type}: {message.text}")

    def _note(self, text: str) -> None:
        if len(self._noted) < _MOST_NOTED:
            self._noted.append(text[:500])

    def _shut(self) -> None:
        if self._page is not None and self._page.context.browser is not None:
            self._page.context.browser.close()
        self._page = None
        if self._door is not None:
            self._door.cleanup()
            self._door = None

    def _stop(self) -> None:
        if self._playwright is not None:
            self._shut()
            self._playwright.stop()
            self._playwright = None


def _only_hosts(hosts: tuple[str, ...]) -> str:
    """Redirects are followed inside Chromium: there every other name leads nowhere."""
    known = ", ".join(f"EXCLUDE {host}" for host in (*_LOOPBACK, "*.localhost", *hosts))
    return f"--host-resolver-rules=MAP * ~NOTFOUND, {known}"


def _plain(environ: Mapping[str, str]) -> dict[str, str | float | bool]:
    """No keys of the user's for the browser."""
    names = ("PATH", "HOME", "LANG", "LC_ALL", "XDG_RUNTIME_DIR", "FONTCONFIG_PATH", "TMPDIR")
    return {name: environ[name] for name in names if name in environ}


def chromium(environ: Mapping[str, str]) -> str:
    """Find Chromium or Chrome on PATH; "" when there is none."""
    found = (shutil.which(name, path=environ.get("PATH", os.defpath)) for name in _PROGRAMS)
    return next((path for path in found if path), "")
