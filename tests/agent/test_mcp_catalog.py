"""The prompts of a workspace and their arguments, known without running anything."""

from pathlib import Path

from foldline.agent.folders import open_folders
from foldline.agent.mcp.catalog import CatalogPrompt, find_prompts
from foldline.ide.workspace import Workspace

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"

HEAD = """
from __future__ import annotations
from dataclasses import dataclass, field
from typing import Literal
from foldline.prompts import MarkdownSection, PromptTemplate
raise SystemExit("executed")
"""

GREETING = (
    HEAD
    + """
@dataclass(frozen=True)
class Who:
    name: str
    times: int
    tone: Literal["warm", "dry"] = "warm"
    places: tuple[str, ...] = ()
    extra: dict[str, int] = field(default_factory=dict)

@dataclass(frozen=True)
class Where:
    name: str = "here"

template = PromptTemplate(ns="demo", key="greeting", sections=[
    MarkdownSection[Who](title="Who", key="who", template="${name} ${times} ${tone} ${places}"),
    MarkdownSection[Where](title="Where", key="where", template="${name}"),
])
bound = template.bind(Who("Ada", 3))
"""
)

PLAIN = """
from foldline.prompts import MarkdownSection, PromptTemplate
template = PromptTemplate(ns="{ns}", key="greeting", sections=[
    MarkdownSection[None](title="A", key="a", template="a"),
])
"""


def prompts_of(*roots: Path) -> dict[str, CatalogPrompt]:
    workspace = Workspace()
    try:
        return {prompt.name: prompt for prompt in find_prompts(open_folders(workspace, roots))}
    finally:
        workspace.close()


def write(root: Path, **files: str) -> Path:
    root.mkdir(exist_ok=True)
    for name, text in files.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    return root


def test_a_bound_prompt_has_the_name_and_its_template_adds_the_variable() -> None:
    found = prompts_of(EXAMPLE)
    plain = found["examples/code-reviewer/review"]
    assert plain.prompt.name == "reviewer"
    assert plain.path == "reviewer_prompt.py"
    assert "reference-docs" in plain.summarized
    assert "examples/code-reviewer/review#template" in found


def test_prompts_of_one_name_in_two_files_are_told_apart(tmp_path: Path) -> None:
    root = write(tmp_path, one=PLAIN.format(ns="demo"), two=PLAIN.format(ns="demo"))
    assert list(prompts_of(root)) == [
        "demo/greeting",
        "demo/greeting#template",
    ]


def test_prompts_of_several_folders_are_told_apart(tmp_path: Path) -> None:
    one = write(tmp_path / "one", a=PLAIN.format(ns="demo"), b=PLAIN.format(ns="demo"))
    two = write(tmp_path / "two", a=PLAIN.format(ns="demo"))
    found = prompts_of(one, two)
    assert {item.path for item in found.values()} == {"one/a.py", "one/b.py", "two/a.py"}
    assert "two/a.py#template" in found


def test_the_arguments_are_the_fields_that_a_text_can_give(tmp_path: Path) -> None:
    found = prompts_of(write(tmp_path, greeting=GREETING))["demo/greeting#template"]
    assert [
        (parameter.name, parameter.kind, parameter.required) for parameter in found.parameters
    ] == [
        ("Who.name", "str", True),
        ("times", "int", True),
        ("tone", "str", False),
        ("places", "list", False),
        ("Where.name", "str", False),
    ]


def test_what_the_author_has_bound_is_not_required(tmp_path: Path) -> None:
    found = prompts_of(write(tmp_path, greeting=GREETING))["demo/greeting"]
    assert not any(parameter.required for parameter in found.parameters)


def test_a_section_with_values_of_its_own_asks_for_none(tmp_path: Path) -> None:
    keyed = (
        GREETING
        + """
one = template.bind(section_params={"who": Who("Ada", 3)})
other = template.bind(section_params={"where": Where("there")})
open = template.bind(section_params=given)
"""
    )
    found = prompts_of(write(tmp_path, greeting=keyed))
    names = {
        prompt.prompt.name: {item.name: item.required for item in prompt.parameters}
        for prompt in found.values()
    }
    assert names["one"] == {"name": False}
    assert names["other"] == {"name": True, "times": True, "tone": False, "places": False}
    assert not any(names["open"].values())


def test_a_broken_module_lists_what_can_be_read(tmp_path: Path) -> None:
    root = write(tmp_path, broken=PLAIN.format(ns="demo") + "\ndef half(:\n")
    assert list(prompts_of(root)) == ["demo/greeting"]


def test_a_workspace_without_prompts_lists_none(tmp_path: Path) -> None:
    assert prompts_of(write(tmp_path, plain='"""Mentions PromptTemplate."""\n')) == {}


KINDS = {
    "str": "str",
    "'str | None'": "str",
    "None | int": "int",
    "Optional[float]": "float",
    "typing.Optional[bool]": "bool",
    "list[str]": "list",
    "Annotated[list[str], bullets]": "list",
    "tuple[str, ...] | None": "list",
    "collections.abc.Sequence[str]": "list",
    "Literal['a', 'b']": "str",
    "Topic": "str",
    "'Later'": "str",
    "Literal['a', 1]": "",
    "tuple[str, str]": "",
    "tuple[int, ...]": "",
    "dict[str, str]": "",
    "str | int": "",
    "Severity": "",
    "Missing": "",
    "'half['": "",
}


def test_a_text_becomes_a_value_where_the_type_is_simple(tmp_path: Path) -> None:
    fields = "".join(f"    f{place}: {annotation}\n" for place, annotation in enumerate(KINDS))
    names = " ".join(f"${{f{place}}}" for place in range(len(KINDS)))
    source = (
        f"{HEAD}import collections.abc, typing\n"
        "from enum import Enum\nfrom typing import Annotated, NewType, Optional\n"
        "from foldline.prompts import bullets\n"
        "Topic = NewType('Topic', str)\nclass Severity(Enum):\n    LOW = 1\n"
        f"@dataclass\nclass All:\n{fields}\nLater = str\n"
        "template = PromptTemplate(ns='demo', key='all', sections=[\n"
        f"    MarkdownSection[All](title='A', key='a', template='{names}')])\n"
    )
    prompt = prompts_of(write(tmp_path, kinds=source))["demo/all"]
    kinds = [parameter.kind for parameter in prompt.fields]
    assert dict(zip(KINDS, kinds, strict=True)) == KINDS
