"""Folded sections say where their text is, and only reference is offered for folding."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.ide.instructions.document import InstructionFile
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
        "<!-- fold -->\n",
        "```md\n# no heading\n<!-- fold: no mark -->\n```\n",
        "~~~\n<!-- fold: never closed -->\n",
        "    <!-- fold: code -->\n",
        "> # quoted\n> <!-- fold: quoted -->\n",
        "- item\n  # deep\n",
        "<div>\n# no heading\n</div>\n",
        "Folded: why é (read lines 1-3 of docs/AGENTS.md)\n",
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
    return InstructionFile("AGENTS.md", text, "docs/AGENTS.md")


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


@pytest.mark.parametrize("mark", ["<!-- fold: -->", "<!-- fold -->"])
def test_a_mark_without_a_summary_folds_nothing(mark: str) -> None:
    file = source_of(f"# A\n{mark}\nText.\n## B\n<!-- fold: b -->\nText.\n")
    assert [one.key for one in file.folded] == ["a.b"]
    assert file.opening("a.b") == ["a.b"]
    assert file.render().text.startswith(f"# A\n{mark}\nText.\n## B\n\nFolded: b (")


def test_only_a_model_that_has_the_tool_reads_of_it() -> None:
    text = "# Long title\n## Data\n<!-- fold: where data is -->\nIn `data/`.\n"
    (section,) = source_of(text).folded
    assert source_of(text).fold_text(section) == (
        "## Data\n\nFolded: where data is (read lines 2-4 of docs/AGENTS.md)\n"
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
        (f"## Files\n{REFERENCE}\nIf part 3 fails, run `make clean`.\n", False),
        (f"## Files\n{REFERENCE}\n- `a.py`: **flagged in each review**\n", False),
        (f"## Files\n{REFERENCE}- `a.py`: a MAX of 3 parameters\n", False),
        (f"## Files\n{REFERENCE}\nMap parts to files.\n", False),
        (f"## Files\n{REFERENCE}- `a.py`: part 3, check the others\n", False),
        (f"## Files\n{REFERENCE}- `a.py`: part 3, its check\n", True),
        (f"## Files\n{REFERENCE}- `a.py`: ✅ parts in order\n", False),
        (f"## Files\n{REFERENCE}- `a.py`: is this part 3?\n", False),
        (f"## Files\n{REFERENCE}Prefix parts of others with `_`.\n", False),
        ("## Files\n```py\n# Parts are small.\n" + "part = Part(name)\n" * 20 + "```\n", False),
        ("## Files\n```\n├── a.py  # must stay\n" + "├── b.py\n" * 20 + "```\n", False),
        ("## Files\n" + "Parts are small.\n" * 20, False),
        ("## Files\n| Part | Command |\n|---|---|\n" + "| a | `b` |\n" * 20, False),
        ("## Files\n| Part | Holds |\n|---|---|\n" + "| a | `must` |\n" * 20, True),
        ("## Files\n```\nsrc/\n" + "├── rules/b.py  # parts\n" * 20 + "```\n", True),
        (f"## Style\n### Files\n{REFERENCE}", False),
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


@pytest.mark.parametrize("before", ["> ## Two\n> ", "- item\n\n  ", "1. > text\n   > ", "```\n"])
def test_a_mark_in_a_quote_a_list_or_code_folds_nothing(before: str) -> None:
    assert not source_of(f"# One\n{before}<!-- fold: why -->\n").folded


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
    assert fold.action_at(file, "SKILL.md", len(text)) == action
    # Above all headings, and where nothing is said, nothing can be folded.
    bare = InstructionFile("AGENTS.md", "Hello.\n# A\n\n# B\nText.\n")
    assert [fold.action_at(bare, "AGENTS.md", bare.text.index(one)) for one in "HA"] == [None] * 2
    assert text[slice(*change.place.span)] == "<!-- fold: data -->\n"


def test_a_file_of_many_sections_is_read_in_linear_time() -> None:
    file = source_of("# A\n" + ("## B\n" + "- `b`\n" * 10) * 4_000)
    assert sum(fold.is_reference(file, section) for section in file.sections) == 4_001


@pytest.mark.parametrize("part", ["<!--", "<!-- fold: ", "1\n", "["])
def test_a_file_of_one_long_run_is_read(part: str) -> None:
    """In time that grows with its square, it would take hours."""
    file = source_of(f"# Files\n\n{part * (1_000_000 // len(part))}\n")
    assert file.render().text == file.text
    assert [fold.is_reference(file, section) for section in file.sections] == [part == "1\n"]
    assert [*file.markdown.link_targets()] == []
