"""The commit of a checkout is read from git's own files, and nothing else is told as one."""

from pathlib import Path

from foldline.backends.files.repository import revision_of

from ..repositories import git


def test_the_revision_is_the_one_that_git_names(tmp_path: Path) -> None:
    main, other = tmp_path / "main", tmp_path / "other"
    (main / "inner").mkdir(parents=True)
    assert revision_of(main) is None
    git(main, "init", "--quiet", "--initial-branch=a/b")
    assert revision_of(main) is None
    git(main, "commit", "--quiet", "--allow-empty", "--message=1")
    first = git(main, "rev-parse", "HEAD").strip()
    assert revision_of(main / "inner") == first
    git(main, "worktree", "add", "--quiet", "-b", "b", str(other))
    git(other, "commit", "--quiet", "--allow-empty", "--message=2")
    second = git(other, "rev-parse", "HEAD").strip()
    assert first != second
    for packed in (False, True):
        if packed:
            git(main, "pack-refs", "--all")
        assert (revision_of(main), revision_of(other)) == (first, second)
    git(other, "checkout", "--quiet", "--detach", first)
    assert revision_of(other) == first


def test_what_is_no_commit_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a" * 40)
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    head = folder / ".git" / "HEAD"
    for text in ("", "a word", "ref: ../../secret", "ref: " + str(tmp_path / "secret"), "ref: \0"):
        head.write_text(text)
        assert revision_of(folder) is None
    head.unlink()
    head.symlink_to(tmp_path / "secret")
    assert revision_of(folder) is None
    head.unlink()
    head.symlink_to(head)
    assert revision_of(folder) is None
