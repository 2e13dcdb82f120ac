"""What repairs may look at: the state of the run, and the files of one git tree."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from posixpath import normpath

from agentforge.events.state.run_state import RunState
from agentforge.languages.catalogue import of_path
from agentforge.languages.test_parts import inner_tests, may_hold_tests
from agentforge.pipeline.facts.source_findings import defines, dotted, named_elsewhere, titled
from agentforge.verification.source.test_hashes import test_hashes
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.git.repository import Git

Draft = dict[str, object]
"""A draft that is being repaired, in place."""

_LINE = re.compile(r":\d+(?:-\d+)?$")


class RepairContext:
    """The ground on which a draft is repaired.

    Attributes:
        state: of the run; the draft is its submission.
        tree: commit or tree whose files are looked at.
    """

    def __init__(self, state: RunState, git: Git, tree: str) -> None:
        """Take the state, the repository, and the tree that the draft speaks of."""
        self.state = state
        self.tree = tree
        self._git = git
        self.text = lru_cache(maxsize=256)(self._text)

    @cached_property
    def files(self) -> frozenset[str]:
        """Every file of the tree, as paths from the top of the repository."""
        return frozenset(self._git.list_files(self.tree))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(path.rpartition("/")[2].lower(), []).append(path)
        return found

    def _text(self, path: str) -> str | None:
        if path not in self.files:
            return None
        content = self._git.show(self.tree, path)
        return None if content is None else content.decode("utf-8", "replace")

    def tests(self, path: str) -> str:
        """The text of a file of tests, of a product file what of it is tests; "" where there is none."""
        text = self.text(path) or ""
        return inner_tests(path, text.encode()).decode() if may_hold_tests(path) else text

    def defines(self, path: str, name: str) -> bool | None:
        """Whether a file defines a symbol under its full name; None when its language cannot be read, or there is no file."""
        text = self.text(path)
        known = None if text is None else defines(path, name, text.encode(), exactly=True)
        return known or (named_elsewhere(path, name, files=self.files, read=self.text) or known)

    def holds(self, path: str, name: str) -> bool:
        """Whether a file defines a symbol, has a test of that title, or holds the name's last word: a label, a heading."""
        text = self.text(path)
        if text is None:
            return False
        if name in self.titles(path) or self.test_function(path, name) or titled(path, name, text):
            return True
        word = re.escape(dotted(name).rsplit(".", 1)[-1])
        return bool(word) and (
            defines(path, name, text.encode()) is True
            or re.search(rf"(?<!\w){word}(?!\w)", text) is not None
            or self.defines(path, name) is True
        )

    def titles(self, path: str) -> frozenset[str]:
        """The full titles of the tests of a file whose tests have titles, `group > title`; none of a file of Python."""
        text = self.text(path)
        if text is None or path.endswith(".py"):
            return frozenset()
        return frozenset(title for title, _ in test_hashes(path, text.encode()))

    def test_function(self, path: str, name: str) -> str:
        """The test function of a part that is named in any spelling, `TestA/b`, `TestA[b]`, `TestA > b`; "" for another name."""
        language, titles = of_path(path), self.titles(path)
        if language is None or not language.subtests or name in titles:
            return ""
        whole = re.split(rf"{re.escape(language.subtests)}|\[| > ", name, maxsplit=1)[0].strip()
        return whole if whole in titles else ""

    def _with_its_class(self, path: str, name: str) -> str:
        """The one method of a class of Python tests that is named without its class, dotted; "" for any other name."""
        if not path.endswith(".py") or not is_test_path(path) or not name.isidentifier():
            return ""
        known = [title for title, _ in test_hashes(path, (self.text(path) or "").encode())]
        meant = [one for one in known if one.endswith(f"::{name}")]
        return meant[0].replace("::", ".") if name not in known and len(meant) == 1 else ""

    def full_title(self, path: str, name: str) -> str:
        """The full title of the one test that a name means by its last part, or as its runner prints it; else the name."""
        titles = self.titles(path)
        whole = self.test_function(path, name) or self._with_its_class(path, name)
        if whole:
            return whole
        meant = [one for one in titles if name in (one.rpartition(" > ")[2], one.replace(" > ", " "))]
        if may_hold_tests(path) and not self.defines(path, name):
            meant = [one for one in titles if one.endswith(f"::{name}")]
        return meant[0] if name not in titles and len(meant) == 1 else name

    def clean(self, path: str) -> str:
        """A path as it stands from the top of the repository: without ./, backslashes, the repository's own folder, a line."""
        bare = path.strip().strip("`'\"").replace("\\", "/")
        for top in (self.state.identity.worktree, self.state.identity.repo):
            if top and bare.startswith(f"{top.rstrip('/')}/"):
                bare = bare[len(top.rstrip("/")) + 1 :]
        if _LINE.search(bare) and bare not in self.files:
            bare = _LINE.sub("", bare)
        if not bare:
            return ""
        folder = "/" if bare.endswith("/") else ""
        return normpath(bare) + folder if normpath(bare) != "." else ""

    def nearest(self, path: str) -> str:
        """The one file of the tree that a path which does not exist can mean: the same end, or the same but for case; "" none."""
        tail = PurePosixPath(path).parts
        same = self._by_name.get(path.rpartition("/")[2].lower(), [])
        for length in range(len(tail), 0, -1):
            end = "/".join(tail[-length:]).lower()
            found = [one for one in same if one.lower() == end or one.lower().endswith(f"/{end}")]
            if found:
                return found[0] if len(found) == 1 else ""
        return ""
