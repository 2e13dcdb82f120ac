"""The six modes: what each of them lets pass, asks about and refuses, class by class. One table, shown in the docs."""

from __future__ import annotations

from enum import StrEnum

from agentforge.safety.shell.programs.classes import CommandClass


class Consent(StrEnum):
    """What becomes of a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Mode(StrEnum):
    """How much an agent may do without a question."""

    ON_REQUEST = "on-request"
    ON_FAILURE = "on-failure"
    AUTO = "auto"
    AUTO_EDIT = "auto-edit"
    NEVER = "never"
    YOLO = "yolo"


MODE_MEANING = {
    Mode.ON_REQUEST: "asks before anything but reading, tests and builds",
    Mode.ON_FAILURE: "goes on inside the sandbox without a question; asks for what leaves it",
    Mode.AUTO: "goes on without a question, repository and packages included; asks for network, destruction and the unknown",
    Mode.AUTO_EDIT: "runs safe commands and servers, asks for every edit and whatever is riskier, refuses destruction",
    Mode.NEVER: "refuses everything but reading; never asks",
    Mode.YOLO: "lets everything pass that no rule and no protected place forbids",
}

_COLUMNS = (Mode.ON_REQUEST, Mode.ON_FAILURE, Mode.AUTO, Mode.AUTO_EDIT, Mode.NEVER, Mode.YOLO)
_ROWS = {
    CommandClass.READ_ONLY: "allow allow allow allow allow allow",
    CommandClass.GIT_READ: "allow allow allow allow allow allow",
    CommandClass.TEST: "allow allow allow allow deny allow",
    CommandClass.BUILD: "allow allow allow allow deny allow",
    CommandClass.WRITE: "ask allow allow ask deny allow",
    CommandClass.RUN: "ask allow allow ask deny allow",
    CommandClass.SERVER: "ask allow allow allow deny allow",
    CommandClass.GIT_WRITE: "ask ask allow ask deny allow",
    CommandClass.INSTALL: "ask ask allow ask deny allow",
    CommandClass.NETWORK: "ask ask ask ask deny allow",
    CommandClass.DESTRUCTIVE: "ask ask ask deny deny allow",
    CommandClass.UNKNOWN: "ask ask ask ask deny allow",
}

TABLE: dict[Mode, dict[CommandClass, Consent]] = {
    mode: {kind: Consent(row.split()[column]) for kind, row in _ROWS.items()} for column, mode in enumerate(_COLUMNS)
}


def in_mode(kind: CommandClass, mode: Mode, *, enclosed: bool = False) -> Consent:
    """What the mode says to a class; within walls that hold, the unknown may do no more than any script that may be run."""
    return TABLE[mode][CommandClass.RUN if enclosed and kind is CommandClass.UNKNOWN else kind]


def strictest(*verdicts: Consent) -> Consent:
    """Deny beats ask, ask beats allow."""
    return max(verdicts, key=list(Consent).index, default=Consent.ALLOW)
