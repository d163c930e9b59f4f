"""Where the characters of a preview come from: the source of each, and the way back."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldline.backends.base.units import UTF16, units
from foldline.ide.render import render
from foldline.ide.render.provenance import Occurrence, Provenance, TextOrigin
from foldline.ide.snapshot import Snapshot
from foldline.ide.workspace import Workspace
from foldline.prompts import Prompt, PromptTemplate

from .viewer import View, Viewer

HEAD = """\
from dataclasses import dataclass
from foldline.prompts import *

@dataclass(frozen=True)
class Who:
    name: str = "Ada"
    lines: str = "one\\ntwo  \\n\\nthree"
    sign: str = "\U0001f600$"

"""
PLACEHOLDERS = ("${name}", "$name ", "${lines}", "${sign}")
TITLES = ('"A title"', '"Caf\\u00e9 " "\U0001f600"', "'\\t x\\'' r'\\d'")


# A random string literal: what is written, and how


def _char(char: str, style: int) -> str:
    """Write a character in one of the ways that Python has."""
    code = ord(char)
    ways = [f"\\U{code:08x}", f"\\{code:03o}" if code < 0o1000 else "", f"\\u{code:04x}"]
    way = ways[style % len(ways)]
    return f"\\U{code:08x}" if code > 0xFFFF or not way else way


TEXT = st.text(
    st.sampled_from("abc xyz\t,.-#*_`|é\u2028\u0301漢\U0001f600"), min_size=1, max_size=6
)
PIECE = st.one_of(
    TEXT.map(lambda text: (text, text)),
    st.tuples(TEXT, st.integers(0, 2)).map(
        lambda made: (made[0], "".join(_char(char, made[1]) for char in made[0]))
    ),
    st.sampled_from(
        [("\n", "\\n"), ('"', '\\"'), ("'", "\\'"), ("\\", "\\\\"), ("\t", "\\t"), ("", "\\\n")]
    ),
    st.just(("$$", "$$")),
    st.sampled_from(PLACEHOLDERS).map(lambda text: (text, text)),
)
LINES = st.lists(
    st.one_of(PIECE, st.sampled_from(["\n", "\n    ", "\n\t", "\n        "]).map(lambda t: (t, t))),
    min_size=1,
    max_size=12,
).map(lambda pieces: '"""' + "".join(source for _, source in pieces) + '"""')
ONE_LINE = st.lists(PIECE, max_size=8).map(
    lambda pieces: '"' + "".join(source for _, source in pieces) + '"'
)
RAW = st.text(st.sampled_from("ab \\d.$$\U0001f600"), max_size=6).map(
    lambda text: f"r'{text.replace('$', '$$')}.'"
)
LITERALS = st.lists(st.one_of(LINES, ONE_LINE, RAW), min_size=1, max_size=3).map(
    lambda literals: "(" + "\n        ".join(literals) + ")"
)


def executed(source: str) -> tuple[render.Block, ...]:
    """The blocks of the prompt `p`, as the library renders it."""
    names: dict[str, Any] = {}
    exec(compile(source, "p.py", "exec"), names)  # It's the test's own.
    template: PromptTemplate[Any] = names["p"]
    return tuple(
        render.Block(
            id="/".join(block.path),
            path=block.path,
            key=block.dotted_key,
            number=block.number,
            title=block.title,
            depth=block.depth,
            visibility=block.visibility.name,
            enabled=block.enabled,
            text=block.text,
            segments=tuple(
                render.Segment(one.kind.value, one.text, one.field) for one in block.segments
            ),
        )
        for block in Prompt(template).render().blocks
    )


def traced(
    root: Path, source: str
) -> list[tuple[render.Segment, str, TextOrigin, list[Occurrence], int]]:
    """Each rendered character: its segment, itself, its origin, and the way back from there."""
    workspace = Workspace.at(root)
    file = root / "p.py"
    workspace.open_document(file.as_uri(), source, 1)
    blocks = executed(source)
    found = []

    def query(snapshot: Snapshot) -> None:
        shown = render.Render(name="p", text="", blocks=blocks)
        made = Provenance(workspace, shown, snapshot)
        for block in blocks:
            at = 0
            for segment in block.segments:
                for char in segment.text:
                    origin = made.origin(block, at)
                    back: list[Occurrence] = []
                    if origin.exact:
                        before, here, _ = origin.places[0].excerpt
                        column = units(re.split(r"[\r\n]", before)[-1], UTF16)
                        line = origin.places[0].line - 1
                        back += made.occurrences(str(file), line, column, len(here))
                    found.append((segment, char, origin, back, at))
                    at += units(char, UTF16)

    workspace.with_snapshot(file.as_uri(), query)
    workspace.close()
    return found


def means(source: str, char: str, segment: render.Segment) -> bool:
    """True if what stands in the source is this character, or the placeholder that gave it."""
    if segment.field is not None:
        return source in (f"${{{segment.field}}}", f"${segment.field}")
    if source in (char, "$$", "\r\n"):
        return char == {"$$": "$", "\r\n": "\n"}.get(source, char)
    return bool(ast.literal_eval(f'"{source}"') == char)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(template=LITERALS, title=st.sampled_from(TITLES), crlf=st.booleans())
def test_each_character_comes_from_one_that_is_it_and_leads_back(
    tmp_path: Path, template: str, title: str, crlf: bool
) -> None:
    source = (
        f'{HEAD}s = MarkdownSection[Who](\n    title={title}, key="s",\n'
        f"    template={template},\n)\n"
        'p = PromptTemplate(ns="n", key="p", sections=[s])\n'
    )
    source = source.replace("\n", "\r\n") if crlf else source
    for segment, char, origin, back, at in traced(tmp_path, source):
        written = segment.kind in ("literal", "default")
        assert origin.exact is (written or (segment.text[3:].startswith("1. ") and at >= 6)), char
        if origin.exact:
            assert means(origin.places[0].excerpt[1], char, segment), (char, origin)
            assert [one for one in back if one.start <= at < one.end], (char, origin)


# What else a text may be


PROMPT = """\
from dataclasses import dataclass
from foldline.prompts import *
import texts

@dataclass(frozen=True)
class Who:
    name: str = "Ada"
    level: int = 3

def computed() -> str:
    return str(6 * 7)

hello = MarkdownSection[Who](title="Hello", key="hello", template="Hi ${name} (${level}).")
code = MarkdownSection[None](
    title="Code", key="code", template="Before " + computed() + " behind", children=[
        MarkdownSection[None](title="All", key="all", template=computed())])
elsewhere = MarkdownSection[None](title="There", key="there", template=texts.RULES)
few = ExamplesSection[None, str, int](items=[
    Example("what is two", 2, reasoning="I count."), Example("and three", 3)])
rows = EachSection[None, Who](
    title="Rows", key="rows", items=[Who("Bob"), Who("Eve"), Who("Mallory")], max_items=2,
    template="- ${name}", separator="\\n", more="- and ${_left_out} more")
task = TaskSection[Task](default_params=Task(request="Go on.", background="We stopped."))
folded = MarkdownSection[None](
    title="Folded", key="folded", template="All of it.", summary="A part.",
    visibility=SectionVisibility.SUMMARY)
p = PromptTemplate(
    ns="n", key="p", sections=[hello, code, elsewhere, few, rows, task, folded])
"""
RULES = 'RULES = """\\\n    Be \\u0062rief.\n    """\n'

#: A word of a section, what its first place is, and what stands there.
WORDS = [
    ("hello", "Hello", "title of hello", "H"),
    ("hello", "Hi ", "template of hello", "H"),
    ("hello", "Ada", "placeholder ${name}", "${name}"),
    ("hello", "3", "placeholder ${level}", "${level}"),
    ("code", "Before", "template of code", "B"),
    ("code", "42", "code in the template of code", "computed()"),
    ("code", "behind", "template of code", "b"),
    ("code.all", "42", "template of code.all", "computed()"),
    ("there", "brief", "template of there", "\\u0062"),
    ("examples", "two", "value of input", "t"),
    ("examples", "2", "value of output", "2"),
    ("examples", "count", "value of reasoning", "c"),
    ("examples", "three", "value of input", "t"),
    ("examples", "<output>", "section examples", "ExamplesSection[None, str, int]"),
    ("rows", "Bob", "placeholder ${name}", "${name}"),
    ("rows", "Eve", "placeholder ${name}", "${name}"),
    ("rows", "and", "template of rows", "a"),
    ("rows", "1 more", "placeholder ${_left_out}", "${_left_out}"),
    ("task", "Go on", "value of request", "G"),
    ("task", "stopped", "value of background", "s"),
    ("folded", "part", "summary of folded", "p"),
    ("folded", "---", "section folded", "MarkdownSection[None]"),
]


@pytest.mark.parametrize("fidelity", ["executed", "static"])
async def test_words_of_all_kinds_lead_to_what_they_are_from(
    view: View, tmp_path: Path, fidelity: str
) -> None:
    editor = view(tmp_path, trusted=fidelity == "executed")
    (tmp_path / "texts.py").write_text(RULES, encoding="utf-8")
    preview = await editor.command("prompt.preview", uri=editor.open("p.py", PROMPT))
    assert preview["fidelity"] == fidelity
    for key, word, what, there in WORDS:
        if word != "42" or fidelity == "executed":
            found = await origin(editor, preview, key, word)
            assert (found["what"], found["excerpt"][1][: len(there)]) == (what, there), word


async def origin(editor: Viewer, preview: dict[str, Any], key: str, word: str) -> dict[str, Any]:
    """The first place of the first character of a word; `what` without its file."""
    block = next(one for one in preview["blocks"] if one["key"] == key)
    offset = units(block["text"][: block["text"].index(word)], UTF16)
    session = preview["sessionId"]
    found = await editor.command("prompt.origin", sessionId=session, section_key=key, offset=offset)
    place = found["places"][0]
    return {**place, "what": place["what"].rpartition(", ")[0], "words": found["words"]}


async def test_a_value_leads_on_to_the_parameter_set_and_the_field(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path, trusted=True)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.foldline.preview]\nparams = ["values.toml"]\n', encoding="utf-8"
    )
    (tmp_path / "values.toml").write_text(
        '[Who]\nname = "Max"\n\n[sets.big.Who]\nname = "Moe"\n'
        '[sets.small.Who]\nlevel = 4\nname = "Zoe"\n',
        encoding="utf-8",
    )
    (tmp_path / "texts.py").write_text(RULES, encoding="utf-8")
    uri = editor.open("p.py", PROMPT)
    preview = await editor.command("prompt.preview", uri=uri)
    session = preview["sessionId"]
    preview = await editor.command("prompt.setParams", sessionId=session, parameter_set="small")
    found = await origin(editor, preview, "hello", "Zoe")
    assert found["words"].split("; ") == [
        "placeholder ${name}, p.py:13:71",
        "value of name, values.toml:8:1",
        "field Who.name, p.py:7:5",
    ]


async def test_marks_follow_edits_that_are_not_saved(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=True)
    (tmp_path / "texts.py").write_text(RULES, encoding="utf-8")
    uri = editor.open("p.py", PROMPT)
    preview = await editor.command("prompt.preview", uri=uri)
    typed = PROMPT.replace('"Hi ${name}', '"\U0001f600 Oh, hi ${name}')
    editor.change(uri, typed)
    update = await editor.update(1)
    preview = {**preview, "blocks": update["blocks"]}
    found = await origin(editor, preview, "hello", "hi")
    line = typed.splitlines()[found["line"] - 1]
    assert line[found["column"] - 1 :].startswith("hi ${name}")
    back = await editor.command(
        "prompt.occurrences",
        sessionId=preview["sessionId"],
        line=found["line"] - 1,
        character=units(line[: found["column"] - 1], UTF16),
        size=len("hi ${name}"),
    )
    text = update["blocks"][0]["text"].encode("utf-16-le")
    shown = [text[2 * one["start"] : 2 * one["end"]].decode("utf-16-le") for one in back]
    assert shown == ["hi ", "Ada"]
    behind = await editor.command("prompt.occurrences", sessionId=preview["sessionId"], line=9999)
    assert behind == []
    # The preview keeps the last good text, and the source the last good nodes.
    editor.change(uri, typed.replace("def computed", "def (computed") + "\n# more", 3)
    update = await editor.update(2)
    assert update["stale"] is not None
    found = await origin(editor, preview, "hello", "Ada")
    assert found["excerpt"][1] == "${name}"


async def test_of_sections_with_one_path_none_is_claimed(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=True)
    section = 'MarkdownSection[Who](title="T", key="s", template="Hello you")'
    chosen = 'p = PromptTemplate(ns="n", key="p", sections=[A if len(Who().name) == 2 else B])\n'
    uri = editor.open("p.py", f"{HEAD}A = {section}\nB = {section}\n{chosen}")
    preview = await editor.command("prompt.preview", uri=uri)
    assert (await origin(editor, preview, "s", "Hello"))["words"].startswith("not exactly known: ")
