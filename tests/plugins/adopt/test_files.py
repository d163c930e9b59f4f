"""What files have that isn't plain: refused by name, or adopted with what differs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from foldline.backends.files.local import LocalFileBackend
from foldline.plugins.adopt.adoption import adopt, module_of, output_path, prompts_in, read
from foldline.plugins.adopt.listing import prompts_of
from foldline.plugins.adopt.model import AdoptError, Text

from .here import prove_here

ENVIRONMENT = "from jinja2 import Environment\ne = Environment({options})\n"
HELP = "P = 'Help {{{{ name }}}} with <<task>>.'\nT = e.from_string(P)\n"


@pytest.mark.parametrize(
    "given",
    [
        ENVIRONMENT.format(options='variable_start_string="<<", variable_end_string=">>"'),
        ENVIRONMENT.format(options='**{"block_start_string": START}'),
        ENVIRONMENT.format(options="") + "e.line_statement_prefix = '#'\n",
    ],
)
def test_an_environment_with_delimiters_of_its_own_is_refused_by_name(given: str) -> None:
    with pytest.raises(AdoptError, match=r"delimiters of its own \(line [23]: `\w+_(string|pre)"):
        read(Path("p.py"), given + HELP.format(), name="P")


def test_an_environment_that_names_the_usual_delimiters_is_read() -> None:
    options = "variable_start_string='{{', block_end_string=\"%}\", line_statement_prefix=None"
    original = read(Path("p.py"), ENVIRONMENT.format(options=options) + HELP.format(), name="P")
    assert [field.name for field in adopt(original).plan.fields] == ["name"]


@pytest.mark.parametrize(
    ("options", "is_told"),
    [
        ("autoescape=True", True),
        ("autoescape=select_autoescape()", True),
        ("autoescape=select_autoescape(default_for_string=False)", False),
        ("autoescape=select_autoescape(['html'], default_for_string=False)", False),
        ("autoescape=False", False),
        ("", False),
    ],
)
def test_that_jinja_would_escape_html_is_said(options: str, *, is_told: bool) -> None:
    source = ENVIRONMENT.format(options=options) + HELP.format()
    adoption = adopt(read(Path("p.py"), source, name="P"))
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.is_same
    assert any("autoescape" in one for one in proof.but) == is_told
    assert any("escapes HTML" in note for note in adoption.plan.original.notes) == is_told


RULES = "---\n\nYou are a helper. Be nice to all people.\n\n---\nNow answer."
SETTINGS = '---\nmodel: gpt\ninput:\n  - a: "b"\n# A comment.\n\ntitle: x\n---\nNow answer.'


@pytest.mark.parametrize("has_yaml", [True, False])
@pytest.mark.parametrize("name", ["p.md", "p.j2", "p.txt"])
def test_text_between_rules_is_no_front_matter(
    name: str, *, has_yaml: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_yaml:
        monkeypatch.setitem(sys.modules, "yaml", None)
    original = read(Path(name), RULES)
    assert not original.notes
    assert "Be nice to all people" in adopt(original).text
    settings = read(Path(name), SETTINGS)
    assert settings.messages[0].nodes == (Text("Now answer."),)
    assert "front matter is left out" in settings.notes[0]


PROMPTY = """---
name: {{ broken
---
# System:
You help.

Developer :
Be short.

user[name="Alice"]:
How, {{ name }}?

 TOOL:
42
"""


def test_role_lines_are_read_as_prompty_reads_them() -> None:
    original = read(Path("p.prompty"), PROMPTY)
    assert [one.role for one in original.messages] == ["system", "developer", "user"]
    assert adopt(original).plan.left_out == 1
    assert original.lost[0].startswith("message of the role 'tool': a prompt has no sections of")
    assert "Alice" not in adopt(original).text


@pytest.mark.parametrize("rest", ["", " and {{name}}", '\n{{role "user"}}\nHello {{name}}'])
def test_a_value_that_dotprompt_gives_is_refused(rest: str) -> None:
    with pytest.raises(AdoptError, match=r"`\{\{@auth.email\}\}` is of Handlebars"):
        read(Path("p.prompt"), "You speak with {{@auth.email}}" + rest)


KEYS = 'a.b: "The first text, by one key."\na: {b: "The second text, by two."}\n"": "The third."\n'


def test_a_key_with_dots_has_a_name_of_its_own() -> None:
    names = [one.name for one in prompts_in(Path("k.yaml"), module_of(Path("k.yaml"), KEYS))]
    assert names == ["[a.b]", "a.b", "[]"]
    assert "The first text" in adopt(read(Path("k.yaml"), KEYS, name="[a.b]")).text
    assert "The second text" in adopt(read(Path("k.yaml"), KEYS, name="a.b")).text
    with pytest.raises(AdoptError, match=r"did you mean \[a\.b\]"):
        read(Path("k.yaml"), KEYS.replace("a: {b", "c: {d"), name="a.b")


def test_a_name_that_two_keys_have_is_refused() -> None:
    source = '1: "The text of a number."\n"1": "The text of a word."\n'
    with pytest.raises(AdoptError, match="the file has 2 texts of the name `1`"):
        read(Path("k.yaml"), source, name="1")


def test_each_text_of_a_long_list_has_a_name_and_those_not_listed_are_counted(
    tmp_path: Path,
) -> None:
    texts = [f"Answer the question of the number {number:05}." for number in range(2_500)]
    (tmp_path / "prompts.json").write_text(json.dumps(texts, indent=1))
    source = (tmp_path / "prompts.json").read_text()
    assert texts[-1] in adopt(read(Path("prompts.json"), source, name="[2499]")).text
    found = prompts_in(Path("p.json"), module_of(Path("p.json"), source))
    assert [one.line for one in found] == list(range(2, 2_502))
    *listed, rest = prompts_of(LocalFileBackend(tmp_path))
    assert (len(listed), rest.more) == (2_000, 500)
    assert rest.reason.startswith("500 more texts")


@pytest.mark.parametrize(
    ("text", "but"),
    [
        (b"You help.\rBe short.\rAnswer.", ["line breaks, which are a lone `\\r` in the source"]),
        (
            b"\xef\xbb\xbfYou help.\r\nBe\rshort.",
            [
                "line breaks, which are `\\r\\n` in the source",
                "line breaks, which are a lone `\\r` in the source",
                "the byte order mark at the beginning of the source",
            ],
        ),
        (
            b"\xef\xbb\xbf---\na: b\n---\nHelp.",
            ["the byte order mark at the beginning of the source"],
        ),
        (b"You help.\nBe short.", []),
    ],
)
def test_what_differs_in_the_bytes_of_a_text_is_said(
    text: bytes, but: list[str], tmp_path: Path
) -> None:
    (tmp_path / "prompt.txt").write_bytes(text)
    adoption = adopt(read(tmp_path / "prompt.txt"))
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.is_same
    assert list(proof.but) == but
    assert text.decode().splitlines()[-1] in adoption.text
    (listed,) = prompts_of(LocalFileBackend(tmp_path))
    assert listed.adoption is not None
    assert listed.adoption.plan.original == adoption.plan.original


def test_prompts_of_nested_keys_get_as_many_keys_in_their_files_as_they_need() -> None:
    text = "'You are a helper, and you answer the questions of all people.'"
    source = f"PROMPTS = {{'a': {{'system': {text}}}, 'b': {{'system': {text}}}}}\n"
    source += f"MORE = {{'b': {{'system': {text}}}}}\n"
    taken: list[str] = []
    for name in ("PROMPTS.a.system", "PROMPTS.b.system", "MORE.b.system"):
        adoption = adopt(read(Path("p.py"), source, name=name))
        taken.append(output_path(Path("p.py"), adoption, [Path(one) for one in taken]).name)
    assert taken == ["system_prompt.py", "b_system_prompt.py", "more_b_system_prompt.py"]
    other = output_path(Path("p.py"), adoption, [Path(one) for one in taken])
    assert other.name == "p_more_b_system_prompt.py"
    listed = adopt(read(Path("p.json"), '["Answer {{ q }}.", "Ask {{ q }}."]', name="[1]"))
    first = output_path(Path("p.json"), listed)
    assert first.stem.isidentifier()
    assert output_path(Path("p.json"), listed, [first]).stem.isidentifier()


@pytest.mark.parametrize("rest", ['("placeholder", "{history}")', "*[m for m in earlier]"])
def test_a_message_that_only_the_program_knows_is_left_out_in_plain_words(rest: str) -> None:
    source = f'M = ChatPromptTemplate.from_messages([("system", "You help {{who}}."), {rest}])\n'
    adoption = adopt(read(Path("p.py"), source, name="M"))
    (lost,) = adoption.plan.original.lost
    assert lost.partition("\n")[0] == (
        "message that only the running program knows, such as the chat so far: it isn't a part of "
        "the prompt, and your code sends it beside it"
    )
    assert adoption.plan.left_out == 1


@pytest.mark.parametrize("end", ["", " % q"])
@pytest.mark.parametrize("count", [900, 3_000, 30_000])
def test_a_module_that_is_nested_too_deep_is_said_to_be(count: int, end: str) -> None:
    source = f"P = ({' + '.join(['repr(1)'] * count)} + 'You help, and answer all of it.'){end}"
    with pytest.raises(AdoptError, match=r"^an expression of the module is nested too deep"):
        read(Path("p.py"), source)


def test_many_conditions_one_right_behind_another_are_sections() -> None:
    source = "".join(f"{{% if a{n} %}}\nText {n}.\n{{% endif %}}" for n in range(1_000))
    plan = adopt(read(Path("p.j2"), source)).plan
    assert (len(list(plan.walk())), plan.remainders) == (1_000, 0)


def test_data_that_is_nested_too_deep_is_said_to_be() -> None:
    with pytest.raises(AdoptError, match=r"^the JSON is nested too deep to be read$"):
        read(Path("p.json"), "[" * 100_000)
