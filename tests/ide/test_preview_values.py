"""Where a preview's values come from: the first source that has them, and each says which it is."""

from pathlib import Path
from typing import Any

import pytest

from .viewer import View, Viewer

pytestmark = pytest.mark.real

PROMPT = '''
from dataclasses import dataclass, field
from enum import StrEnum
from foldline.prompts import MarkdownSection, PromptTemplate

class Tone(StrEnum):
    KIND = "kind"
    FIRM = "firm"

@dataclass(frozen=True)
class Who:
    """Who is greeted."""
    name: str
    title: str = "Ms"
    tone: Tone = Tone.KIND
    tags: tuple[str, ...] = field(default=(), metadata={"description": "What is known."})

@dataclass(frozen=True)
class Where:
    place: str = "here"

hello = PromptTemplate(ns="demo", key="hello", sections=[
    MarkdownSection[Who](title="Who", key="who", template="${title} ${name} ${tone} ${tags}"),
    MarkdownSection[Where](title="Where", key="where", template="${place}"),
])
'''
FIXTURES = """
def preview_ada():
    return Who("Ada", tags=("first",))

def preview_hello_bob():
    yield Who("Bob")
    yield Where("there")

def preview_other_prompt():
    return Who("not called")

other = PromptTemplate(ns="demo", key="other", sections=[])
"""


async def shown(editor: Viewer, text: str = PROMPT) -> dict[str, Any]:
    editor.open("hello.py", text)
    state: dict[str, Any] = await editor.command("prompt.preview", name="hello")
    return state


def bodies(state: dict[str, Any]) -> list[str]:
    return [block["text"].strip().partition("\n\n")[2] for block in state["blocks"]]


def origins(state: dict[str, Any]) -> dict[str, object]:
    return {
        f"{kind['type']}.{field['name']}": field["origin"] and field["origin"]["source"]
        for kind in state["parameters"]
        for field in kind["fields"]
    }


@pytest.fixture
async def editor(view: View, tmp_path: Path) -> Viewer:
    return view(tmp_path, trusted=True)


async def test_what_nobody_gives_is_the_default_or_made_up(editor: Viewer) -> None:
    state = await shown(editor)
    assert bodies(state) == ["Ms \u2039name\u203a kind ()", "here"]
    assert state["generated"] == ["Who.name"]
    assert origins(state) == {
        "Who.name": "generated",
        "Who.title": "default",
        "Who.tone": "default",
        "Who.tags": "default",
        "Where.place": "default",
    }
    assert (state["parameter_set"], state["parameter_sets"]) == (None, [])


async def test_a_form_learns_types_defaults_docs_and_current_values(editor: Viewer) -> None:
    who, where = (await shown(editor))["parameters"]
    assert (who["type"], who["doc"]) == ("Who", "Who is greeted.")
    fields = {field["name"]: field for field in who["fields"]}
    assert fields["name"]["required"]
    assert fields["title"] == {
        "name": "title",
        "type": "str",
        "doc": "",
        "required": False,
        "default": "'Ms'",
        "choices": None,
        "value": "Ms",
        "editable": True,
        "shown": "'Ms'",
        "origin": {"source": "default"},
    }
    assert (fields["tone"]["choices"], fields["tone"]["value"]) == (["kind", "firm"], "kind")
    assert (fields["tags"]["doc"], fields["tags"]["value"]) == ("What is known.", [])
    assert (where["type"], where["doc"]) == ("Where", "")


async def test_functions_of_the_module_are_sets_that_a_session_switches_among(
    editor: Viewer, tmp_path: Path
) -> None:
    state = await shown(editor, PROMPT + FIXTURES)
    assert [item["name"] for item in state["parameter_sets"]] == ["ada", "bob"]
    assert state["parameter_set"] == "ada"
    assert bodies(state) == ["Ms Ada kind ('first',)", "here"]
    (name, *_) = state["parameters"][0]["fields"]
    line = (PROMPT + FIXTURES)[: (PROMPT + FIXTURES).index("def preview_ada")].count("\n") + 1
    assert name["origin"] == {
        "source": "fixture",
        "name": "preview_ada",
        "file": str(tmp_path / "hello.py"),
        "line": line,
    }
    state = await editor.command("prompt.setParams", parameter_set="bob")
    assert bodies(state) == ["Ms Bob kind ()", "there"]
    state = await editor.command("prompt.setParams", params={"Who": {"title": "Dr"}})
    assert bodies(state) == ["Dr Bob kind ()", "there"]
    assert origins(state)["Who.title"] == "given"
    assert origins(state)["Who.name"] == "fixture"
    state = await editor.command("prompt.setParams", parameter_set="none")
    assert bodies(state)[0] == "Dr \u2039name\u203a kind ()"
    _, data = await editor.refusal("prompt.setParams", parameter_set="eve")
    assert (data["kind"], data["near"]) == ("prompt", ["ada", "bob", "none"])
    steps = (await editor.command("prompt.history"))["steps"]
    assert [step["parameter_set"] for step in steps] == [None, "bob", "bob", "none"]
    assert bodies(await editor.command("prompt.undo")) == ["Dr Bob kind ()", "there"]


CONFIGURED = """
[tool.foldline.preview]
fixtures = ["values/fixtures.py"]
params = ["values/all.json"]

[tool.foldline.preview.prompts.hello]
params = ["values/hello.toml"]
use = "loud"
"""


async def test_a_project_declares_fixtures_and_files(editor: Viewer, tmp_path: Path) -> None:
    values = tmp_path / "values"
    values.mkdir()
    (tmp_path / "pyproject.toml").write_text(CONFIGURED, encoding="utf-8")
    (values / "fixtures.py").write_text(
        "from hello import Where\ndef preview_far():\n    return Where('far')\n", encoding="utf-8"
    )
    (values / "all.json").write_text(
        '{"Who": {"title": "Mx", "name": "Everybody"}, "Unrelated": {"x": 1}}', encoding="utf-8"
    )
    (values / "hello.toml").write_text(
        '[Who]\nname = "Hello"\n[sets.loud.Who]\ntone = "firm"\n', encoding="utf-8"
    )
    state = await shown(editor)
    assert [item["name"] for item in state["parameter_sets"]] == ["far", "default", "loud"]
    assert state["parameter_set"] == "loud"
    assert bodies(state) == ["Mx Hello firm ()", "here"]
    (name, *_) = state["parameters"][0]["fields"]
    assert name["origin"] == {
        "source": "file",
        "name": "default",
        "file": str(values / "hello.toml"),
    }
    state = await editor.command("prompt.setParams", parameter_set="far")
    assert bodies(state) == ["Mx Hello kind ()", "far"]


async def test_a_file_beside_the_module_is_followed(editor: Viewer, tmp_path: Path) -> None:
    beside = tmp_path / "hello.preview.toml"
    beside.write_text('[Who]\nname = "Beside"\n', encoding="utf-8")
    assert bodies(await shown(editor))[0] == "Ms Beside kind ()"
    for text in ('[Who]\nname = "Changed"\n', "[Who]\nname = \n"):
        editor.write(beside.name, text)
        update = await editor.update(len(editor.updates) + 1)
    assert editor.updates[0]["blocks"][0]["text"] == "## 1. Who\n\nMs Changed kind ()\n\n"
    assert update["blocks"] == []
    assert (update["stale"]["kind"], update["stale"]["line"]) == ("values", 2)
    assert "hello.preview.toml:2: " in update["stale"]["message"]


async def test_what_the_author_bound_is_there_until_a_set_is_chosen(editor: Viewer) -> None:
    bound = (
        PROMPT + "\nfrom foldline.prompts import Prompt\ngreet = Prompt(hello).bind(Who('Eve'))\n"
    )
    editor.open("hello.py", bound)
    state = await editor.command("prompt.preview", name="greet")
    assert bodies(state)[0] == "Ms Eve kind ()"
    assert origins(state)["Who.title"] == "bound"


REFUSED = {
    "def preview_x(who): return Who(who)": "preview_x() is called without arguments, and needs who",
    "async def preview_x(): return Who('x')": "preview_x() must not be async",
    "def preview_x(): return 'Ada'": "return an instance of a dataclass",
    "def preview_x():\n    return Tone_(1)\n@dataclass\nclass Tone_:\n    x: int": "returns Tone_",
}


@pytest.mark.parametrize("text", REFUSED)
async def test_a_function_that_cannot_be_used_says_why_and_where(editor: Viewer, text: str) -> None:
    state = await shown(editor, f"{PROMPT}\n{text}\n")
    assert (state["stale"]["kind"], state["fidelity"]) == ("values", "static")
    assert REFUSED[text] in state["stale"]["message"]
    assert state["stale"]["line"] == PROMPT.count("\n") + 2


async def test_wrong_options_are_told_with_their_path(view: View, tmp_path: Path) -> None:
    wrong = '[tool.foldline.preview]\nnetwork = "off"\nfixtures = ["no.py", 3]\nparam = []\n'
    (tmp_path / "pyproject.toml").write_text(wrong, encoding="utf-8")
    editor = view(tmp_path, trusted=True)
    await shown(editor)
    told = " ".join(editor.reported)
    assert "tool.foldline.preview.param: unknown option; did you mean 'params'" in told
    assert "network: expected one of allow, deny, got 'off'" in told
    assert "fixtures[1]: expected a text, got 3" in told


async def test_a_set_that_the_project_names_in_vain_is_told_and_the_source_shown(
    editor: Viewer, tmp_path: Path
) -> None:
    wrong = '[tool.foldline.preview]\nuse = "loud"\n'
    (tmp_path / "pyproject.toml").write_text(wrong, encoding="utf-8")
    state = await shown(editor, PROMPT + FIXTURES)
    assert (state["fidelity"], state["stale"]["kind"]) == ("static", "values")
    assert "no parameter set 'loud' for hello; there is ada, bob, none" in state["stale"]["message"]


async def test_a_project_denies_the_network(editor: Viewer, tmp_path: Path) -> None:
    denied = '[tool.foldline.preview]\nnetwork = "deny"\n'
    (tmp_path / "pyproject.toml").write_text(denied, encoding="utf-8")
    state = await shown(editor, f"import socket\nsocket.getaddrinfo('localhost', 1)\n{PROMPT}")
    assert state["stale"]["line"] == 2
    assert "the setting preview.network denies it" in state["stale"]["message"]


# Values for one section

KEYED = """
from dataclasses import dataclass
from foldline.prompts import Chapter, MarkdownSection, PromptTemplate, Task, TaskSection

@dataclass(frozen=True)
class Doc:
    title: str
    year: int = 2020

def doc(key, **more):
    return MarkdownSection[Doc](title=key, key=key, template="${title} ${year}", **more)

hello = PromptTemplate(ns="demo", key="hello", sections=[
    doc("old"), doc("new", children=[doc("in")]),
    Chapter[None](key="c", title="C", sections=[doc("more")]),
])
bound = hello.bind(section_params={"old": Doc("A"), "new": Doc("B", 1), "new.in": Doc("C")})
"""


async def test_a_section_is_given_values_of_its_own_by_its_key(editor: Viewer) -> None:
    editor.open("hello.py", KEYED)
    params = {"Doc": {"title": "T"}, "new.in": {"title": "I", "year": 1}}
    answer = await editor.command("prompt.render", name="hello", params=params, chapters=["c"])
    assert bodies(answer) == ["T 2020", "T 2020", "I 1", "T 2020"]
    assert [(kind["type"], kind["section"]) for kind in answer["parameters"]] == [
        ("Doc", None),
        ("Doc", "new.in"),
    ]
    assert origins(answer) == {"Doc.title": "given", "Doc.year": "given"}


async def test_what_the_author_binds_by_key_is_shown_and_changed_by_key(editor: Viewer) -> None:
    editor.open("hello.py", KEYED)
    answer = await editor.command("prompt.render", name="bound")
    # The section of the chapter has no value of its own.
    assert bodies(answer) == ["A 2020", "B 1", "C 2020", "\u2039title\u203a 2020"]
    assert answer["generated"] == ["Doc.title"]
    assert [kind["section"] for kind in answer["parameters"]] == [None, "old", "new", "new.in"]
    params = {"new": {"title": "N"}}
    answer = await editor.command("prompt.render", name="bound", params=params, chapters=[])
    assert bodies(answer) == ["A 2020", "N 1", "C 2020"]
    # It needs one to open, too.
    assert answer["generated"] == ["Doc.title"]


async def test_made_up_values_of_a_section_are_named_by_its_key(editor: Viewer) -> None:
    editor.open("hello.py", KEYED)
    own = {name: {"title": "T"} for name in ("old", "new", "more")}
    answer = await editor.command(
        "prompt.render", name="hello", params={**own, "new.in": {"year": 7}}
    )
    assert bodies(answer) == ["T 2020", "T 2020", "\u2039title\u203a 7", "T 2020"]
    assert answer["generated"] == ["new.in.title"]


async def test_what_a_section_has_no_value_for_is_that_of_its_type(editor: Viewer) -> None:
    editor.open("hello.py", KEYED)
    params = {"Doc": {"title": "T", "year": 3}, "new.in": {"year": 7}}
    answer = await editor.command("prompt.render", name="hello", params=params)
    assert bodies(answer) == ["T 3", "T 3", "T 7", "T 3"]
    assert answer["generated"] == []


async def test_functions_and_files_have_values_by_key(editor: Viewer, tmp_path: Path) -> None:
    text = (
        KEYED
        + """
def preview_two():
    yield Doc("T")
    yield {"new": Doc("N", 5)}

def preview_one():
    return {"new.in": Doc("I")}

def preview_wrong():
    return {"nwe": Doc("I")}
"""
    )
    (tmp_path / "hello.preview.toml").write_text(
        'Doc.title = "F"\n[old]\ntitle = "O"\n["new.in"]\nyear = 9\n', encoding="utf-8"
    )
    state = await shown(editor, text)
    assert bodies(state) == ["O 2020", "N 5", "T 9", "T 2020"]
    state = await editor.command("prompt.setParams", parameter_set="one")
    assert bodies(state) == ["O 2020", "F 2020", "I 2020", "F 2020"]
    message, _ = await editor.refusal("prompt.setParams", parameter_set="wrong")
    assert "preview_wrong() returns Doc for the section 'nwe', and the prompt takes Doc" in message


async def test_a_name_that_is_neither_lists_both_kinds(editor: Viewer) -> None:
    editor.open("hello.py", KEYED)
    params = {"new.on": {"title": "x"}}
    message, data = await editor.refusal("prompt.render", name="hello", params=params)
    assert "the prompt has no parameters new.on; it has Doc" in message
    assert data["near"] == ["Doc", "more", "new", "new.in", "old"]


# Lists

LISTS = """
from collections.abc import Sequence
from dataclasses import dataclass
from foldline.prompts import EachSection, Example, ExamplesSection, PromptTemplate

@dataclass(frozen=True)
class Passage:
    text: str
    score: float = 0.5

@dataclass(frozen=True)
class Found:
    passages: Sequence[Passage]
    shots: tuple[Example[str, Passage], ...]

hello = PromptTemplate(ns="demo", key="lists", sections=[
    EachSection[Found, Passage](
        title="P", key="p", items="passages", template="${_number}: ${text} ${score}"
    ),
    ExamplesSection[Found, str, Passage](items="shots", template="${input} -> ${output}"),
])
"""


async def test_a_list_that_nobody_gives_has_one_item_that_is_made_up(editor: Viewer) -> None:
    state = await shown(editor, LISTS)
    assert bodies(state)[0] == "1: \u2039text\u203a 0.5"
    assert bodies(state)[1].startswith("\u2039input\u203a -> ")
    assert {"Found.passages", "Found.passages.0.text"} <= set(state["generated"])
    assert origins(state) == {"Found.passages": "generated", "Found.shots": "generated"}
    fields = [(s["kind"], s["text"], s["field"]) for s in state["blocks"][0]["segments"][2:]]
    assert fields[2] == ("param", "\u2039text\u203a", "passages[0].text")


async def test_a_list_is_shown_with_the_items_of_a_form(editor: Viewer) -> None:
    await shown(editor, LISTS)
    params = {"Found": {"passages": [{"text": "a"}, {"text": "b", "score": 1.5}], "shots": []}}
    state = await editor.command("prompt.render", name="hello", params=params)
    assert bodies(state) == ["1: a 0.5\n\n2: b 1.5", "None."]


WRONG = [
    ("Who", {"name": 5}, "name takes `str`: expected a string, got 5"),
    ("Who", {"title": None}, "title takes `str`: expected a string, got null"),
    ("Who", {"tags": 5}, "tags takes `tuple[str, ...]`: expected an array, got 5"),
    ("Who", {"tags": ["a", 5]}, "tags.1 takes `str`: expected a string, got 5"),
    ("Who", {"tone": "rude"}, "tone takes `Tone`: expected one of 'kind', 'firm', got \"rude\""),
    ("Order", {"count": True}, "count takes `int`: expected an integer, got true"),
    ("Order", {"count": 1.5}, "count takes `int`: expected an integer, got 1.5"),
    ("Order", {"size": "l"}, "size takes `Literal['s', 'm']`: expected one of 's', 'm', got \"l\""),
    ("Order", {"note": [1]}, "note takes `str | int | None`: expected one of these, got [1]"),
    (
        "Order",
        {"pair": ["a"]},
        'pair takes `tuple[str, int]`: expected an array of 2 items, got ["a"]',
    ),
    ("Order", {"prices": 1}, "prices takes `dict[str, int]`: expected an object, got 1"),
]
RIGHT = [
    ({"price": 5, "note": "7", "due": "2021-03-04"}, "5.0 1 s 7 ('a', 1) 2021-03-04"),
    ({"note": 7, "pair": ["b", 2], "size": "m"}, "1.0 1 m 7 ('b', 2) 2020-01-02"),
    ({"note": None, "count": 3.0}, "1.0 3 s None ('a', 1) 2020-01-02"),
]
ORDER = """
from datetime import date
from typing import Literal

@dataclass(frozen=True)
class Order:
    price: float = 1.0
    count: int = 1
    size: Literal["s", "m"] = "s"
    note: str | int | None = None
    pair: tuple[str, int] = ("a", 1)
    due: date = date(2020, 1, 2)
    prices: dict[str, int] = field(default_factory=dict)

hello = PromptTemplate(ns="demo", key="hello", sections=[
    MarkdownSection[Order](title="Order", key="order",
        template="${price} ${count} ${size} ${note} ${pair} ${due}"),
    MarkdownSection[Who](title="Who", key="who", template="${title} ${name} ${tone} ${tags}"),
])
"""


async def test_values_of_json_fit_their_fields_or_are_refused_by_name_and_type(
    editor: Viewer,
) -> None:
    await shown(editor, PROMPT + ORDER)
    for kind, values, said in WRONG:
        message, _ = await editor.refusal("prompt.setParams", params={kind: values})
        assert message == f"params: {kind}.{said}"
    for values, text in RIGHT:
        state = await editor.command("prompt.setParams", params={"Order": values})
        assert bodies(state)[0] == text


MODELS = '''
from pydantic import BaseModel, Field
from foldline.prompts import EachSection, MarkdownSection, PromptTemplate

class Item(BaseModel):
    name: str = Field(min_length=2)
    count: int = Field(1, alias="howMany")

class Order(BaseModel):
    """What is ordered."""
    who: str = Field(description="The customer.")
    items: list[Item] = []

hello = PromptTemplate[Order](ns="demo", key="hello", sections=[
    MarkdownSection[Order](title="Who", key="who", template="For ${who}."),
    EachSection[Order, Item](
        title="Items", key="items", items="items", template="${count} ${name}", separator="; "
    ),
])

def preview_ada():
    return Order(who="Ada", items=[Item(name="pen")])
'''


async def test_pydantic_models_are_made_up_given_and_described_as_dataclasses_are(
    editor: Viewer,
) -> None:
    state = await shown(editor, MODELS)
    assert bodies(state) == ["For Ada.", "1 pen"]
    (order,) = state["parameters"]
    assert (order["type"], order["doc"]) == ("Order", "What is ordered.")
    assert [(field["name"], field["doc"], field["type"]) for field in order["fields"]] == [
        ("who", "The customer.", "str"),
        ("items", "", "list[hello.Item]"),
    ]
    params = {"Order": {"items": [{"name": "ink", "count": 3}]}}
    await editor.command("prompt.setParams", parameter_set="none")
    state = await editor.command("prompt.setParams", params=params)
    assert bodies(state) == ["For \u2039who\u203a.", "3 ink"]
