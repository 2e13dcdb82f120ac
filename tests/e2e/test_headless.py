"""`agentforge run` for scripts: forms, limits, denials, material, sessions, and what a provider gets to see."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.loopback.provider import Raw, Refuse, Say
from tests.support.loopback.strict import problems

if TYPE_CHECKING:
    from tests.support.loopback.provider import Asked, LoopbackProvider
    from tests.support.world import Done, World


def _script(world: World, *replies: dict[str, Any]) -> str:
    (world.home / "chat.yaml").write_text(yaml.safe_dump({"chat": list(replies)}))
    return f"scripted/{world.home / 'chat.yaml'}"


def _call(name: str, **args: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": args}]}


def _served(world: World, loopback: LoopbackProvider, *arguments: str, provider: str = "custom") -> Done:
    base = loopback.url if provider == "anthropic" else f"{loopback.url}/v1"
    env = {"BASE_URL": base, "ANTHROPIC_BASE_URL": base, "API_KEY": "sk-none"}
    return world.run("run", *arguments, "--model", f"{provider}/m", env=env)


def test_the_result_as_json_has_what_scripts_read(world: World) -> None:
    done = world.run("run", "hi", "--model", _script(world, {"text": "Hello."}), "--json")
    value = done.json
    assert {"session_id", "result", "is_error", "num_turns", "duration_ms", "total_cost_usd"} <= value.keys()
    assert {"usage", "permission_denials", "outcome", "subtype"} <= value.keys()
    assert (value["result"], value["subtype"], value["num_turns"], done.code) == ("Hello.", "success", 1, 0)


def test_an_answer_that_was_cut_off_at_the_output_limit_is_no_success(world: World) -> None:
    done = world.run("run", "hi", "--model", _script(world, {"text": "The answer is", "finish": "length"}), "--json")
    assert (done.code, done.json["subtype"], done.json["outcome"]) == (6, "error_max_output_tokens", "limit")
    assert done.json["result"] == "The answer is"


def test_a_denied_call_is_in_the_result_and_in_the_exit_code(world: World) -> None:
    model = _script(world, _call("write_file", path="new.txt", content="x"), {"text": "I could not."})
    done = world.run("run", "write", "--model", model, "--json")
    assert (done.code, done.json["subtype"]) == (3, "error_permission_denied")
    assert (done.json["is_error"], done.json["exit_code"]) == (True, 3)
    assert done.json["reason"].startswith("1 call was not allowed: ") and "nobody is here" in done.json["reason"]
    assert [one["tool_name"] for one in done.json["permission_denials"]] == ["write_file"]
    assert not (world.repo / "new.txt").exists()


def test_a_stream_begins_with_who_works_and_ends_with_the_result(world: World) -> None:
    model = _script(world, _call("read_file", path="textkit.py"), {"text": "Done."})
    done = world.run("run", "look", "--model", model, "--output-format", "stream-json")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["type"] for line in lines] == ["system", "assistant", "user", "assistant", "result"]
    assert (lines[0]["subtype"], lines[-1]["subtype"]) == ("init", "success")
    assert lines[1]["message"]["content"][0]["id"] == lines[2]["message"]["content"][0]["tool_use_id"]


@pytest.mark.parametrize(
    ("flags", "subtype", "code"),
    [(("--max-turns", "2"), "error_max_turns", 6), (("--budget-tokens", "2000"), "error_max_budget_tokens", 6)],
)
def test_a_limit_ends_the_turn_with_its_own_code(world: World, flags: tuple[str, ...], subtype: str, code: int) -> None:
    model = _script(world, *[_call("read_file", path="textkit.py", offset=n + 1) for n in range(9)], {"text": "Done."})
    done = world.run("run", "look", "--model", model, "--json", *flags)
    assert (done.code, done.json["subtype"], done.json["outcome"]) == (code, subtype, "limit"), done.out


def test_a_budget_counts_from_the_prompt_and_not_from_the_sessions_beginning(world: World) -> None:
    model = _script(world, *[{"text": f"Reply {n}."} for n in range(4)])
    first = world.run("run", "one", "--model", model, "--json").json
    used = first["usage"]["input_tokens"]
    done = world.run("run", "two", "--continue", "--json", "--budget-tokens", str(int(used * 2.5)))
    assert (done.code, done.json["result"]) == (0, "Reply 1."), done.out
    assert done.json["session_id"] == first["session_id"]


def test_twelve_equal_calls_end_the_turn(world: World) -> None:
    model = _script(world, *[_call("read_file", path="textkit.py") for _ in range(12)], {"text": "Done."})
    done = world.run("run", "look", "--model", model, "--json")
    assert (done.code, done.json["outcome"]) == (6, "stuck")
    assert done.json["num_turns"] < 12
    assert world.run("replay", done.json["session_id"]).code == 0
    world.settings("loop_limit = 3\n")
    again = world.run("replay", done.json["session_id"], "--json")
    assert (again.code, again.json["difference"]["now"]) == (4, "EndTurn stuck"), again.out


def test_a_model_is_warned_before_a_loop_ends_its_turn(world: World, loopback: LoopbackProvider) -> None:
    loopback.answer = lambda asked: (
        Say(text="I stop.")
        if "same results 3 times" in json.dumps(asked.body)
        else Say(calls=(("read_file", '{"path": "textkit.py"}'),))
    )
    done = _served(world, loopback, "look", "--json")
    assert (done.code, done.json["result"], done.json["num_turns"]) == (0, "I stop.", 4)


def test_two_thousand_pieces_cost_little(world: World, loopback: LoopbackProvider) -> None:
    import resource

    def spent(plan: Say) -> float:
        loopback.default = plan
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert _served(world, loopback, "hi", "--output-format", "stream-json").code == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    spent(Say(text="warm"))
    few = min(spent(Say(text="word " * 2_000, pieces=10_000)) for _ in range(3))
    many = min(spent(Say(text="word " * 2_000, pieces=5)) for _ in range(3))
    assert many - few < 0.2


def test_a_watcher_that_sees_something_new_each_time_is_no_loop(world: World) -> None:
    again = _call("shell", command="echo x >> log.txt; wc -l log.txt")
    done = world.run("run", "wait", "--model", _script(world, *[again] * 8, {"text": "Done."}), "--approval", "yolo")
    assert (done.code, done.out) == (0, "Done.\n"), done.err


def test_what_is_piped_beside_a_prompt_goes_with_it(world: World) -> None:
    model = _script(world, {"text": "Seen."}, {"text": "Again."})
    world.run("run", "review this", "--model", model, stdin=b"diff --git a/x b/x\n")
    snapshot = json.loads(next(world.home.rglob("sessions/*.json")).read_text())
    assert snapshot["messages"][0]["content"] == "review this\n\nFrom standard input:\ndiff --git a/x b/x\n"


def test_a_pipe_that_stays_open_and_silent_does_not_hang(world: World) -> None:
    argv = [sys.executable, "-m", "agentforge", "run", "hi", "--model", _script(world, {"text": "Hello."})]
    with subprocess.Popen(
        argv, cwd=world.repo, env=world.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"Hello.\n"
        assert process.wait(timeout=60) == 0


def test_tools_that_were_not_allowed_cannot_be_called(world: World) -> None:
    model = _script(world, _call("write_file", path="new.txt", content="x"), {"text": "Done."})
    world.run("run", "go", "--model", model, "--approval", "yolo", "--allowed-tools", "read_file,grep")
    assert not (world.repo / "new.txt").exists()
    assert world.run("run", "go", "--model", model, "--allowed-tools", "raed_file").code == 2


def test_a_rule_among_the_allowed_tools_lets_its_calls_pass(world: World) -> None:
    model = _script(world, _call("shell", command="touch made.txt"), {"text": "Done."})
    done = world.run("run", "go", "--model", model, "--allowed-tools", "shell(touch *)")
    assert (done.code, (world.repo / "made.txt").exists()) == (0, True), done.err


def test_two_instances_on_one_session_exclude_each_other(world: World, loopback: LoopbackProvider) -> None:
    loopback.default = Say(text="slow " * 40, pieces=5, pause_s=0.05)
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "k"}
    process = world.begin("run", "one", "--model", "custom/m", env=env)
    while not loopback.asked:
        time.sleep(0.02)
    done = world.run("run", "two", "--continue", "--json")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert (done.code, done.json["error"]["slug"]) == (8, "locked"), done.out
    assert str(process.pid) in done.json["error"]["message"] + done.json["error"]["hint"]
    assert process.returncode == 130, out


def test_an_interrupted_turn_leaves_a_session_that_goes_on(world: World, loopback: LoopbackProvider) -> None:
    loopback.default = Say(text="slow " * 40, pieces=5, pause_s=0.05)
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "k"}
    process = world.begin("run", "one", "--model", "custom/m", "--json", env=env)
    while not loopback.asked:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["outcome"]) == (130, "interrupted")
    loopback.default = Say(text="Here I am.")
    assert _served(world, loopback, "two", "--continue").out == "Here I am.\n"
    assert problems(loopback.asked[-1].body, "openai") == []


@pytest.mark.parametrize("provider", ["custom", "anthropic"])
def test_a_long_session_is_valid_for_a_strict_provider_and_only_grows_at_its_end(
    world: World, loopback: LoopbackProvider, provider: str
) -> None:
    (world.repo / "long.txt").write_text("".join(f"line {n} of a long file\n" for n in range(200)))
    wrong: list[str] = []

    def answer(asked: Asked) -> Say:
        number = len(loopback.asked)
        wrong.extend(problems(asked.body, asked.dialect))
        if number == 30:
            return Say(text="Read.")
        raw = '{"path": ' if number % 7 == 0 else json.dumps({"path": "long.txt", "offset": number})
        return Say(
            text=f"Step {number}.", calls=(("read_file", raw), ("grep", json.dumps({"pattern": f"line {number}"})))
        )

    loopback.answer = answer
    done = _served(world, loopback, "read it", "--json", provider=provider)
    assert (done.code, wrong, done.json["result"]) == (0, [], "Read."), done.out
    sent = [[_bare(message) for message in asked.body["messages"]] for asked in loopback.asked]
    assert all(after[: len(before)] == before for before, after in pairwise(sent))


def _bare(message: dict[str, Any]) -> str:
    """A message without the marks up to which a provider may cache."""
    return re.sub(r', "cache_control": \{[^}]*\}', "", json.dumps(message))


def test_the_first_request_is_small(world: World, loopback: LoopbackProvider) -> None:
    from agentforge.tokens import count_tokens

    loopback.default = Say(text="Hello.")
    for flags, most in ((("--bare",), 720), ((), 3_000)):
        _served(world, loopback, "hi", *flags)
        assert count_tokens(json.dumps(loopback.asked[-1].body, separators=(",", ":"))) < most


def test_a_model_that_says_nothing_fails_the_turn(world: World) -> None:
    done = world.run("run", "hi", "--model", _script(world, *[{"text": ""}] * 5), "--json")
    assert (done.code, done.json["outcome"]) == (5, "failed")
    assert "with nothing" in done.json["reason"]


def test_a_model_that_never_stops_is_cut_off(world: World, loopback: LoopbackProvider) -> None:
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"blah " * 2_000 + b'"}}]}\n\n'
    loopback.default = Raw(chunks=(chunk,) * 400)
    done = _served(world, loopback, "hi", "--json")
    assert (done.code, len(loopback.asked)) == (5, 1), done.out
    assert "does not end" in done.json["reason"]


def test_a_session_file_that_was_cut_is_named_and_the_others_are_listed(world: World) -> None:
    world.run("run", "hi", "--model", _script(world, {"text": "Hello."}))
    folder = next(world.home.rglob("sessions"))
    (folder / "11111111-2222-3333-4444-555555555555.json").write_text('{"schema_version": 1, "messages": [{"role"')
    listed = world.run("sessions", "list")
    assert (listed.code, "hi" in listed.out, "is skipped" in listed.err) == (0, True, True)
    assert world.run("run", "x", "--resume", "11111111").code == 9
    log = next(world.home.rglob("runs/*/events.jsonl"))
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    again = world.run("run", "on", "--continue", "--model", _script(world, {"text": "a"}, {"text": "On."}), "--json")
    assert again.code in (0, 9)


def test_a_session_is_replayed_without_a_model(world: World, loopback: LoopbackProvider) -> None:
    def answer(_asked: Asked) -> Say:
        number = len(loopback.asked)
        if number == 16:
            return Say(text="Read.")
        command = json.dumps({"command": f"seq {number} 400"})
        return Say(text=f"Step {number}.", calls=(("shell", command), ("read_file", '{"path": "textkit.py"}')))

    loopback.answer = answer
    first = _served(world, loopback, "read it", "--json", "--approval", "yolo").json
    world.run("run", "more", "--continue", "--model", _script(world, *[{"text": "x"}] * 16, {"text": "And more."}))
    done = world.run("replay", first["session_id"][:8], "--json")
    assert (done.code, done.json["ok"], done.json["requests"]) == (0, True, 17), done.out
    assert len(loopback.asked) == 16


def test_a_model_with_a_smaller_window_than_the_settings_say_is_met(world: World, loopback: LoopbackProvider) -> None:
    (world.repo / "long.txt").write_text("".join(f"line {n} of a long file\n" for n in range(400)))

    def answer(asked: Asked) -> Say | Refuse:
        if len(json.dumps(asked.body["messages"])) > 9_000:
            return Refuse(status=400, message="maximum context length is 2048 tokens", code="context_length_exceeded")
        if len(loopback.asked) > 12:
            return Say(text="Read.")
        return Say(calls=(("read_file", json.dumps({"path": "long.txt", "offset": len(loopback.asked)})),))

    loopback.answer = answer
    done = _served(world, loopback, "read it", "--json")
    assert (done.code, done.json["result"]) == (0, "Read."), done.out


def test_a_window_that_is_smaller_than_what_was_piped_is_said_at_once(world: World, loopback: LoopbackProvider) -> None:
    loopback.default = Refuse(
        status=400, message="maximum context length is 8192 tokens", code="context_length_exceeded"
    )
    diff = "".join(f"+line {number} of the piped change\n" for number in range(4_000))
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "k"}
    done = world.run("run", "review this", "--model", "custom/m", "--json", stdin=diff.encode(), env=env)
    assert (done.code, len(loopback.asked)) == (5, 1), done.out
    assert "is never shortened" in done.json["error"]["hint"] and "model.context_window" in done.json["error"]["hint"]


def test_yolo_does_what_it_would_ask_about_and_says_what_the_floor_forbids(world: World) -> None:
    reads = _call("shell", command="cat textkit.py")
    leaves = _call("shell", command="curl -s http://127.0.0.1:9/ || true")
    floor = _call("write_file", path=".git/config", content="x")
    done = world.run(
        "run", "go", "--model", _script(world, reads, leaves, floor, {"text": "Ok."}), "--approval", "yolo", "--json"
    )
    (denial,) = done.json["permission_denials"]
    assert denial["tool_name"] == "write_file" and "nobody is here" not in denial["reason"]
    assert done.json["reason"] == f"1 call was not allowed: {denial['reason']}"


@pytest.mark.parametrize("lines", [350, 1_500, 4_000])
def test_what_is_piped_stands_whole_in_every_request(world: World, loopback: LoopbackProvider, lines: int) -> None:
    diff = "".join(f"+line {number} of the piped change\n" for number in range(lines))
    looks = Say(calls=(("read_file", '{"path": "textkit.py"}'),))
    loopback.plan(looks, looks, Say(text="Fine."), Say(text="Still fine."))
    env = {"BASE_URL": f"{loopback.url}/v1", "API_KEY": "k"}
    first = world.run("run", "review this", "--model", "custom/m", "--json", stdin=diff.encode(), env=env)
    assert first.code == 0, first.out + first.err
    assert _served(world, loopback, "and now?", "--continue").code == 0
    texts = [json.dumps(asked.body["messages"]) for asked in loopback.asked]
    assert [json.dumps(diff)[1:-1] in text for text in texts] == [True] * 4


def test_five_pasted_megabytes_are_refused_with_size_limit_and_way_out(world: World) -> None:
    done = world.run("run", "-", "--model", _script(world, {"text": "Ok."}), "--json", stdin=b"word " * 1_000_000)
    assert (done.code, done.json["error"]["slug"]) == (2, "usage"), done.out
    assert "1,000,000 tokens" in done.json["error"]["message"] and "256,000" in done.json["error"]["message"]
    assert "attach less" in done.json["error"]["hint"]


def test_what_a_tool_gives_arrives_whole_up_to_the_setting(world: World, loopback: LoopbackProvider) -> None:
    loopback.plan(Say(calls=(("shell", '{"command": "seq 1 14000"}'),)), Say(text="Read."))
    assert _served(world, loopback, "count", "--approval", "yolo").code == 0
    assert "\\n7000\\n" in json.dumps(loopback.asked[1].body["messages"])
    assert "omitted" not in json.dumps(loopback.asked[1].body["messages"])


def test_a_session_whose_folder_is_gone_is_not_gone_on_with(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    model = _script(world, {"text": "Hello."}, {"text": "Again."})
    first = world.run("run", "hi", "--model", model, "--json", "--cwd", str(folder)).json["session_id"]
    folder.rmdir()
    done = world.run("run", "on", "--resume", first, "--model", model)
    assert (done.code, "is gone" in done.err) == (2, True)
