"""Telling people outside: what to tell, when, and by which way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.notify.links import Grant, answer_url, is_spent, link_key, sign, spend, verify
    from agentforge.notify.notifier import Notifier, NotifyMessage, digest_of, notifiers
    from agentforge.notify.policy import Matter, Notice, NotifiedRecord, NotifyPolicy, deadline_of, due, read_policy
else:
    __getattr__ = front(
        __name__,
        {
            "links": ("Grant", "answer_url", "is_spent", "link_key", "sign", "spend", "verify"),
            "notifier": ("Notifier", "NotifyMessage", "digest_of", "notifiers"),
            "policy": ("Matter", "Notice", "NotifiedRecord", "NotifyPolicy", "deadline_of", "due", "read_policy"),
        },
    )

__all__ = [
    "Grant",
    "Matter",
    "Notice",
    "NotifiedRecord",
    "Notifier",
    "NotifyMessage",
    "NotifyPolicy",
    "answer_url",
    "deadline_of",
    "digest_of",
    "due",
    "is_spent",
    "link_key",
    "notifiers",
    "read_policy",
    "sign",
    "spend",
    "verify",
]
