"""The audit of a task in four formats, all from one value. Writing the PDF is typst's work."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from agentforge.errors import AgentForgeError, ToolchainError
from agentforge.installation import command_for
from agentforge.store.log.reader import read
from agentforge.views.audit import Recorded, audit_value
from agentforge.views.audit_blocks import Block, Plot, Table, visible
from agentforge.views.audit_document import audit_document
from agentforge.views.audit_html import html_of, tone_of
from agentforge.views.audit_md import markdown_of
from agentforge.views.audit_plot import plot_svg

AuditFormat = Literal["md", "html", "pdf", "json"]
_TEMPLATE = Path(__file__).with_name("audit.typ")


def audit(folder: Path, *, form: AuditFormat) -> bytes:
    """Write the audit of the run in `folder`.

    Raises:
        IntegrityError: its trail was altered or damaged.
        ToolchainError: a PDF was asked for and typst is not installed.
    """
    value = audit_value(_records(folder))
    return _WRITERS[form](value)


def _records(folder: Path) -> Iterator[Recorded]:
    return ((record.at, record.hash, record.event) for record in read(folder))


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _html(value: dict[str, Any]) -> bytes:
    return html_of(audit_document(value)).encode()


def _markdown(value: dict[str, Any]) -> bytes:
    return markdown_of(audit_document(value)).encode()


def _pdf(value: dict[str, Any]) -> bytes:
    """The words reach typst as a JSON file that its template shows; none of them is source."""
    try:
        import typst
    except ImportError as exc:
        raise ToolchainError("a PDF cannot be made: typst is missing", hint=command_for("pdf")) from exc

    blocks = audit_document(value)
    data = {
        "title": visible(f"Audit of {value['task_id']}"),
        "footer": visible(
            f"{value['task_id']}, trail {value['trail']['head'][:16]}, {value['trail']['records']} records"
        ),
        "blocks": [_typst_block(block) for block in blocks],
    }
    with tempfile.TemporaryDirectory(prefix="agentforge-audit-") as place:
        Path(place, "data.json").write_text(json.dumps(data), "utf-8")
        source = Path(place, "audit.typ")
        source.write_bytes(_TEMPLATE.read_bytes())
        try:
            made = typst.compile(str(source), format="pdf")
        except RuntimeError as exc:
            raise AgentForgeError(f"typst refused the audit: {exc}", hint="ask for html instead") from exc
    return bytes(made)


def _typst_block(block: Block) -> dict[str, object]:
    kind = type(block).__name__.lower()
    if isinstance(block, Plot):
        return {"kind": kind, "title": block.title, "svg": plot_svg(block, ink="#1b1f24")}
    value = {"kind": kind, **asdict(block)}
    if isinstance(block, Table):
        value["rows"] = [[{"text": cell, "tone": tone_of(cell)} for cell in row] for row in block.rows]
    return value


_WRITERS: dict[str, Callable[[dict[str, Any]], bytes]] = {"md": _markdown, "html": _html, "pdf": _pdf, "json": _json}
