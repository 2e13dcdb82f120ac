"""The repository of the user: read and written, with checkout, index, branches and hooks left alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.errors import ConflictError, RepositoryError
from agentforge.workspace.git.diff import Change
from agentforge.workspace.git.newrepo import shadow
from agentforge.workspace.git.repository import AGENTFORGE, Git, Identity

AsUser = Callable[..., str]
Look = Callable[[], dict[str, bytes]]


class TestOpening:
    def test_any_folder_of_the_checkout_leads_to_its_top(self, repository: Path) -> None:
        assert Git.open(repository / "src dir").top == repository

    def test_no_repository(self, tmp_path: Path) -> None:
        with pytest.raises(RepositoryError, match="is not in a git repository - run `git init`"):
            Git.open(tmp_path)

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(RepositoryError, match="is not a folder"):
            Git.open(tmp_path / "nowhere")

    def test_no_commits(self, tmp_path: Path, as_user: AsUser) -> None:
        as_user(tmp_path, "init", "-q")
        with pytest.raises(RepositoryError, match="has no commits yet - commit something"):
            Git.open(tmp_path)

    def test_bare(self, tmp_path: Path, as_user: AsUser) -> None:
        as_user(tmp_path, "init", "-q", "--bare", "bare.git")
        with pytest.raises(RepositoryError, match="bare repository - clone it"):
            Git.open(tmp_path / "bare.git")

    def test_inside_the_git_directory(self, repository: Path) -> None:
        with pytest.raises(RepositoryError, match="inside a git directory"):
            Git.open(repository / ".git" / "hooks")

    def test_no_git_binary(self, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(RepositoryError, match="git was not found: AgentForge needs git - install git"):
            Git.open(repository)

    def test_variables_of_a_surrounding_git_do_not_mislead(self, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
        monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
        assert Git.open(git.top).head() == git.head()
        assert git.is_dirty() == []

    def test_a_folder_whose_name_holds_a_line_break(self, repository: Path, tmp_path: Path) -> None:
        odd = tmp_path / "two\nlines"
        repository.rename(odd)
        opened = Git.open(odd / "src dir")
        assert (opened.top, opened.common_dir) == (odd, odd / ".git")
        assert (opened.found_at, opened.found_on) == (opened.head(), opened.head_ref())
        with shadow(opened, opened.head()) as copy:
            assert copy.list_files("HEAD") == opened.list_files("HEAD")

    def test_a_linked_worktree_of_the_user_is_a_checkout_too(
        self, repository: Path, tmp_path: Path, as_user: AsUser
    ) -> None:
        as_user(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
        linked = Git.open(tmp_path / "linked")
        assert linked.head_ref() == "refs/heads/side"
        assert linked.common_dir == repository / ".git"


class TestReading:
    def test_head_by_branch_and_detached(self, git: Git, repository: Path, as_user: AsUser) -> None:
        assert git.head() == as_user(repository, "rev-parse", "HEAD")
        assert git.head_ref() == "refs/heads/main"
        as_user(repository, "checkout", "-q", "--detach")
        assert git.head_ref() is None

    def test_an_unknown_revision_names_near_ones(self, git: Git, repository: Path, as_user: AsUser) -> None:
        as_user(repository, "branch", "feature/login")
        assert git.resolve("feature/login") == git.head()
        with pytest.raises(RepositoryError, match="did you mean feature/login"):
            git.resolve("feature/logn")
        with pytest.raises(RepositoryError, match="no commit called '--help'"):
            git.resolve("--help")

    def test_dirty_paths_are_listed_but_not_our_own_folder(self, git: Git, repository: Path) -> None:
        (repository / "a.txt").write_text("changed\n")
        (repository / "src dir" / "ñ.py").unlink()
        (repository / 'new "quoted" \n file').write_text("")
        (repository / "debug.log").write_text("ignored")
        (repository / ".agentforge" / "tasks").mkdir(parents=True)
        (repository / ".agentforge" / "tasks" / "t").write_text("ours")
        assert git.is_dirty() == ["a.txt", 'new "quoted" \n file', "src dir/ñ.py"]

    def test_files_of_the_users_own_ignore_list_are_not_dirt(self, git: Git, home: Path) -> None:
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/.my-ignores\n")
        (home / ".my-ignores").write_text(".idea/\n")
        (git.top / ".idea").mkdir()
        (git.top / ".idea" / "x").write_text("")
        assert Git.open(git.top).is_dirty() == []

    def test_files_and_contents(self, git: Git) -> None:
        assert git.list_files("HEAD") == [".gitignore", "a.txt", "src dir/ñ.py", "tracked.log"]
        assert git.show("HEAD", "src dir/ñ.py") == b"x = 1\n"
        assert git.show(git.tree_of("HEAD"), "a.txt") == b"one\ntwo\nthree\n"
        assert git.show("HEAD", "missing") is None
        assert git.show("HEAD", "src dir") is None
        with pytest.raises(RepositoryError, match="no commit or tree called 'nope'"):
            git.show("nope", "a.txt")

    def test_a_tree_with_some_files_of_another(self, git: Git, repository: Path, tmp_path: Path) -> None:
        (repository / "a.txt").write_text("changed\n")
        (repository / "ü.py").write_text("new\n")
        (repository / "other.py").write_text("left out\n")
        after = git.dirty_snapshot(tmp_path / "index")
        mixed = git.tree_with(git.tree_of("HEAD"), after, ["ü.py"], index=tmp_path / "mixed")
        assert [(one.path, one.status) for one in git.changed("HEAD", mixed)] == [("ü.py", "added")]

    def test_differences_as_list_and_as_patch(self, git: Git, repository: Path, tmp_path: Path) -> None:
        (repository / "a.txt").write_text("one\nTWO\nthree\nfour\n")
        (repository / "src dir" / "ñ.py").unlink()
        (repository / "blob").write_bytes(bytes(range(256)))
        (repository / "latin").write_bytes("é\n".encode("latin-1"))
        tree = git.dirty_snapshot(tmp_path / "index")
        assert git.changed("HEAD", tree) == [
            Change(path="a.txt", status="modified", added=2, removed=1),
            Change(path="blob", status="added", added=0, removed=0, binary=True),
            Change(path="latin", status="added", added=1, removed=0),
            Change(path="src dir/ñ.py", status="deleted", added=0, removed=1),
        ]
        patch = git.diff("HEAD", tree)
        assert "-two\n+TWO\n" in patch
        assert "GIT binary patch" in patch
        assert "\udce9" in patch
        assert git.diff("HEAD", tree, paths=["a.*"]) == ""
        assert git.diff("HEAD", tree, paths=["a.txt"], context=0).count("\n@@") == 2

    def test_settings_of_the_user_do_not_change_a_patch(
        self, git: Git, repository: Path, tmp_path: Path, as_user: AsUser
    ) -> None:
        (repository / "a.txt").write_text("one\n")
        tree = git.dirty_snapshot(tmp_path / "index")
        plain = git.diff("HEAD", tree)
        for key, value in (
            ("diff.noprefix", "true"),
            ("diff.mnemonicPrefix", "true"),
            ("color.ui", "always"),
            ("diff.context", "0"),
        ):
            as_user(repository, "config", key, value)
        assert Git.open(repository).diff("HEAD", tree) == plain


class TestSnapshots:
    def test_everything_but_ignored_files_and_caches_is_in_it(self, git: Git, repository: Path, tmp_path: Path) -> None:
        (repository / "new.txt").write_text("new\n")
        (repository / "debug.log").write_text("ignored")
        (repository / "tracked.log").write_text("changed\n")
        for junk in ("__pycache__/x.pyc", "src dir/__pycache__/y.txt", ".pytest_cache/v", ".agentforge-0123.tmp"):
            (repository / junk).parent.mkdir(exist_ok=True)
            (repository / junk).write_text("junk")
        tree = git.dirty_snapshot(tmp_path / "index")
        assert git.list_files(tree) == [".gitignore", "a.txt", "new.txt", "src dir/ñ.py", "tracked.log"]
        assert git.show(tree, "tracked.log") == b"changed\n"

    def test_nothing_of_the_user_changes(
        self, git: Git, repository: Path, tmp_path: Path, as_user: AsUser, hooked: Path, untouched: Look
    ) -> None:
        (repository / "a.txt").write_text("staged\n")
        hooks = repository / ".git" / "hooks"
        hooks.rename(repository / ".git" / "hooks off")
        as_user(repository, "-c", "core.fsmonitor=false", "-c", "filter.evil.clean=cat", "stash", "-q")
        (repository / "src dir" / "ñ.py").write_text("staged\n")
        as_user(repository, "-c", "core.fsmonitor=false", "add", "src dir")
        (repository / ".git" / "hooks off").rename(hooks)
        hooked.unlink(missing_ok=True)
        (repository / "unstaged.txt").write_text("u\n")
        os.utime(repository / "tracked.log", (1, 1))  # so that a refresh of the user's index would show
        before = untouched()
        opened = Git.open(repository)
        tree = opened.dirty_snapshot(tmp_path / "index")
        opened.is_dirty()
        opened.diff("HEAD", tree)
        commit = opened.commit_tree(tree, parents=[opened.head()], message="x")
        opened.add_worktree(tmp_path / "wt", commit)
        opened.materialise(tree, tmp_path / "out")
        opened.create_branch("agentforge/t", commit)
        opened.point_at(tmp_path / "wt", commit)
        (tmp_path / "wt" / "a.txt").write_text("more\n")
        opened.snapshot(tmp_path / "wt", index=tmp_path / "i2")
        opened.remove_worktree(tmp_path / "wt")
        subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", "update-ref", "-d", "refs/heads/agentforge/t"],
            cwd=repository,
            check=True,
        )
        assert untouched() == before
        assert not hooked.exists()

    def test_the_private_index_is_kept_and_a_left_lock_is_no_obstacle(
        self, git: Git, repository: Path, tmp_path: Path
    ) -> None:
        index = tmp_path / "index"
        first = git.dirty_snapshot(index)
        assert first == git.tree_of("HEAD")
        (tmp_path / "index.lock").write_text("")
        (repository / "a.txt").write_text("2\n")
        second = git.dirty_snapshot(index)
        (repository / "a.txt").write_text("one\ntwo\nthree\n")
        assert second != first
        assert git.dirty_snapshot(index) == first

    @pytest.mark.parametrize("left", [0, 9, 80, -1])
    def test_a_private_index_that_a_power_cut_left_damaged_is_made_anew(
        self, git: Git, repository: Path, tmp_path: Path, left: int
    ) -> None:
        index = tmp_path / "index"
        first = git.dirty_snapshot(index)
        index.write_bytes(index.read_bytes()[:left])
        assert git.dirty_snapshot(index) == first
        index.write_bytes(index.read_bytes()[:left])
        git.add_worktree(tmp_path / "wt", git.head())
        (tmp_path / "wt" / "stray.txt").write_text("nobody asked\n")
        git.reset_files(tmp_path / "wt", first, index=index)
        assert git.snapshot(tmp_path / "wt", index=tmp_path / "i2") == first

    def test_an_emptied_checkout_is_an_empty_tree(self, git: Git, repository: Path, tmp_path: Path) -> None:
        index = tmp_path / "index"
        git.dirty_snapshot(index)
        for name in git.list_files("HEAD"):
            (repository / name).unlink()
        assert git.list_files(git.dirty_snapshot(index)) == []

    @pytest.mark.parametrize("committed", [True, False])
    def test_a_repository_inside_is_left_out(
        self, git: Git, repository: Path, tmp_path: Path, as_user: AsUser, committed: bool
    ) -> None:
        inner = repository / "vendor" / "inner"
        inner.mkdir(parents=True)
        as_user(inner, "init", "-q")
        (inner / "f").write_text("x")
        if committed:
            as_user(inner, "add", "f")
            as_user(inner, "commit", "-q", "-m", "inner")
        (repository / "new.txt").write_text("new")
        for _ in range(2):
            tree = git.dirty_snapshot(tmp_path / "index")
            assert git.list_files(tree) == [".gitignore", "a.txt", "new.txt", "src dir/ñ.py", "tracked.log"]
            assert [change.path for change in git.changed("HEAD", tree)] == ["new.txt"]

    @pytest.mark.parametrize("setting", [("core.trustctime", "false"), ("core.checkStat", "minimal")])
    def test_a_repository_cannot_have_git_look_at_less_than_all_of_a_file(
        self, git: Git, repository: Path, as_user: AsUser, setting: tuple[str, str]
    ) -> None:
        as_user(repository, "config", *setting)
        assert git.command.line("config", setting[0]) in ("true", "default")

    def test_a_submodule_stays_what_it_is(self, git: Git, repository: Path, tmp_path: Path, as_user: AsUser) -> None:
        other = tmp_path / "other"
        other.mkdir()
        as_user(other, "init", "-q")
        as_user(other, "commit", "-q", "--allow-empty", "-m", "x")
        as_user(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
        as_user(repository, "commit", "-q", "-m", "with submodule")
        assert git.is_dirty() == []
        assert git.dirty_snapshot(tmp_path / "index") == git.tree_of("HEAD")
        git.add_worktree(tmp_path / "wt", git.head())
        assert git.snapshot(tmp_path / "wt", index=tmp_path / "i2") == git.tree_of("HEAD")
        git.materialise("HEAD", tmp_path / "out")
        assert [path.name for path in (tmp_path / "out" / "sub").iterdir()] == []
        assert "sub" not in git.list_files("HEAD")

    def test_a_git_file_left_by_a_command_is_not_followed(self, git: Git, tmp_path: Path, as_user: AsUser) -> None:
        worktree = tmp_path / "wt"
        git.add_worktree(worktree, "HEAD")
        evil = tmp_path / "evil"
        evil.mkdir()
        as_user(evil, "init", "-q")
        proof = tmp_path / "proof"
        as_user(evil, "config", "core.fsmonitor", f"touch '{proof}'")
        as_user(evil, "config", "filter.e.clean", f"touch '{proof}'")
        (worktree / ".git").write_text(f"gitdir: {evil}/.git\n")
        (worktree / ".gitattributes").write_text("* filter=e\n")
        (worktree / "sub").mkdir()
        (evil / ".git").rename(worktree / "sub" / ".git")
        tree = git.snapshot(worktree, index=tmp_path / "index")
        assert [change.path for change in git.changed("HEAD", tree)] == [".gitattributes"]
        assert not proof.exists()

    def test_a_strange_folder_is_no_worktree(self, git: Git, tmp_path: Path) -> None:
        with pytest.raises(RepositoryError, match="is not a worktree of"):
            git.snapshot(tmp_path, index=tmp_path / "index")


class TestCommits:
    def test_a_commit_without_an_identity_is_ours(self, git: Git, repository: Path, as_user: AsUser) -> None:
        commit = git.commit_tree(
            git.tree_of("HEAD"), parents=[git.head()], message="feat: ü\n\nTask: t\n", when="2026-01-02T03:04:05+00:00"
        )
        shown = as_user(repository, "show", "-s", "--format=%an <%ae>|%cn|%aI|%B", commit)
        assert shown == "AgentForge <agentforge@localhost>|AgentForge|2026-01-02T03:04:05+00:00|feat: ü\n\nTask: t"
        assert git.identity == AGENTFORGE

    @pytest.mark.parametrize("year", ["2026", "2038", "2099", "2100", "2500"])
    def test_a_commit_can_be_written_in_any_year(self, git: Git, repository: Path, as_user: AsUser, year: str) -> None:
        when = f"{year}-02-03T04:05:06.789012Z"
        commit = git.commit_tree(git.tree_of("HEAD"), parents=[git.head()], message="m", when=when)
        shown = as_user(repository, "show", "-s", "--format=%aI|%cI", commit)
        assert shown == f"{year}-02-03T04:05:06+00:00|{year}-02-03T04:05:06+00:00"

    def test_the_users_identity_is_used_and_equal_input_gives_the_equal_commit(
        self, repository: Path, home: Path
    ) -> None:
        (home / ".gitconfig").write_text("[user]\n\tname = Grace Höpper\n\temail = g@example.org\n")
        git = Git.open(repository)
        assert git.identity == Identity(name="Grace Höpper", email="g@example.org")
        commits = {
            git.commit_tree(git.tree_of("HEAD"), parents=[], message="m", when="1700000000 +0000") for _ in range(2)
        }
        assert len(commits) == 1

    def test_notes_can_be_replaced(self, git: Git, repository: Path, as_user: AsUser) -> None:
        git.add_note(git.head(), "first", "refs/notes/agentforge")
        git.add_note(git.head(), "second", "refs/notes/agentforge")
        assert as_user(repository, "notes", "--ref=refs/notes/agentforge", "show", "HEAD") == "second"

    def test_a_fresh_checkout_comes_from_objects_and_its_own_attributes(
        self, git: Git, repository: Path, tmp_path: Path
    ) -> None:
        (repository / ".gitattributes").write_text("*.bat text eol=crlf\n")
        (repository / "run.bat").write_text("line\n")
        (repository / "run.sh").write_text("#!/bin/sh\n")
        (repository / "run.sh").chmod(0o755)
        (repository / "link").symlink_to("a.txt")
        tree = git.dirty_snapshot(tmp_path / "index")
        (repository / ".gitattributes").unlink()
        out = tmp_path / "öut put"
        git.materialise(tree, out)
        assert (out / "run.bat").read_bytes() == b"line\r\n"
        assert os.access(out / "run.sh", os.X_OK)
        assert (out / "link").is_symlink()
        assert sorted(path.name for path in (out).iterdir()) == sorted(
            [".gitattributes", ".gitignore", "a.txt", "link", "run.bat", "run.sh", "src dir", "tracked.log"]
        )
        assert not list(tmp_path.glob(".*.index*"))
        with pytest.raises(ConflictError, match="it is not empty"):
            git.materialise(tree, out)


class TestBranches:
    def test_a_branch_is_made_once_and_moved_only_by_force(self, git: Git) -> None:
        first = git.head()
        other = git.commit_tree(git.tree_of("HEAD"), parents=[first], message="other")
        git.create_branch("agentforge/task", first)
        git.create_branch("agentforge/task", first)
        with pytest.raises(ConflictError, match="branch agentforge/task exists"):
            git.create_branch("agentforge/task", other)
        git.create_branch("agentforge/task", other, force=True)
        assert git.resolve("agentforge/task") == other
        with pytest.raises(ConflictError, match="cannot be made"):
            git.create_branch("agentforge", other)

    def test_the_branch_that_is_checked_out_is_never_moved(self, git: Git) -> None:
        other = git.commit_tree(git.tree_of("HEAD"), parents=[git.head()], message="other")
        with pytest.raises(ConflictError):
            git.create_branch("main", other, force=True)

    @pytest.mark.parametrize("name", ["a..b", "-x", "with space", "x.lock", "", "@{-1}"])
    def test_a_bad_name_is_refused(self, git: Git, name: str) -> None:
        with pytest.raises(RepositoryError, match="not a name for a branch"):
            git.create_branch(name, git.head())

    def test_any_ref_can_be_set(self, git: Git) -> None:
        git.update_ref("refs/agentforge/t/1", git.tree_of("HEAD"))
        assert git.tree_of("refs/agentforge/t/1") == git.tree_of("HEAD")


class TestApplying:
    @pytest.fixture
    def delivered(self, git: Git, tmp_path: Path) -> str:
        git.add_worktree(tmp_path / "wt", "HEAD")
        (tmp_path / "wt" / "a.txt").write_text("delivered\n")
        tree = git.snapshot(tmp_path / "wt", index=tmp_path / "index")
        commit = git.commit_tree(tree, parents=[git.head()], message="done")
        git.create_branch("agentforge/t", commit)
        git.remove_worktree(tmp_path / "wt")
        return commit

    def test_a_clean_checkout_at_the_base_moves_forward(self, git: Git, repository: Path, delivered: str) -> None:
        git.merge_commit_into_checkout("agentforge/t")
        assert git.head() == delivered
        assert git.head_ref() == "refs/heads/main"
        assert (repository / "a.txt").read_text() == "delivered\n"
        assert git.is_dirty() == []

    def test_no_hook_runs(self, git: Git, delivered: str, hooked: Path, as_user: AsUser) -> None:
        for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.required"):
            as_user(git.top, "config", "--unset", key)
        hooked.unlink(missing_ok=True)
        git.merge_commit_into_checkout("agentforge/t")
        assert not hooked.exists()

    def test_uncommitted_work_is_never_risked(
        self, git: Git, repository: Path, delivered: str, untouched: Look
    ) -> None:
        (repository / "mine.txt").write_text("mine")
        before = untouched()
        with pytest.raises(
            ConflictError, match=r"uncommitted changes: mine.txt - do it by hand: git -C .* merge agentforge/t"
        ):
            git.merge_commit_into_checkout("agentforge/t")
        assert untouched() == before

    def test_parted_branches_and_a_detached_head_are_left_to_the_user(
        self, git: Git, repository: Path, delivered: str, as_user: AsUser, untouched: Look
    ) -> None:
        as_user(repository, "commit", "-q", "--allow-empty", "-m", "meanwhile")
        before = untouched()
        with pytest.raises(ConflictError, match="cannot be fast-forwarded"):
            git.merge_commit_into_checkout("agentforge/t")
        as_user(repository, "checkout", "-q", "--detach")
        with pytest.raises(ConflictError, match="is on no branch"):
            git.merge_commit_into_checkout("agentforge/t")
        as_user(repository, "checkout", "-q", "main")
        assert {**untouched(), ".git/index": b""}.keys() >= before.keys()
