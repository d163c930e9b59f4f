"""Renames of sections and files, after which all links lead where they led."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from posixpath import basename, dirname, join, normpath
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.ide.errors import RenameRefused
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.instructions.renaming import anchors, rename_section
from foldline.ide.plugins import Plugin, plugins
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.mentions import Kind, Mention, mentions
from foldline.plugins.instructions.targets import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foldline.ide.checks.diagnostic import Change

Meanings: TypeAlias = "dict[tuple[str, int], tuple[str, int | None, bool]]"

TITLES = ("Data", "Rules", "`make` it", "Ein Maß", "Data-1", "C#", "<b>see</b> *this*")
PATHS = ("AGENTS.md", "CLAUDE.md", "docs/a.md", "docs/AGENTS.md", "pkg/docs/a.md", "pkg/b c.md")
NEW = ("docs/b.md", "new.md", "pkg/a.md", "pkg/docs/AGENTS.md", "docs", "lib/docs")


def meanings(texts: Mapping[str, str], moved: Mapping[str, str]) -> Meanings:
    """What each link, import and mention leads to: by file, and place among those of the file.

    Files are named as they'll be.
    """
    tree = Tree(tuple(texts), lambda _: "")
    files = {path: InstructionFile(path, text, path) for path, text in texts.items()}
    meant: Meanings = {}
    for path, file in files.items():
        links = {start: file.text[start:end] for start, end in file.markdown.link_targets()}
        names = {start: name.partition("#")[0] for start, name in links.items()}
        paths = [one for one in mentions(file.markdown) if one.kind == Kind.PATH]
        names |= {one.start: one.name for one in paths if not is_drawn(file, one)}
        for count, (start, name) in enumerate(sorted(names.items())):
            plain = unquote(name) if start in links else name
            found = tree.named(plain, dirname(path)) if name else [path]
            if len(found) == 1:
                to, anchor = found[0], links.get(start, "").partition("#")[2]
                all_anchors = anchors(files[to]) if to in files else []
                at = all_anchors.index(unquote(anchor)) if unquote(anchor) in all_anchors else None
                # A link or an import from where it stands, as anything but foldline reads it.
                is_strict = name and (start in links or file.text[start - 1] == "@")
                is_exact = bool(is_strict) and normpath(join(dirname(path), plain)) == to
                meant[moved.get(path, path), count] = (moved.get(to, to), at, is_exact)
    return meant


def is_drawn(file: InstructionFile, one: Mention) -> bool:
    return file.text[one.start - 2 : one.start] == "─ "


def applied(texts: Mapping[str, str], changes: Iterable[Change], root: Path) -> dict[str, str]:
    edited = dict(texts)
    for change in sorted(changes, key=lambda one: one.place, reverse=True):
        path = Path(change.place.file).relative_to(root).as_posix()
        text = edited[path]
        edited[path] = text[: change.place.start] + change.text + text[change.place.end :]
    return edited


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """Random Markdown files that link to and mention one another, in all ways to write it."""
    paths = draw(st.lists(st.sampled_from(PATHS), min_size=2, max_size=4, unique=True))
    texts = {}
    for path in paths:
        lines = []
        for title in draw(st.lists(st.sampled_from(TITLES), max_size=4)):
            lines += [draw(st.sampled_from([f"# {title}", f"## {title} ##", f"{title}\n==="]))]
            for _ in range(draw(st.integers(0, 2))):
                to = draw(st.sampled_from([*paths, ""]))
                up = "../" * path.count("/")
                names = [up + to, "/" + to, to, to.rpartition("/")[2], dirname(to) + "/"]
                name = draw(st.sampled_from(names)) if to else ""
                anchor = draw(st.sampled_from(["", "#data", "#data-1", "#rules", "#make-it", "#c"]))
                written = name.replace(" ", "%20").replace("(", "%28").replace(")", "%29") + anchor
                way = draw(st.sampled_from(["[x]({})", "[x](<{}>)", "`{}`", "see @{}", "[x]: {}"]))
                # An import is of a file.
                way = "`{}`" if name.endswith("/") and "@" in way else way
                spaced = way in ("`{}`", "see @{}", "[x](<{}>)")
                lines += ["", way.format(name + anchor if spaced else written), ""]
        if "/" in paths[0] and draw(st.booleans()):
            lines += ["```", f"{dirname(paths[0])}/", f"└── {basename(paths[0])}", "```"]
        texts[path] = draw(st.sampled_from(["\n", "\r\n"])).join([*lines, ""])
    return texts


def drawings(texts: Mapping[str, str]) -> list[str]:
    return [line for text in texts.values() for line in text.splitlines() if "─" in line]


def assert_kept(before: Meanings, after: Meanings) -> None:
    kept = {}
    for place, (_, anchor, is_exact) in before.items():
        new, at, now = after.get(place, ("", None, False))
        # An anchor that led nowhere may get its section.
        kept[place] = (new, at if anchor is not None else anchor, now if is_exact else is_exact)
    assert kept == before


def parents(path: str) -> list[str]:
    return [path, *filter(None, map(str, Path(path).parents[:-1]))]


def after_move(old: str, new: str, path: str) -> str:
    return new + path[len(old) :] if f"{path}/".startswith(f"{old}/") else path


def workspace_of(texts: Mapping[str, str], root: Path) -> Workspace:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="")
    return Workspace.at(root)


@settings(max_examples=25)
@given(texts=trees(), data=st.data())
def test_after_a_move_everything_that_meant_something_means_that(
    texts: dict[str, str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("root")
    folder = workspace_of(texts, root).folder(root / "_")
    folders = [dirname(one) for one in texts if "/" in one]
    old = data.draw(st.sampled_from([*texts, *folders]))
    taken = {*chain.from_iterable(map(parents, texts))}
    free = [one for one in NEW if ("." in one) == ("." in old) and one not in taken]
    new = data.draw(st.sampled_from([*free, "lib"] if "." not in old else free))
    answers = plugins().ask(Plugin.follow, folder, {old: new})
    edited = applied(texts, chain.from_iterable(answers), root)
    moved = {path: after_move(old, new, path) for path in (*texts, *folders)}
    # A folder whose only file has moved means nothing.
    kept = {*chain.from_iterable(parents(after_move(old, new, one)) for one in texts)}
    before = {one: to for one, to in meanings(texts, moved).items() if to[0] in kept}
    after = meanings({moved[path]: text for path, text in edited.items()}, {})
    assert_kept(before, after)
    assert drawings(edited) == drawings(texts)


@settings(max_examples=25)
@given(texts=trees(), data=st.data())
def test_after_a_rename_of_a_section_all_anchors_lead_where_they_led(
    texts: dict[str, str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("root")
    texts = {"AGENTS.md": "", **texts}
    workspace = workspace_of(texts, root)
    path = data.draw(st.sampled_from([one for one in texts if one.endswith("AGENTS.md")]))
    offset = data.draw(st.integers(0, len(texts[path])))
    name = data.draw(st.sampled_from([*TITLES, "New", "Neu: größer!", "# x", "---", ""]))
    uri = uri_of(root / path)
    try:
        changes = workspace.with_snapshot(uri, lambda one: rename_section(one, offset, name))
    except RenameRefused:
        return
    if changes is None:
        return
    edited = applied(texts, changes, root)
    assert_kept(meanings(texts, {}), meanings(edited, {}))
    assert drawings(edited) == drawings(texts)


def renamed(texts: Mapping[str, str], at: str, name: str, root: Path) -> dict[str, str]:
    """The texts after a rename of the section that `at` names in AGENTS.md."""
    uri, offset = uri_of(root / "AGENTS.md"), texts["AGENTS.md"].index(at)
    workspace = workspace_of(texts, root)
    changes = workspace.with_snapshot(uri, lambda one: rename_section(one, offset, name))
    return applied(texts, changes or (), root)


def moved(texts: Mapping[str, str], root: Path, moves: Mapping[str, str]) -> list[str]:
    """What is written in place of what, where files move."""
    folder = workspace_of(texts, root).folder(root / "_")
    changes = chain.from_iterable(plugins().ask(Plugin.follow, folder, moves))
    return [one.text for one in sorted(changes, key=lambda one: one.place)]


def test_a_section_is_renamed_with_its_links_and_its_key(tmp_path: Path) -> None:
    texts = {
        "AGENTS.md": "# Rules\n\n## Data\nSee [it](#data), `rules.data`, [b](docs/b.md#notes).\n",
        "docs/b.md": "Notes\n=====\n[up](../AGENTS.md#data 'Title')\n\n[r]: /AGENTS.md#data\n",
    }
    assert renamed(texts, "Data\n", "Ein Maß!", tmp_path) == {
        "AGENTS.md": "# Rules\n\n## Ein Maß!\nSee [it](#ein-maß), `rules.ein-maß`, "
        "[b](docs/b.md#notes).\n",
        "docs/b.md": "Notes\n=====\n[up](../AGENTS.md#ein-maß 'Title')\n\n"
        "[r]: /AGENTS.md#ein-maß\n",
    }


def test_of_equal_headings_each_keeps_its_links(tmp_path: Path) -> None:
    texts = {"AGENTS.md": "# Data\n[a](#data) [b](#rules)\n\n# Rules\n"}
    below = renamed(texts, "Rules", "Data", tmp_path)["AGENTS.md"]
    assert below == "# Data\n[a](#data) [b](#data-1)\n\n# Data\n"


def test_a_moved_file_is_named_as_it_was_named(tmp_path: Path) -> None:
    names = "`a.md`, `./docs/a.md`, [a](/docs/a.md#x), [b](docs/a.md:3) and @docs/a.md, `docs/`."
    texts = {"AGENTS.md": names, "docs/a.md": "[up](../AGENTS.md)", "pkg/x.md": "[a](docs/a.md)"}
    new = ["lib/b.md", "./lib/b.md", "/lib/b.md", "lib/b.md", "lib/b.md"]
    assert moved(texts, tmp_path, {"docs/a.md": "lib/b.md"}) == [*new, "lib/b.md"]
    texts = {"AGENTS.md": "[a](<a.md>) [b](a.md) @./a.md", "a.md": ""}
    spaced = moved(texts, tmp_path, {"a.md": "x (1).md"})
    assert spaced == ["x (1).md", "x%20%281%29.md", "./x\\ (1).md"]
    texts = {"AGENTS.md": "[a](x%20%281%29.md)", "x (1).md": ""}
    assert moved(texts, tmp_path, {"x (1).md": "b.md"}) == ["b.md"]


def test_a_name_stays_relative_and_a_folder_one(tmp_path: Path) -> None:
    texts = {"docs/x.md": "[a](a.md), `docs/`", "docs/a.md": ""}
    assert moved(texts, tmp_path, {"docs/a.md": "docs/c.md"}) == ["c.md"]
    assert moved(texts, tmp_path, {"docs": "lib"}) == ["lib/"]
    # What foldline finds by its end, a viewer or a client wouldn't.
    texts = {"docs/x.md": "[a](a.md) @a.md `a.md`"}
    assert moved(texts, tmp_path, {"docs/x.md": "docs/inner/x.md"}) == ["../a.md", "../a.md"]


def test_a_link_to_a_file_moves_alone(tmp_path: Path) -> None:
    texts = {"AGENTS.md": "`CLAUDE.md` and [x](docs/x.md)", "docs/x.md": ""}
    workspace_of(texts, tmp_path)
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    assert moved(texts, tmp_path, {"CLAUDE.md": "docs/CLAUDE.md"}) == []


@pytest.mark.parametrize("name", ["x #", "…", ""])
def test_what_is_no_text_of_a_heading_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(RenameRefused, match="give words, without marks"):
        renamed({"AGENTS.md": "# Rules\n## Data\n"}, "Data", name, tmp_path)


def test_what_cannot_follow_is_said(tmp_path: Path) -> None:
    workspace_of({"AGENTS.md": "", "docs/b.md": "\n" * 5_000_000}, tmp_path)
    with pytest.raises(RenameRefused, match=r"docs/b\.md, which may name it, can't be read"):
        moved({}, tmp_path, {"AGENTS.md": "docs/new.md"})
