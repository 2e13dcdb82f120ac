"""Reading the assignments of a line: the names and values, and what their uses stand for from there on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from agentforge.safety.shell.grammar.syntax import Assignment, ShellCommand, Word
from agentforge.safety.shell.grammar.words import Words

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    Folders = tuple[str | None, ...]


_ASSIGNING = ("variable_assignment", "variable_assignments")


class Assignments(Words):
    """Reads assignments; a value is remembered while it is certain that it was set."""

    def __init__(self, line: str, known: Mapping[str, Word] | None = None, by_data: Collection[str] = ()) -> None:
        """Take the line, what variables hold once the line has set them, and the names of those that data fills."""
        super().__init__(line)
        self._known = known or {}
        self.by_data = by_data
        self.certain: set[str] = (
            set()
        )  # variables that were set before the list that is read, or whatever its commands do
        self.either = False  # the list holds an `||`: what stands behind it may be left out

    def bind(self, node: SgNode) -> None:
        """Remember what an assignment sets, once it is certain that it was carried out."""
        if node.kind() not in _ASSIGNING or self.either:
            return
        each = [node] if node.kind() == "variable_assignment" else node.children()
        names = [one.children()[0].text() for one in each if one.children()]
        new = {name: self._known[name] for name in names if name in self._known}
        self.bound |= new
        if comes_first(node):
            self.certain |= set(new)

    def forget(self, kept: Collection[str]) -> None:
        """Forget every variable but these."""
        self.bound = {name: word for name, word in self.bound.items() if name in kept}

    def assignment(self, node: SgNode) -> Assignment:
        """Read `name=value`, and the commands inside its value."""
        name = ""
        for child in node.children():
            kind = str(child.kind())
            if kind == "variable_name" and not name:
                name = child.text()
                if name not in self._known:
                    self.bound.pop(name, None)
            elif kind in ("subscript", "array"):
                self.refuse(node, "an array's subscript may run code")
            elif child.is_named():
                self.word(child)
        return Assignment(name=name, text=node.text())

    def declaration(self, node: SgNode, folders: Folders) -> None:
        """Read assignments that stand alone, `export`, `declare` and `unset`."""
        single = node.kind() == "variable_assignment"
        found = [self.assignment(node)] if single else []
        for child in () if single else node.children():
            kind = str(child.kind())
            if kind == "variable_assignment":
                found.append(self.assignment(child))
            elif kind == "word" and child.text() not in ("-x", "-r", "-g", "-f", "-v"):
                self.refuse(node, f"{child.text()} changes how the variable is read")
            elif kind == "variable_name" and node.kind() == "unset_command":
                found.append(Assignment(name=child.text(), text=node.text()))
            elif child.is_named() and kind not in ("variable_name", "word"):
                self.refuse(node, "declares a name that only the run knows")
        exported = (
            [] if single or not node.text().startswith(("export", "declare", "typeset")) else exported_names(node)
        )
        self.commands.append(
            ShellCommand(text=node.text(), assignments=tuple(found), exported=tuple(exported), folders=folders)
        )


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
