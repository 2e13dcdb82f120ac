"""Questions about single nodes of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode


def goes_on(node: SgNode) -> bool:
    """Whether a list is a part of a longer one, which its variables live on in."""
    parent = node.parent()
    return node.kind() == "list" and parent is not None and parent.kind() == "list"


def comes_first(node: SgNode) -> bool:
    """Whether a statement is carried out whatever the others of its list do."""
    parent = node.parent()
    while parent is not None and parent.kind() == "list" and parent.children()[0].range() == node.range():
        node, parent = parent, parent.parent()
    return parent is None or parent.kind() != "list"


def ends_simply(node: SgNode) -> bool:
    """Whether what a here document is handed to is a simple command, the last one of a list or a pipeline."""
    while node.kind() in ("list", "pipeline"):
        node = [child for child in node.children() if child.is_named()][-1]
    return node.kind() == "command"


def exported_names(node: SgNode) -> list[str]:
    """The names that a declaration hands on to every later command."""
    inner = [
        grandchild if child.kind() == "variable_assignment" else child
        for child in node.children()
        for grandchild in (child.children()[:1] if child.kind() == "variable_assignment" else (child,))
    ]
    return [child.text() for child in inner if child.kind() == "variable_name"]
