"""The workspace's prompts as MCP prompts: listed by reading, rendered only where trusted."""

import socket
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from foldline.agent.mcp.stdio import Options

from .mcp_process import EXAMPLE, connect, connect_here

pytestmark = pytest.mark.real

REVIEW = "examples/code-reviewer/review"

PROMPT = """
import os, pathlib, sys
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

pathlib.Path(__file__).with_name("executed").touch()
print("to standard output")
os.write(1, b"to descriptor 1\\n")

@dataclass(frozen=True)
class Who:
    name: str
    times: int = 1

template = PromptTemplate(ns="demo", key="greeting", sections=[
    MarkdownSection[Who](title="Greeting", key="greeting", template="Hello ${name}, ${times} times."),
    MarkdownSection[None](title="Rules", key="rules", template="Be kind.", summary="Some rules.",
        visibility=SectionVisibility.SUMMARY, children=[
        MarkdownSection[None](title="More", key="more", template="Be brief.", summary="More.",
            visibility=SectionVisibility.SUMMARY)]),
])
"""  # noqa: E501  # The prompt's own text.


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "greeting.py").write_text(PROMPT)
    return tmp_path


async def text_of(client: Client, prompt: str, /, **arguments: str) -> str:
    result = await client.get_prompt(prompt, arguments)
    (message,) = result.messages
    assert message.role == "user"
    assert isinstance(message.content, types.TextContent)
    return message.content.text


async def test_listing_executes_nothing_and_rendering_says_how_to_trust(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,))) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.name == "demo/greeting"
        assert prompt.description == "template in greeting.py: Greeting, Rules"
        assert [(argument.name, argument.required) for argument in prompt.arguments or ()] == [
            ("name", True),
            ("times", False),
            ("open_sections", False),
        ]
        with pytest.raises(MCPError, match="foldline mcp --trust") as caught:
            await client.get_prompt("demo/greeting", {"name": "Ada"})
        assert caught.value.data == {"kind": "untrusted"}
    assert not (workspace / "executed").exists()


SHOP = """
from dataclasses import dataclass
from foldline.prompts import EachSection, MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Doc:
    title: str

@dataclass(frozen=True)
class Product:
    name: str
    docs: tuple[Doc, ...] = ()

@dataclass(frozen=True)
class Customer:
    name: str
    history: list[Doc] | None = None

shop = PromptTemplate(ns="demo", key="shop", sections=[
    MarkdownSection[Product](title="Product", key="product", template="${name}"),
    MarkdownSection[Customer](title="Customer", key="customer", template="${name}"),
    EachSection[Product, Doc](title="Docs", key="docs", items="docs", template="${title}"),
])
"""


async def test_fields_of_one_name_are_told_apart_and_those_that_are_no_arguments_are_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    async with connect_here(Options(roots=(tmp_path,))) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.description == (
            "shop in shop.py: Product, Customer, Docs; "
            "not arguments, as no text gives them: docs, history"
        )
        assert [(one.name, one.description) for one in prompt.arguments or ()] == [
            ("Product.name", "the field name of Product; str"),
            ("Customer.name", "the field name of Customer; str"),
        ]


async def test_a_trusted_prompt_that_prints_renders_over_standard_output(workspace: Path) -> None:
    async with connect("--root", str(workspace), "--trust") as client:
        text = await text_of(client, "demo/greeting", name="Ada", times="3")
        assert "Hello Ada, 3 times." in text
        assert "Some rules." in text
        assert "Be kind." not in text
        opened = await text_of(client, "template", name="Ada", open_sections=" rules , rules.more")
        assert "Be kind." in opened
        assert "Be brief." in opened
        assert "summarized" not in opened
    assert (workspace / "executed").exists()


async def test_a_section_deep_inside_summaries_is_opened_with_those_around_it(
    tmp_path: Path,
) -> None:
    folded = "visibility=SectionVisibility.SUMMARY"
    (tmp_path / "deep.py").write_text(
        "from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility\n"
        f"c = MarkdownSection[None](title='C', key='c', template='CC', summary='3', {folded})\n"
        "b = MarkdownSection[None](title='B', key='b', template='BB', summary='2', "
        f"{folded}, children=[c])\n"
        "a = MarkdownSection[None](title='A', key='a', template='AA', summary='1', "
        f"{folded}, children=[b])\n"
        "template = PromptTemplate(ns='demo', key='deep', sections=[a])\n"
    )
    async with connect_here(Options(roots=(tmp_path,), trusted=True)) as client:
        text = await text_of(client, "demo/deep", open_sections="a.b.c")
        assert text == "## 1. A\n\nAA\n\n### 1.1. B\n\nBB\n\n#### 1.1.1. C\n\nCC"


async def test_the_example_tells_what_can_be_opened() -> None:
    async with connect_here(Options(roots=(EXAMPLE,), trusted=True)) as client:
        result = await client.get_prompt(REVIEW, {"files": "auth/tokens.py, auth/models.py"})
        assert "to be opened by open_sections: reference-docs" in (result.description or "")
        text = await text_of(client, REVIEW, open_sections="reference-docs")
        assert "**S1**" in text
        assert "Review the authentication module" in text


async def test_wrong_arguments_say_what_fits(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        for name, arguments, said in (
            ("demo/greting", {}, "did you mean demo/greeting"),
            ("demo/greeting", {}, "demo/greeting needs name"),
            ("demo/greeting", {"nam": "Ada"}, "has no argument 'nam'; there is name"),
            ("demo/greeting", {"name": "Ada", "times": "x"}, "times: 'x' is not int"),
            ("demo/greeting", {"name": "Ada", "open_sections": "rule"}, "did you mean 'rules'"),
            ("demo/greeting", {"name": "Ada", "open_sections": "greeting"}, "'greeting'"),
        ):
            with pytest.raises(MCPError) as caught:
                await client.get_prompt(name, arguments)
            assert said in caught.value.message
            assert caught.value.code == types.INVALID_PARAMS


async def test_a_module_that_fails_is_an_error_with_its_line(workspace: Path) -> None:
    file = workspace / "greeting.py"
    file.write_text(PROMPT.replace("print(", "1 / 0\nprint("))
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        with pytest.raises(MCPError, match="division by zero") as caught:
            await client.get_prompt("demo/greeting", {"name": "Ada"})
        line = file.read_text().splitlines().index("1 / 0") + 1
        assert caught.value.message.endswith(f"({file}:{line})")
        assert caught.value.data == {"kind": "exception", "file": str(file), "line": line}
        assert (await client.list_prompts()).prompts


async def test_placeholders_stay_in_text_and_count_as_not_given_elsewhere(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        text = await text_of(client, "demo/greeting", name="$1", times="$2", open_sections="$3")
        assert "Hello $1, 1 times." in text
        assert "Some rules." in text
        with pytest.raises(MCPError, match="times: '\\$x' is not int"):
            await text_of(client, "demo/greeting", name="$1", times="$x")


async def test_a_placeholder_is_no_choice_of_a_literal(tmp_path: Path) -> None:
    (tmp_path / "tone.py").write_text(
        "from dataclasses import dataclass\n"
        "from typing import Literal\n"
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "@dataclass(frozen=True)\n"
        "class Tone:\n"
        "    tone: Literal['kind', 'brief'] = 'kind'\n"
        "section = MarkdownSection[Tone](title='Tone', key='tone', template='Be ${tone}.')\n"
        "template = PromptTemplate(ns='demo', key='tone', sections=[section])\n"
    )
    async with connect_here(Options(roots=(tmp_path,), trusted=True)) as client:
        assert "Be kind." in await text_of(client, "demo/tone", tone="$1")
        assert "Be brief." in await text_of(client, "demo/tone", tone="brief")


async def test_open_sections_are_completed_one_after_another(workspace: Path) -> None:
    reference = types.PromptReference(name="demo/greeting")

    async def complete(client: Client, name: str, value: str) -> list[str]:
        result = await client.complete(reference, {"name": name, "value": value})
        return list(result.completion.values)

    async with connect_here(Options(roots=(workspace,))) as client:
        assert await complete(client, "open_sections", "") == ["rules", "rules.more"]
        assert await complete(client, "open_sections", "rules.m") == ["rules.more"]
        assert await complete(client, "open_sections", "rules,r") == ["rules,rules.more"]
        assert await complete(client, "name", "A") == []


async def test_many_prompts_are_listed_in_pages(tmp_path: Path) -> None:
    templates = [
        f'p{number} = PromptTemplate(ns="many", key="k{number:03}", sections=[])'
        for number in range(150)
    ]
    source = "\n".join(["from foldline.prompts import PromptTemplate", *templates])
    (tmp_path / "many.py").write_text(source)
    async with connect_here(Options(roots=(tmp_path,))) as client:
        first = await client.list_prompts()
        second = await client.list_prompts(cursor=first.next_cursor)
        assert second.next_cursor is None
        names = [prompt.name for page in (first, second) for prompt in page.prompts]
        assert names == [f"many/k{number:03}" for number in range(150)]
        with pytest.raises(MCPError, match="leave it out"):
            await client.list_prompts(cursor="soon")


@pytest.mark.parametrize("denied", [True, False])
async def test_a_project_denies_its_prompts_the_network(workspace: Path, denied: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        connect_to_it = f"import socket\nsocket.create_connection({listener.getsockname()})\n"
        (workspace / "greeting.py").write_text(connect_to_it + PROMPT)
        if denied:
            (workspace / "pyproject.toml").write_text('[tool.foldline.preview]\nnetwork = "deny"\n')
        async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
            if denied:
                with pytest.raises(MCPError, match=r"preview\.network denies it"):
                    await client.get_prompt("demo/greeting", {"name": "Ada"})
                with pytest.raises(BlockingIOError):
                    listener.accept()
            else:
                assert "Hello Ada" in await text_of(client, "demo/greeting", name="Ada")
                listener.accept()[0].close()
