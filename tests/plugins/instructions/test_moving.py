"""Sections that move to where clients load them come back byte for byte, links and all."""

from __future__ import annotations

import re
from posixpath import basename, dirname, join, normpath

import pytest
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from foldline.backends.files.memory import MemoryFileBackend
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import InstructionFile, instruction_file
from foldline.plugins.instructions.moving import Mover

HOME = "shop/AGENTS.md"
SKILL = "---\nname: a\ndescription: b\n---\n"
RULE = "---\npaths:\n  - 'src/**'\n---\n"
PLACES = st.sampled_from(
    [
        [("shop/src/AGENTS.md", "")],
        [("docs/new.md", "")],
        [("docs/old.md", "")],
        [(".claude/rules/a.md", RULE), (".cursor/rules/a.mdc", RULE)],
        [(".agents/skills/{}/SKILL.md", SKILL), (".claude/skills/{}/SKILL.md", SKILL)],
    ]
)
TARGETS = [
    "a.md",
    "./a.md",
    "../docs/a.md",
    "src/",
    "#one",
    "#sub",
    "#two-é",
    "#",
    "https://x.y/a.md",
]
TARGETS += ["../docs/old.md#old", "../docs/old.md", "/docs/a.md", "../../out.md", "a%20b.md", "src"]
LINKS = st.sampled_from(TARGETS).map(lambda target: f"See [{target}]({target}).\n")
PARTS = LINKS | st.sampled_from(
    [
        "# One\n",
        "## Two é\n",
        "## Two é\n\n",
        "### Sub\n",
        "Title\n=====\n",
        "<!-- fold: why é -->\n",
        "<!--fold:  why\n two -->\n",
        "<!-- fold: <!-- fold: nested -->\n",
        "<!-- fold: `a` (read `b`) #c: d -->\n",
        "<!-- fold -->\n",
        "<!-- fold: -->",
        "```md\n# no heading\n<!-- fold: no mark -->\n[a]: a.md\n```\n",
        "~~~\nnever closed [x](a.md)\n",
        "> [quoted](a.md) <!-- fold: no -->\n",
        "- `a.md`, `src/b.ts`, `b.ts`, `docs/a.md`, `../docs/a.md:3`\n  - `shop/a.md`\n",
        "@a.md and @../docs/a.md, not @scope/a or `@a.md`\n",
        "[a]: a.md\n",
        "[b]: ../docs/a.md 'title'\n",
        "See [text][a], [b], [c][].\n",
        "![image](<a.md>)\n",
        "Folded: why é (read `docs/new.md`)\n",
        "\n",
        "text é 🎉 `code`\n",
        "no line end",
        "\f\r",
    ]
)
TEXTS = st.lists(PARTS, min_size=3, max_size=14).map("".join)
MARKED = st.builds(
    lambda before, body, after: f"{before}## Two é\n<!-- fold: why é -->\n{body}\n### Sub\n{after}",
    *[TEXTS] * 3,
)
OTHERS = {
    "shop/a.md": "# A\n",
    "docs/a.md": "# A\n",
    "docs/old.md": "# Old\n\n[two](../shop/AGENTS.md#two-é), [sub](../shop/AGENTS.md#sub)\n",
    "shop/CLAUDE.md": "[sub](AGENTS.md#sub) [h](AGENTS.md) [own](#sub)\r\n[one](./AGENTS.md#one)",
    "shop/src/b.ts": "",
}


def fold(files: dict[str, str], place: list[tuple[str, str]], home: str = HOME) -> dict[str, str]:
    """Return what all files are after the marked sections of one have moved."""
    mover = Mover(MemoryFileBackend(files), home, [one for one in files if one.endswith(".md")])
    root = mover.files.root
    file = instruction_file(root / home, root, files[home])
    places = {
        section: [(path.format(at), head) for path, head in place]
        for at, section in enumerate(file.folded)
    }
    return after(files, mover.fold(places))


def unfold(files: dict[str, str], *keys: str, home: str = HOME) -> dict[str, str]:
    names = [one for one in files if one.endswith((".md", ".mdc"))]
    return after(files, Mover(MemoryFileBackend(files), home, names).unfold(keys))


def after(files: dict[str, str], changes: dict[str, str | None]) -> dict[str, str]:
    every = {**files, **changes}
    return {path: text for path, text in every.items() if text is not None}


@given(MARKED, PLACES, st.sampled_from(["\n", "\r\n"]))
@example("# A\n## Two é\n<!-- fold: why é -->\nEnd.", [("docs/new.md", "")], "\r\n")
@example(
    "## Two é\n<!-- fold: why é -->\nSee [s](src/), `b.ts`.\n\n", [("shop/src/A.md", "")], "\n"
)
def test_what_moves_comes_back_byte_for_byte(
    text: str, place: list[tuple[str, str]], newline: str
) -> None:
    files = {**OTHERS, HOME: text.replace("\n", newline)}
    marked = InstructionFile(HOME, files[HOME]).folded
    assume(marked)
    try:
        folded = fold(files, place)
    except ToolRefused as error:
        event(f"refused: {error}")
        return
    keys = [one.key for one in marked]
    assert unfold(folded, *keys) == files
    # A linter wants a title first.
    for path in folded.keys() - files:
        title = InstructionFile(path, folded[path]).markdown.headings[0]
        assert (title.level, folded[path][: title.start].strip()) == (1, place[0][1].strip())
    # What somebody has written since comes back with it.
    (path, _), *others = place
    if not others:
        where = path.format(0)
        folded[where] = folded[where].rstrip() + f"{newline}Added.{newline}"
        back = unfold(folded, *keys)
        assert set(back) == set(files)
        assert back[HOME].replace(f"{newline}Added.", "", 1) == files[HOME]


def resolved(files: dict[str, str]) -> dict[str, set[str]]:
    """What each link leads to: the heading, the file; by its text, for all copies."""
    every: dict[str, set[str]] = {}
    for path, text in files.items():
        for label, target in re.findall(r"\[(\w+)\]\(([^)]+)\)", text):
            name, _, anchor = target.partition("#")
            there = normpath(join(dirname(path), name)) if name else path
            titles = re.findall(r"^#+ (.+)$", files[there], re.MULTILINE)
            (title,) = [one for one in titles if one.lower() == anchor] or [""]
            assert title or not anchor, f"{path}: {target}"
            # What is in the same file, copies too, needs no path.
            assert not (title and name) or f"# {title}\n" not in text
            every.setdefault(label, set()).add(title or there)
    return every


HEADINGS = ("top", "marked", "inner", "other", "last")


@given(
    st.permutations(["shop/AGENTS.md", "docs/AGENTS.md", "AGENTS.md", "src/new.md"]),
    st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.booleans()), max_size=12),
    st.sampled_from([2, 3]),
)
def test_each_link_leads_where_it_led(
    paths: list[str], links: list[tuple[int, int, bool]], to_third: int
) -> None:
    home, other, third, _ = paths
    target = paths[to_third]
    texts = {name: f"# {name}\n\n" for name in HEADINGS}
    texts["marked"] += "<!-- fold: why -->\n"
    outside = {other: "# elsewhere\n", third: "# far\n\n"}
    for number, (at, to, whole) in enumerate(links):
        path = [home, home, home, other, third][at]
        name = [home, home, home, other, third][to]
        there = "" if name == path else relative(name, path)
        anchor = "" if whole and there else f"#{[*HEADINGS[1:4], 'elsewhere', 'far'][to]}"
        link = f"[l{number}]({there}{anchor})\n"
        if path == home:
            texts[HEADINGS[at]] += link
        else:
            outside[path] += link
    inner = texts["marked"] + "#" + texts["inner"]
    files = {home: texts["top"] + inner + "\n" + texts["other"] + texts["last"], **outside}
    folded = fold(files, [(target, ""), ("a/b/c.md", "")], home=home)
    assert resolved(folded) == resolved(files)
    assert unfold(folded, home=home) == files


def relative(path: str, at: str) -> str:
    return "../" * at.count("/") + path


@pytest.mark.parametrize(
    ("home", "written", "target", "moved"),
    [
        ("AGENTS.md", "[a](docs/a.md#x)", "src/b/n.md", "[a](../../docs/a.md#x)"),
        ("AGENTS.md", "[a](./docs/a.md 'title')", "src/n.md", "[a](./../docs/a.md 'title')"),
        ("AGENTS.md", "[a](src/)", "src/n.md", "[a](./)"),
        ("AGENTS.md", "[a](src/n.md)", "src/n.md", "[a](n.md)"),
        ("AGENTS.md", "[a](#data) [b](#end)", "src/n.md", "[a](#data) [b](../AGENTS.md#end)"),
        ("AGENTS.md", "![a](/docs/a.md) [b](x:y)", "src/n.md", "![a](/docs/a.md) [b](x:y)"),
        ("AGENTS.md", "\n[a]: <docs/a.md>\n[a]", "src/n.md", "\n[a]: <../docs/a.md>\n[a]"),
        ("AGENTS.md", "@docs/a.md @scope/x", "src/n.md", "@../docs/a.md @scope/x"),
        ("AGENTS.md", "`docs/a.md`, `b.ts`", "src/n.md", "`docs/a.md`, `b.ts`"),
        ("AGENTS.md", "`a.md`", "docs/n.md", "`../a.md`"),
        ("docs/AGENTS.md", "`a.md:3`, `src/b.ts`", "src/n.md", "`../docs/a.md:3`, `src/b.ts`"),
        ("docs/AGENTS.md", "`n.md`", "src/n.md", "`n.md`"),
        ("src/AGENTS.md", "`c/d.ts`, `d.ts`", "src/c/n.md", "`c/d.ts`, `d.ts`"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_paths_are_mended(home: str, written: str, target: str, moved: str, newline: str) -> None:
    text = f"## Data\n<!-- fold: why -->\n{written}\n\n## End\n[a](#data)\n"
    files = dict.fromkeys(("a.md", "docs/a.md", "src/b.ts", "src/c/d.ts"), "")
    files[home] = text.replace("\n", newline)
    folded = fold(files, [(target, "")], home=home)
    stub = f"## Data\n\nFolded: why\n(read `{target}`)\n\n## End\n[a](#data)\n"
    assert folded[home] == stub.replace("\n", newline)
    moved = f"## Data\n<!-- folded from {home}#data:\n why -->\n{moved}\n"
    assert folded[target] == f"# {basename(home)}\n\n{moved}".replace("\n", newline)
    assert unfold(folded, home=home) == files


SECTION = "## Data\n<!-- fold: why -->\nText.\n"
STUB = "## Data\n\nFolded: why (read `x.md`)\n"
MOVED = "## Data\n<!-- folded from AGENTS.md#data: why -->\nText.\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"AGENTS.md": STUB}, "AGENTS.md:1: x.md should have one section with <!-- folded"),
        ({"AGENTS.md": STUB, "x.md": MOVED * 2}, "AGENTS.md:1: x.md should have one section"),
        ({"AGENTS.md": STUB, "x.md": "## Data\nText.\n"}, "write that there, or delete the line"),
        ({"AGENTS.md": STUB.replace("Data", "Dates"), "x.md": MOVED * 2}, "#dates: why -->"),
        ({"AGENTS.md": STUB.replace("why", "how"), "x.md": MOVED}, "#data: how -->"),
        ({"AGENTS.md": STUB + STUB.replace("Data", "More"), "x.md": MOVED}, "#more: why -->"),
        (
            {"AGENTS.md": STUB, "x.md": MOVED, "y.md": f"{MOVED}More.\n"},
            "AGENTS.md:1: it differs in x.md and y.md",
        ),
        ({"AGENTS.md": STUB.replace("x.md", "../x.md"), "x.md": MOVED}, "../x.md should have"),
        ({"AGENTS.md": SECTION}, "AGENTS.md has no such section moved by `foldline fold`"),
    ],
)
def test_what_cannot_be_told_does_not_come_back(files: dict[str, str], message: str) -> None:
    with pytest.raises(ToolRefused, match=re.escape(message)):
        unfold(files, home="AGENTS.md")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{SECTION}\n[a]: b.md\n# End\nSee [a].\n", "AGENTS.md: [a] is defined elsewhere"),
        (
            f"{SECTION}See [b](x/../b.md).\n",
            "AGENTS.md:4: this would come back as 'See [b](b.md).'",
        ),
        (f"{SECTION}Title\n=====\n", "nothing is moved, as it couldn't come back"),
    ],
)
def test_what_could_not_come_back_does_not_move(text: str, message: str) -> None:
    with pytest.raises(ToolRefused, match=re.escape(message)):
        fold({"AGENTS.md": text}, [("docs/new.md", "")], home="AGENTS.md")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("there", ["", "# A\n\nText.\n", "# A\n\nText."])
def test_the_newer_of_two_folds_comes_back_alone(newline: str, there: str) -> None:
    section = SECTION.replace("\n", newline)
    files = {"AGENTS.md": section} | ({"a.md": there.replace("\n", newline)} if there else {})
    once = fold(files, [("a.md", "")], home="AGENTS.md")
    more = {**once, "AGENTS.md": once["AGENTS.md"] + section.replace("Data", "More")}
    twice = fold(more, [("a.md", "")], home="AGENTS.md")
    assert unfold(twice, "more", home="AGENTS.md") == more
    both = {**files, "AGENTS.md": section + section.replace("Data", "More")}
    assert unfold(unfold(twice, "data", home="AGENTS.md"), home="AGENTS.md") == both


def test_a_section_comes_back_with_the_heading_that_was_renamed() -> None:
    files = {"AGENTS.md": f"# A\n#{SECTION}"}
    folded = fold(files, [("x.md", "")], home="AGENTS.md")
    renamed = {path: text.replace("## Data", "## Dates") for path, text in folded.items()}
    for path in ("x.md", "AGENTS.md", "b.md"):
        back = unfold({**renamed, path: folded.get(path, "")}, home="AGENTS.md")
        assert back["AGENTS.md"] == files["AGENTS.md"].replace("Data", "Dates")


def test_a_chapter_begins_its_file() -> None:
    files = {"AGENTS.md": f"# A\n{SECTION[1:]}"}
    folded = fold(files, [("x.md", "")], home="AGENTS.md")
    assert folded["x.md"].startswith("# Data\n")
    assert unfold(folded, home="AGENTS.md") == files


def test_a_file_is_titled_by_the_chapter_and_goes_whatever_that_is_called_now() -> None:
    more = SECTION.replace("Data", "More")
    files = {"AGENTS.md": f"# A\n\n# B\n{SECTION}\n# C\n{more}"}
    for head in ("", RULE, SKILL):
        folded = fold(files, [("x.md", head)], home="AGENTS.md")
        assert folded["x.md"].removeprefix(f"{head}\n").startswith("# B\n\n## Data\n")
        assert unfold(unfold(folded, "b.data", home="AGENTS.md"), home="AGENTS.md") == files
        if head:
            folded["AGENTS.md"] = folded["AGENTS.md"].replace("# B", "# New")
            assert [*unfold(folded, home="AGENTS.md")] == ["AGENTS.md"]


def test_a_file_that_was_there_stays_whatever_it_held() -> None:
    for there in ("", "# B\n", "---\nname: b\n---\n"):
        files = {"AGENTS.md": f"# A\n#{SECTION}", "x.md": there}
        folded = fold(files, [("x.md", "")], home="AGENTS.md")
        assert folded["x.md"].startswith(f"{there}\n#{MOVED[:7]}" if there else f"#{MOVED[:7]}")
        assert unfold(folded, home="AGENTS.md") == files


def test_each_file_gets_back_its_own_whatever_it_is_called_now() -> None:
    files = {"AGENTS.md": SECTION, "b/AGENTS.md": f"# A\n#{SECTION}"}
    folded = files
    for home in files:
        folded = fold(folded, [("x.md", "")], home=home)
    back = unfold(folded, home="AGENTS.md")
    assert back["AGENTS.md"] == SECTION
    assert unfold(back, home="b/AGENTS.md") == files
    renamed = {"CLAUDE.md" if path == "AGENTS.md" else path: text for path, text in folded.items()}
    assert unfold(renamed, home="CLAUDE.md")["CLAUDE.md"] == SECTION
