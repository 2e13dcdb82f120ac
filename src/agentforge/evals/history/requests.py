"""The request that a commit could have been made for: its message in plain words, or what a model writes of message and tests."""

from __future__ import annotations

import re

from agentforge.errors import ModelError
from agentforge.evals.history.commits import HistoryCommit
from agentforge.messages import Message, ModelRequest, Text
from agentforge.models import Model
from agentforge.tokens import cut_middle

_TRAILER = re.compile(r"^[A-Z][a-z]+(?:-[A-Za-z]+)+: .*$|^git-svn-id:.*$", re.MULTILINE)  # Signed-off-by: and its kin
_NUMBER = re.compile(r"\s*\((?:[a-z]+-)?#\d+\)|^\W*\w+:?\s+(?:[\w./-]*#\d+[, ]*)+\.?\s*$", re.IGNORECASE | re.MULTILINE)
_KIND = re.compile(r"^[a-z]+(?:\([^)]*\))?!?:\s+")  # fix(parser): of conventional commits
_FIXES = frozenset({"fix", "fixes", "fixed", "bug", "bugfix", "regression"})
_TESTS_TOKENS = 5_000
_REPLY_TOKENS = 900

_INSTRUCTION = """You write the request that someone would have filed before a change of a program was made.
You are shown the message of the commit and what it changed in the tests; the change itself you cannot see.
Write to a developer who knows the repository, sees neither of the two, and is judged by exactly these tests:
- what is wrong or wanted, in the words of a user of the program, in the present tense;
- every name, parameter, file and exact message that the tests use and the repository does not have yet;
- for each behaviour that the tests check, a short example with its exact result.
Do not speak of tests, commits, pull requests or numbers of issues, and do not say how it is to be programmed.
Reply with the request alone, as plain text."""


def message_of(commit: HistoryCommit) -> str:
    """The message without what only the project's own records need: trailers, numbers of issues, the kind before the subject."""
    subject = _NUMBER.sub("", _KIND.sub("", commit.subject)).strip()
    body = re.sub(r"\n{3,}", "\n\n", _NUMBER.sub("", _TRAILER.sub("", commit.body))).strip()
    subject = subject[:1].upper() + subject[1:]
    return f"{subject}\n\n{body}".strip()


def written(commit: HistoryCommit, tests_diff: str, model: Model) -> tuple[str, int]:
    """Ask a model for the request.

    Args:
        tests_diff: the patch of the commit's test files.
    Returns:
        The request, and the tokens that it cost, prompt and reply together.
    Raises:
        ModelError: the model cannot be asked, or its reply is empty.
    """
    shown = cut_middle(tests_diff, limit=_TESTS_TOKENS)
    request = ModelRequest(
        messages=(
            Message(role="system", parts=(Text(text=_INSTRUCTION),)),
            Message(role="user", parts=(Text(text=f"The message:\n{message_of(commit)}\n\nThe tests:\n{shown}"),)),
        ),
        max_output_tokens=_REPLY_TOKENS,
        labels={"stage": "request", "stage_step": 1},
    )
    reply = model.complete(request)
    text = reply.text.strip().removeprefix("```text").removeprefix("```").removesuffix("```").strip()
    if not text:
        raise ModelError(f"{model.name} wrote no request for {commit.sha[:12]}", hint="name another model")
    return text, reply.usage.prompt_tokens + reply.usage.completion_tokens


def action_of(commit: HistoryCommit) -> str:
    """The kind of request, for the figures: by what became of the code, and by the subject where it speaks of a fix.

    Code that only loses lines is deleted, code in nothing but new files is created; all else changes what there is.
    """
    code = [one for one in commit.files if one.role == "code"]
    if _FIXES & frozenset(re.findall(r"[a-z]+", commit.subject.lower())):
        return "fix"
    if code and all(one.status == "added" for one in code):
        return "create"
    if code and all(one.status == "deleted" or (one.old_lines and not one.new_lines) for one in code):
        return "delete"
    return "modify"
