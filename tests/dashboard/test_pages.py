"""What the pages show, without a browser: every text escaped, long runs and many tasks at a bounded price."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentforge import dashboard
from agentforge.events import kinds
from tests.support.scene import BIDI, HOSTILE, LONG_STEPS, close, long_log, make_repository, serve, tell

if TYPE_CHECKING:
    from tests.support.scene import Served

_TABS = ("", "artifacts", "changes", "verification", "steps", "trail", "steps/1", "trail/3", "trail/8")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("path", ["/", "/waiting", "/measures", *(f"hostile:{tab}" for tab in _TABS)])
def test_hostile_texts_are_only_texts(served: Served, path: str) -> None:
    address = served.task("hostile", path.partition(":")[2]) if path.startswith("hostile:") else path
    answer = served.ask(address)
    assert answer.status == 200, "also where a step's request was never stored"
    tags = _Tags()
    tags.feed(answer.body)
    assert [attributes.get("src") for tag, attributes in tags.found if tag == "script"] == ["/static/app.js"]
    assert [tag for tag, _ in tags.found if tag in ("img", "iframe", "style", "object")] == []
    assert [
        name for _, attributes in tags.found for name in attributes if name.startswith("on") or name == "style"
    ] == []
    assert BIDI not in answer.body


def test_hidden_characters_are_made_visible(served: Served) -> None:
    assert "a\\u202eb" in served.ask(served.task("hostile", "trail/6")).body


def test_each_file_of_a_card_is_a_part_of_the_page_that_follows_the_run(served: Served) -> None:
    names = sorted(path.stem for path in (Path(dashboard.__file__).parent / "templates" / "cards").iterdir())
    tags = _Tags()
    tags.feed(served.ask(served.task("whole")).body)
    parts = [attributes.get("data-live") for tag, attributes in tags.found if tag == "section"]
    assert [name for name in parts if name in names] == names


def test_a_hostile_request_is_shown_word_for_word(served: Served) -> None:
    from html import escape

    assert escape(HOSTILE).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in served.ask("/").body


def test_the_list_can_be_filtered_and_names_what_is_damaged(served: Served) -> None:
    assert "task-20260101-whole" in served.ask("/?state=delivered").body
    assert "task-20260101-hostile" not in served.ask("/?state=delivered").body
    assert "task-20260101-hostile" in served.ask("/?q=ONERROR").body
    assert "breaks the chain" in served.ask("/?state=damaged").body
    assert "No task fits" in served.ask("/?q=nothing+has+this").body
    assert served.ask("/?page=99999999999999999999&state=%00&repo=../..").status == 200


def test_a_damaged_run_is_said_to_be_damaged(served: Served) -> None:
    answer = served.ask(served.task("damaged"))
    assert answer.status == 500
    assert "breaks the chain" in answer.body


def test_a_delivered_run_shows_its_stages_artifacts_verification_and_document(served: Served) -> None:
    assert all(name in served.ask(served.task("whole")).body for name in ("intake", "deliver", "Verdicts", "Branch"))
    assert "acceptance criteria" in served.ask(served.task("whole", "artifacts")).body
    verification = served.ask(served.task("whole", "verification")).body
    assert all(text in verification for text in ("Verification, stage by stage", "Requirement, test, changed lines"))
    document = served.ask(served.task("whole", "audit.html"))
    assert document.headers["content-security-policy"].startswith("sandbox")
    assert document.headers["content-disposition"].startswith("attachment")


def test_what_was_measured_is_shown_with_its_controls(served: Served) -> None:
    assert "all held: yes, canary: held" in served.ask(served.task("hostile", "verification")).body


def test_a_repository_without_the_snapshot_says_so_instead_of_a_diff(served: Served) -> None:
    answer = served.ask(served.task("whole", "changes"))
    assert answer.status == 200
    assert 'class="empty"' in answer.body


@pytest.mark.parametrize("path", ["steps/9999", "trail/99999", "nothing"])
def test_what_is_not_there_is_said(served: Served, path: str) -> None:
    answer = served.ask(served.task("whole", path))
    assert answer.status == 404
    assert "no page" in answer.body or "there is no" in answer.body


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A dashboard that only shows, with 1,000 tasks, one of which is long."""
    place = tmp_path_factory.mktemp("crowd")
    repo = make_repository(place / "repo")
    one = tell(repo, "0000", request="add a thing")
    long_log(repo, "long", LONG_STEPS)
    for number in range(1, 999):
        other = one.with_name(f"task-20260101-{number:04d}")
        other.mkdir()
        for name in ("events.jsonl", "views.json"):
            (other / name).hardlink_to(one / name)
    found = serve(repo, place, "--read-only", "--public-metrics", "--token-file", str(place / "token"))
    yield found
    close(found)


def test_a_thousand_tasks_cost_less_than_a_third_of_a_second(crowded: Served) -> None:
    assert "page 1 of 20" in crowded.ask("/").body
    crowded.ask("/?page=2")
    begin = crowded.cpu_s()
    (crowded.repo / ".agentforge" / "tasks" / "task-20260101-0007" / "lease").write_text("{}")
    assert "page 3 of 20" in crowded.ask("/?page=3").body
    assert crowded.cpu_s() - begin < 0.6, "0.3 s on an idle machine"


def test_a_trail_of_ten_thousand_records_is_shown_in_pages_at_a_bounded_price(crowded: Served) -> None:
    path = crowded.task("long", "trail")
    first = crowded.ask(path)
    assert f"{5 * LONG_STEPS + 2} of {5 * LONG_STEPS + 2} records" in first.body
    assert first.body.count('<li class="row">') == 100
    begin = crowded.cpu_s()
    pages = [crowded.ask(f"{path}?page={number}").body for number in (2, 50, 101)]
    found = crowded.ask(f"{path}?kind=ModelReplied&step=1234").body
    assert "look at part 1234" in found
    assert "1 of 10002 records" in found
    assert "look at part 1999" in crowded.ask(f"{path}?q=LOOK+at+part+1999").body
    assert crowded.ask(f"{path}?kind=ToolFinished&order=newest&page=2").status == 200
    assert all(len(page) < 200_000 for page in pages)
    assert crowded.cpu_s() - begin < 3.0
    begin = crowded.cpu_s()
    assert crowded.ask(crowded.task("long")).body.count("<rect") <= 125
    assert crowded.ask(crowded.task("long", "steps")).body.count('<tr class="row">') == 60
    assert crowded.cpu_s() - begin < 2.0


def test_prometheus_reads_the_numbers_without_the_token_where_that_is_wanted(crowded: Served) -> None:
    answer = crowded.ask("/metrics", as_program=False)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'agentforge_tasks{repository="repo",state="paused"} 1000' in answer.body
    assert crowded.ask("/", as_program=False).status == 401


def test_read_only_has_no_forms_and_changes_nothing(crowded: Served) -> None:
    path = crowded.task("0003")
    assert '<form method="post"' not in crowded.ask(path).body
    answer = crowded.ask(f"{path}/abort", method="POST", form={"reason": "x"})
    assert answer.status == 409
    assert "read-only" in answer.body


def test_the_token_file_is_private_and_kept(crowded: Served) -> None:
    path = crowded.repo.parent / "token"
    assert path.stat().st_mode & 0o077 == 0
    assert path.read_text().strip() == crowded.token


def test_the_registered_repositories_are_shown_and_the_registry_is_followed(tmp_path: Path) -> None:
    one, two = (make_repository(tmp_path / name) for name in ("one", "two"))
    tell(one, "first")
    tell(two, "second")
    registry = tmp_path / "af" / "repos.yaml"
    registry.parent.mkdir()
    registry.write_text(f'repositories:\n  - name: "backend"\n    path: "{one}"\n')
    (tmp_path / "elsewhere").mkdir()
    shown = serve(tmp_path / "elsewhere", tmp_path)
    try:
        assert "task-20260101-first" in shown.ask("/").body
        registry.write_text(
            registry.read_text() + f'  - name: "gateway"\n    path: "{two}"\n  - name: "gone"\n    path: "/gone"\n'
        )
        both = shown.ask("/").body
        assert all(text in both for text in ("task-20260101-second", "backend", "gateway", "gone"))
        registry.write_text("repositories: 7")
        broken = shown.ask("/")
        assert (broken.status, "repos.yaml" in broken.body) == (200, True)
        assert "task-20260101-second" in broken.body, "what was known before is still shown"
        registry.unlink()
        assert "No tasks yet" in shown.ask("/").body
    finally:
        assert "Traceback" not in close(shown)


def test_metrics_can_be_parsed_line_by_line(served: Served) -> None:
    for line in served.ask("/metrics").body.splitlines():
        assert line.startswith("# ") or json.loads(line.rpartition(" ")[2]) is not None


def test_importing_the_table_of_commands_loads_no_server() -> None:
    import subprocess
    import sys

    code = "import sys, agentforge.cli.startup.lazy; print([name for name in ('starlette', 'uvicorn', 'jinja2', 'agentforge.dashboard') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_golden_runs_are_still_where_these_tests_look() -> None:
    assert (Path(__file__).parents[1] / "golden" / "whole-run" / "events.jsonl").exists()


def test_a_task_that_waits_for_a_worker_is_queued_and_a_queue_that_is_away_is_named(tmp_path: Path) -> None:
    from agentforge.dashboard.ground import Ground, Repository
    from agentforge.fleet.places import Line, Queued

    repo = make_repository(tmp_path / "repo")
    waits, rests = (tell(repo, name, kinds.StageSkipped(stage="clarify", reason="none")) for name in ("waits", "rests"))
    line = Line(standing={waits: Queued(status="queued", place=2, of=7)}, trouble="it is slow today")
    ground = Ground(lambda: [Repository(name="repo", path=repo)], line=lambda: line)
    found = {row["folder"]: (row["standing"], row["queued"]) for row in ground.tasks()}
    assert found == {waits: ("queued", "queued, 2 of 7"), rests: ("paused", "")}
    assert ground.standing(waits, "running") == ("running", "")
    assert ground.troubles == ["it is slow today"]
