"""A task is started from a page, and what cannot be started says why without losing what was written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge.store.log.reader import load_state
from agentforge.store.tasks.folders import tasks_folder
from tests.support.scene import close, make_repository, serve

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

    from tests.support.scene import Answer, Served

_SCRIPT = "intake:\n  - text: I think.\n    tool_calls: []\n"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A dashboard over a repository without tasks, and a scripted model that never comes to an end."""
    place = tmp_path_factory.mktemp("starting")
    repo = make_repository(place / "repo")
    (place / "home").mkdir()
    (place / "home" / "script.yaml").write_text(f"repeat_last: true\n{_SCRIPT}")
    found = serve(repo, place / "home")
    yield found
    assert "Traceback" not in close(found)


def model(served: Served) -> str:
    return f"scripted/{served.repo.parent}/home/script.yaml"


def sent(served: Served, **form: str) -> Answer:
    return served.ask("/new", method="POST", form={"repo": served.key, **form})


def tasks(served: Served) -> list[Path]:
    folder = tasks_folder(served.repo)
    return sorted(folder.iterdir()) if folder.is_dir() else []


def test_what_cannot_be_started_is_said_and_kept(empty: Served) -> None:
    before = tasks(empty)
    nothing = sent(empty, request=" ", model=model(empty))
    assert (nothing.status, "the request is empty" in nothing.body) == (400, True)
    unknown = sent(empty, request="Add <b>this</b>", model="nobody/nothing", approve_spec="1")
    assert unknown.status == 400
    assert "Add &lt;b&gt;this&lt;/b&gt;" in unknown.body
    assert 'value="nobody/nothing"' in unknown.body
    assert 'name="approve_spec" value="1" checked' in unknown.body
    money = sent(empty, request="Add this", model=model(empty), budget_usd="much")
    assert (money.status, "not an amount of money" in money.body) == (400, True)
    assert sent(empty, request="Add this", repo="nowhere").status == 400
    assert tasks(empty) == before


def test_a_form_of_another_page_starts_nothing(empty: Served) -> None:
    before = tasks(empty)
    form = {"repo": empty.key, "request": "Add this", "model": model(empty), "csrf": "wrong"}
    cookie = empty.enter()
    answer = empty.ask("/new", method="POST", form=form, as_program=False, cookie=cookie, origin=empty.base)
    assert answer.status == 409
    assert (
        empty.ask("/new", method="POST", form=form, as_program=False, cookie=cookie, origin="http://evil").status == 403
    )
    assert tasks(empty) == before


def test_a_task_is_put_into_the_queue_with_what_was_wished(empty: Served) -> None:
    answer = sent(
        empty,
        request="Add a thing\r\nand another",
        model=model(empty),
        approve_red="1",
        approve_spec="1",
        budget_usd="2.5",
        queue="1",
    )
    assert answer.status == 303, answer.body
    state = load_state(tasks_folder(empty.repo) / answer.headers["location"].rpartition("/")[2])
    assert (state.brief.request, state.brief.approve, state.brief.limits.budget_usd) == (
        "Add a thing\nand another",
        ("spec", "red"),
        2.5,
    )
    assert state.brief.model == model(empty)
    page = empty.ask(answer.headers["location"])
    assert "s-queued" in page.body


def test_a_task_is_started_in_a_browser_and_driven(chromium: BrowserContext, empty: Served) -> None:
    page = chromium.new_page()
    page.goto(empty.address)
    page.wait_for_selector("h1:has-text('Tasks')")
    page.keyboard.press("c")
    page.wait_for_selector("h1:has-text('New task')")
    page.fill("textarea[name=request]", "Add shout(text): 'hi' -> 'HI!'")
    page.fill("input[name=model]", model(empty))
    page.click("button:has-text('Start the task')")
    page.wait_for_selector("h1:has-text('Add shout')")
    assert page.locator(".badge.s-paused").count() == 0, "it begins by itself"
    page.wait_for_selector(".stages li[aria-current] :text('intake')")
    page.wait_for_selector("article.ask", timeout=60_000)
    assert page.is_visible("button:has-text('Answer')")
    page.close()
    body = empty.ask("/new").body
    assert f'<option value="{model(empty)}">' in body, "the form names a model that answered"
    assert f'<option value="{empty.key}"' in body
    assert "No model is configured" in body
