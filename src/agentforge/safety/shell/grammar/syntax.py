"""What a bash line consists of once it was read: commands, their words and redirections, and what was not understood."""

from __future__ import annotations

from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a command as bash sees it after quote removal and before expansion.

    Attributes:
        text: as it is written.
        pieces: its literal parts in order; None stands for a part that only the run knows ($x, $(...)).
        glob: an unquoted *, ? or [ may turn it into other words.
        fed: for the name `xargs`: what the paths that it is fed look like, where the command before it says so.
        splits: an unquoted part that only the run knows may turn it into several words.
        whole: whatever only the run knows in it are whole numbers, or nothing where it `splits`.
        tilde: it begins with the home directory (~ or $HOME); the first piece then begins with "~".
    """

    text: str
    pieces: tuple[str | None, ...]
    glob: bool = False
    fed: str = ""
    splits: bool = False
    whole: bool = False
    tilde: bool = False

    @property
    def value(self) -> str | None:
        """The word itself, or None when a part is known only at run time."""
        return None if None in self.pieces else "".join(piece for piece in self.pieces if piece is not None)

    @property
    def is_number(self) -> bool:
        """Whether it is a whole number, or stands for one that only the run knows."""
        return self.whole if self.pieces == (None,) else (self.value or "").isdecimal()

    @property
    def known(self) -> str:
        """The literal parts, with NUL where something unknown stands."""
        return "".join("\0" if piece is None else piece for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """`name=value`, before a command or alone."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """A redirection to or from a file; duplicated descriptors (2>&1) are left out."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the file is created, changed or emptied."""
        return ">" in self.operator


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCommand:
    """One simple command.

    Attributes:
        text: as it is written.
        words: the command's name, then its arguments; empty for an assignment or a redirection alone.
        exported: names of variables that it hands on to every later command.
        inline: its input stands in the line itself (a here document).
        folders: where it may run, relative to where the line starts ("" is there); None is a place nobody knows.
    """

    text: str
    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    inline: bool = False
    exported: tuple[str, ...] = ()
    folders: tuple[str | None, ...] = ("",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A piece of the line that is not fully understood, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A whole line: every command that it may run, wherever it stands, and every piece that is not understood."""

    commands: tuple[ShellCommand, ...]
    opaque: tuple[Opaque, ...]


def names(text: str) -> tuple[str, ...]:
    """The words of a text: a table of names that stays readable."""
    return tuple(text.split())
