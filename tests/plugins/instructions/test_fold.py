"""Folding an instruction file loses nothing: with its source, the whole text comes back."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import InstructionFile, origin_of
from foldline.plugins.instructions import fold

PARTS = st.sampled_from(
    [
        "# One\n",
        "## Two é\n",
        "### Two é\n",
        "Title\n=====\n",
        "# \n",
        "<!-- fold: why é -->\n",
        "<!-- fold: ~~~ -->\n",
        "<!-- fold: <script> -->\n",
        "<!-- fold: <!-- fold: nested -->\n",
        "<!-- fold:\n two lines\n-->\n",
        "<!-- fold: -->",
        "```md\n# no heading\n<!-- fold: no mark -->\n```\n",
        "~~~\n<!-- fold: never closed -->\n",
        "    <!-- fold: code -->\n",
        "> # quoted\n> <!-- fold: quoted -->\n",
        "- item\n  # deep\n",
        "<div>\n# no heading\n</div>\n",
        "Folded: why é (read lines 1-3 of docs/AGENTS.full.md)\n",
        "<!-- Generated, edit a instead and run: foldline fold a (sha256 0123456789abcdef) -->\n",
        "\n",
        "text é 🎉 `code`\n",
        "no line end",
        "\f\r",
    ]
)
FRONT = st.sampled_from(["", "---\ndescription: é\n---\n", "+++\na = 1\n+++\n", "---\n---\n"])
TEXTS = st.builds(
    lambda front, parts, ends: (front + "".join(parts)).replace("\n", ends),
    FRONT,
    st.lists(PARTS, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
)


def source_of(text: str) -> InstructionFile:
    return InstructionFile("AGENTS.full.md", text, "docs/AGENTS.full.md")


@given(TEXTS)
@example("# A\n<!-- fold: a -->\n## B\n<!-- fold: b -->\n# A\n<!-- fold: a -->\n")
def test_a_folded_text_and_its_source_make_the_whole(text: str) -> None:
    file = source_of(text)
    made = fold.generate(file, "AGENTS.md")
    origin = origin_of(made)
    assert origin is not None
    assert (origin["source"], origin["digest"]) == (file.path, fold.digest_of(text))
    whole = fold.unfold(made, file)
    assert whole == text
    assert fold.generate(source_of(whole), "AGENTS.md") == made
    assert fold.unfold(file.render().text, file) == text


@pytest.mark.parametrize("front", ["---\napplyTo: '**'\n---\n", "---\r\na: é\r\n---\r\n", ""])
def test_front_matter_stays_at_the_beginning(front: str) -> None:
    made = fold.generate(source_of(f"{front}# A\n"), "AGENTS.md")
    assert made.startswith(f"{front}<!-- Generated, edit docs/AGENTS.full.md instead")


@given(TEXTS)
def test_what_is_folded_once_stays_as_it_is(text: str) -> None:
    folded = source_of(text).render().text
    assert source_of(folded).render().text == folded


@given(TEXTS)
@example("# One\n## Two\n# One\n## Two\n<!-- fold: b -->\nText.\n")
def test_a_folded_section_is_where_its_text_says(text: str) -> None:
    file = source_of(text)
    for section in file.folded:
        place = file.fold_text(section).rpartition("(read lines ")[2]
        first, last = map(int, place.partition(" ")[0].split("-"))
        lines = text.split("\n")[first - 1 : last]
        assert "\n".join(lines).rstrip() == file.whole_text(section).rstrip()
        assert file.section(file.short_key(section)) == section


@given(TEXTS)
def test_what_changes_around_folded_sections_comes_back_with_them(text: str) -> None:
    file = source_of(text)
    made = fold.generate(file, "AGENTS.md")
    shown = [file.fold_text(section) for section in file.folded]
    assume(all(made.count(one) == 1 for one in shown))
    assert fold.unfold(f"{made}\nMore.\n", file) == f"{text}\nMore.\n" or not shown


def test_a_changed_summary_is_refused_with_the_file_to_change() -> None:
    file = source_of("# A\n<!-- fold: about -->\nText.\n")
    made = fold.generate(file, "AGENTS.md")
    with pytest.raises(ToolRefused, match=r"'a' was changed.*docs/AGENTS\.full\.md"):
        fold.unfold(made.replace("about", "others"), file)


@pytest.mark.parametrize("path", ["a-->b.md", "a\nb.md", "a instead and run: foldline fold b.md"])
def test_a_path_that_no_comment_can_hold_is_refused(path: str) -> None:
    with pytest.raises(ToolRefused, match="rename the file"):
        fold.generate(InstructionFile("b.md", "", path), "AGENTS.md")


def test_only_a_model_that_has_the_tool_reads_of_it() -> None:
    text = "# Long title\n## Data\n<!-- fold: where data is -->\nIn `data/`.\n"
    (section,) = source_of(text).folded
    assert source_of(text).fold_text(section) == (
        "## Data\n\nFolded: where data is (read lines 2-4 of docs/AGENTS.full.md)\n"
    )
    known = InstructionFile("AGENTS.md", text, "a/AGENTS.md", "foldline_read_section")
    assert known.fold_text(section) == (
        '## Data\n\nFolded: where data is (read `foldline_read_section` {"prompt": "a/AGENTS.md", '
        '"section_key": "data"}, or lines 2-4 of a/AGENTS.md)\n'
    )


REFERENCE = "".join(f"- `src/part_{number}.py` holds part {number}.\n" for number in range(20))


@pytest.mark.parametrize(
    ("section", "offered"),
    [
        (f"## Files\n{REFERENCE}", True),
        (f"## Files\n### Parts\n{REFERENCE}", True),
        ("## Files\n- `a.py` holds a.\n", False),
        (f"## Files\n{REFERENCE}\nNever edit part 3.\n", False),
        (f"## Files\n{REFERENCE}\n### Style\nYou must be brief.\n", False),
        (f"## Coding conventions\n{REFERENCE}", False),
        ("## Steps\n" + "- Run the tests.\n- They take a minute.\n" * 8, False),
        (f"## Files\n### 2. Create parts\n{REFERENCE}", False),
        (f"## Files\n<!-- fold: files -->\n{REFERENCE}", False),
        (f"## Files\n### Parts\n<!-- fold: files -->\n{REFERENCE}", False),
        (
            f"## Commands\n```sh\n{'make all  # must pass' + chr(10)}{'make part' + chr(10)}```\n",
            False,
        ),
    ],
)
def test_only_a_long_section_without_directives_is_offered(section: str, *, offered: bool) -> None:
    text = f"# Project\nDon't guess.\n{section}## Next\nBe brief.\n"
    file = source_of(text)
    found = {one.title for one in file.sections if fold.is_reference(file, one)}
    assert found - {"Parts"} == ({"Files"} if offered else set())


def test_the_innermost_section_is_marked_and_nothing_in_front_matter() -> None:
    data = "## Data\r\n<!-- fold: data -->\n\nIn `data/`.\n"
    text = f"---\nname: pdf\n---\n# Rules\n## More\nText.\n{data}"
    file = InstructionFile("SKILL.md", text, has_front_matter=True)
    assert fold.action_at(file, "SKILL.md", text.index("name")) is None
    action = fold.action_at(file, "SKILL.md", text.index("Text"))
    assert action is not None
    (change,) = action.changes
    assert (action.title, change.place.start) == ("Fold More…", text.index("Text"))
    action = fold.action_at(file, "SKILL.md", text.index("In `"))
    assert action is not None
    (change,) = action.changes
    assert (action.title, change.text) == ("Unfold Data", "")
    assert text[slice(*change.place.span)] == "<!-- fold: data -->\n"


@pytest.mark.parametrize("part", ["<!--", "<!-- fold: ", "1\n", "["])
def test_a_file_of_one_long_run_is_read(part: str) -> None:
    """In time that grows with its square, it would take hours."""
    file = source_of(f"# Files\n\n{part * (1_000_000 // len(part))}\n")
    assert file.render().text == file.text
    assert [fold.is_reference(file, section) for section in file.sections] == [part == "1\n"]
    assert [*file.markdown.link_targets()] == []
