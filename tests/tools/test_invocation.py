"""Proves tools/invocation.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import ConflictError, SandboxError
from agentforge.safety.policy.scope import WriteScope
from agentforge.safety.text.hygiene import unwrap
from agentforge.tokens import count_tokens
from agentforge.toolbox import find
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes
from agentforge.tools.dispatch.invocation import InvocationPolicy, Prepared, invoke, perform_call, prepare_call, present

TOKEN = "ghp" + "_" + "q7Gd2kLm9XpT4vBn8WsR3yZc6HfJ5aEu1oQi"


def a_tool(run: Callable[[], Observation], *, name: str = "put", **fields: object) -> Tool:
    def called(_arguments: Mapping[str, object], _context: ToolContext) -> Observation:
        return run()

    values: dict[str, object] = {"effect": "write", "writes": lambda arguments: (str(arguments["path"]),)} | fields
    return Tool(name=name, description="", parameters=takes("path", path=TEXT), run=called, **values)  # type: ignore[arg-type]


def raising(error: BaseException) -> Callable[[], Observation]:
    def run() -> Observation:
        raise error

    return run


def never() -> Observation:
    raise AssertionError("the tool was run")


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    def refuse(*_items: object, **_named: object) -> Observation:
        raise AssertionError

    return ToolContext(
        root=tmp_path.resolve(),
        base_commit="",
        run_command=refuse,  # type: ignore[arg-type]
        run_tests=refuse,
        run_checks=refuse,
        git_diff=str,
        may_write=WriteScope(allow=("src/**",)).refusal,
    )


def call(tool: Tool, context: ToolContext, arguments: str = '{"path": "src/a.py"}', **policy: object) -> Observation:
    shown = invoke(tool.name, arguments, tools={tool.name: tool}, context=context, policy=InvocationPolicy(**policy))  # type: ignore[arg-type]
    return shown.observation


def test_an_unknown_tool_is_answered_with_the_tools_of_the_stage(context: ToolContext) -> None:
    tool = a_tool(never, name="read_file")
    shown = invoke("readfile", "{}", tools={"read_file": tool}, context=context, policy=InvocationPolicy())
    assert (shown.observation.status, shown.observation.error_type) == ("error", "unknown-tool")
    assert "Tools of this stage: read_file" in shown.text
    assert shown.observation.next_actions == ("call read_file",)


@pytest.mark.parametrize(
    ("raw", "error"), [('{"path": ', "malformed-arguments"), ("[]", "malformed-arguments"), ("{}", "bad-arguments")]
)
def test_a_call_with_wrong_arguments_is_never_executed(raw: str, error: str, context: ToolContext) -> None:
    assert call(a_tool(never), context, raw).error_type == error


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "../x",
        "/etc/passwd",
        ".git/config",
        "src/../README.md",
        "link/x.py",
        "src/out/x.py",
        "src/.git/hooks/x",
    ],
)
def test_a_write_outside_the_scope_is_denied_by_the_place_where_it_really_lies(path: str, context: ToolContext) -> None:
    (context.root / "docs").mkdir()
    (context.root / "link").symlink_to(context.root / "docs")
    (context.root / "src").mkdir()
    (context.root / "src" / "out").symlink_to(context.root / "docs")
    observation = call(a_tool(never), context, f'{{"path": "{path}"}}')
    assert (observation.status, observation.error_type) == ("denied", "out-of-scope")
    assert "Nothing was executed." in observation.text


def test_the_refusal_says_what_may_be_written(context: ToolContext) -> None:
    assert "may write: src/**" in call(a_tool(never), context, '{"path": "b.py"}').text


def test_the_approval_can_refuse(context: ToolContext) -> None:
    asked = call(a_tool(never), context, approve=lambda tool, arguments: f"{tool.name} {arguments['path']}?")
    assert (asked.status, asked.error_type) == ("denied", "not-approved")
    assert "put src/a.py?" in asked.summary


def test_preparing_executes_nothing(context: ToolContext) -> None:
    tool = a_tool(never)
    prepared = prepare_call(
        "put", '{"path": "src/a.py"}', tools={"put": tool}, context=context, policy=InvocationPolicy()
    )
    assert prepared == Prepared(tool=tool, arguments={"path": "src/a.py"})


def test_whatever_a_tool_raises_becomes_an_observation(context: ToolContext) -> None:
    crash = call(a_tool(raising(RuntimeError("boom"))), context)
    assert (crash.status, crash.error_type, crash.retryable) == ("error", "tool-crash", False)
    assert "RuntimeError: boom" in crash.summary
    refused = call(a_tool(raising(ToolError(failed("no", error_type="no-match")))), context)
    assert (refused.summary, refused.error_type) == ("no", "no-match")
    assert call(a_tool(raising(ConflictError("stale"))), context).error_type == "conflict"
    denied = call(a_tool(raising(PermissionError(13, "Permission denied", "src/a.py"))), context)
    assert (denied.error_type, denied.summary) == ("os-error", "put: Permission denied: src/a.py")


@pytest.mark.parametrize("error", [SandboxError("no bwrap"), KeyboardInterrupt()])
def test_a_broken_harness_and_ctrl_c_are_no_observations(error: BaseException, context: ToolContext) -> None:
    prepared = Prepared(tool=a_tool(raising(error)), arguments={})
    with pytest.raises(type(error)):
        perform_call(prepared, context=context, policy=InvocationPolicy())


def test_what_is_shown_is_clean_and_without_secrets_everywhere() -> None:
    dirty = f"\x1b[31m{TOKEN}\x1b[0m known-value-1 \u202e"
    observation = Observation(
        status="success", summary=f"{dirty}\nmore", text=dirty, next_actions=(dirty,), payload={"draft": {"a": [TOKEN]}}
    )
    shown = present(observation, policy=InvocationPolicy(secrets=("known-value-1",)))
    clean = "[redacted: github-token] [redacted: known-value] <U+202E>"
    assert shown.text == shown.full == shown.observation.text == clean
    assert shown.observation.summary == f"{clean} more"
    assert shown.observation.next_actions == (clean,)
    assert shown.observation.payload == {"draft": {"a": ["[redacted: github-token]"]}}


def test_an_escape_sequence_cannot_hide_a_secret_from_redaction() -> None:
    split = TOKEN[:10] + "\x1b[0m" + TOKEN[10:]
    assert (
        present(Observation(status="success", summary="", text=split), policy=InvocationPolicy()).text
        == "[redacted: github-token]"
    )


def test_a_long_text_is_cut_and_kept_whole_beside() -> None:
    text = "".join(f"line {number}\n" for number in range(5000))
    shown = present(
        Observation(status="success", summary="", text=text), policy=InvocationPolicy(text_limit_tokens=300)
    )
    assert count_tokens(shown.text) <= 300
    assert "lines omitted" in shown.text
    assert shown.full == text


def test_of_what_a_program_printed_a_cut_keeps_the_result() -> None:
    printed = [
        *(f"line {number}" for number in range(3000)),
        "1 failed, 3 passed",
        *(f"more {number}" for number in range(3000)),
    ]
    seen = Observation(status="error", summary="", text="\n".join(printed))
    policy = InvocationPolicy(text_limit_tokens=300)
    for name in ("shell", "run_tests", "run_checks", "jobs"):
        assert "  3001: 1 failed, 3 passed\n" in present(seen, policy=policy, tool=find((name,))[name]).text
    assert "sed -n" in present(seen, policy=policy, tool=find(("shell",))["shell"]).text
    assert "1 failed" not in present(seen, policy=policy, tool=find(("read_file",))["read_file"]).text


def test_the_text_is_fenced_when_a_nonce_is_given() -> None:
    shown = present(Observation(status="success", summary="", text="data"), policy=InvocationPolicy(nonce="7f3a"))
    assert shown.text != shown.full
    assert unwrap(shown.text) == "data"
    assert present(Observation(status="success", summary="", text=""), policy=InvocationPolicy(nonce="7f3a")).text == ""


def test_scrub_takes_secrets_out_of_any_text() -> None:
    assert (
        InvocationPolicy(secrets=("known-value-1",)).scrub(f"{TOKEN} known-value-1")
        == "[redacted: github-token] [redacted: known-value]"
    )


@pytest.mark.parametrize("where", ["approve", "writes", "may_write"])
@pytest.mark.parametrize(
    "error", [ValueError("embedded null byte"), OSError(40, "loop"), RecursionError("deep"), KeyError("x")]
)
def test_a_call_that_nobody_can_judge_is_not_carried_out_and_ends_nothing(
    where: str, error: Exception, context: ToolContext
) -> None:
    def broken(*_items: object) -> str:
        raise error

    policy = {"approve": broken} if where == "approve" else {}
    tool = a_tool(never, **({"writes": broken} if where == "writes" else {}))
    shown = call(tool, replace(context, may_write=broken) if where == "may_write" else context, **policy)
    assert (shown.status, shown.error_type) == ("error", "tool-crash")


def test_a_harness_that_is_broken_while_a_call_is_judged_is_no_answer_to_the_model(context: ToolContext) -> None:
    def broken(*_items: object) -> str:
        raise SandboxError("gone")

    with pytest.raises(SandboxError):
        call(a_tool(never), context, approve=broken)


@pytest.mark.parametrize("sign", ["\\u0000", "\\ud800", "\\udc00", "\\udcff"])
@pytest.mark.parametrize(
    "form", ['{"path": "a%sb"}', '{"path": "a", "more": [{"deep": "%s"}]}', '{"path": "a", "%s": 1}']
)
def test_a_sign_that_nothing_can_hold_is_refused_wherever_it_stands(form: str, sign: str, context: ToolContext) -> None:
    assert call(a_tool(never), context, form % sign).error_type == "malformed-arguments"


def test_a_character_that_json_names_in_two_halves_is_one(context: ToolContext) -> None:
    assert call(a_tool(never), context, '{"path": "src/\\ud83d\\ude00", "more": 1}').error_type == "bad-arguments"
