"""Tools: names, types, schemas, examples, clashes."""

import enum
from dataclasses import dataclass, field
from typing import Any

import pytest

from foldline.prompts import (
    Chapter,
    MarkdownSection,
    PromptTemplate,
    Tool,
    ToolContext,
    ToolExample,
    ToolResult,
)
from foldline.prompts.adapters.schemas import anthropic_tools, openai_tools
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptValidationError, ToolValidationError


class Order(enum.StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"


@FrozenDataclass()
class Search:
    query: str = field(metadata={"description": "What to look for."})
    limit: int = 10
    order: Order = Order.NEWEST


def search(params: Search, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult(message=f"found {params.query}", value=params.query)


def nothing(params: None, *, context: ToolContext) -> ToolResult[None]:
    return ToolResult()


def tool(name: str = "search") -> Tool[Search, str]:
    return Tool[Search, str](name=name, description=" Search. ", handler=search)


def section(key: str, *tools: Tool[object, object]) -> MarkdownSection[None]:
    return MarkdownSection[None](title=key, key=key, template="x", tools=tools)


@pytest.mark.parametrize("name", ["a", "read_section2", "a-b_c", "0", "x" * 64])
def test_good_tool_names_are_accepted(name: str) -> None:
    assert tool(name).name == name


@pytest.mark.parametrize("name", ["", "A", "a.b", "a b", "é", "x" * 65, "a\n"])
def test_other_tool_names_are_refused(name: str) -> None:
    with pytest.raises(PromptValidationError, match="Tool name"):
        tool(name)


def test_a_tool_knows_its_types_and_is_called_with_a_context() -> None:
    made = tool()
    assert (made.params_type, made.result_type, made.description) == (Search, str, "Search.")
    result = made.handler(Search("x"), context=ToolContext())
    assert (result.success, result.value, result.message) == (True, "x", "found x")


def test_a_tool_must_be_specialised_with_a_dataclass_or_none() -> None:
    with pytest.raises(PromptValidationError, match="must be specialised"):
        Tool(name="t", description="x", handler=search)
    with pytest.raises(PromptValidationError, match="a dataclass, a Pydantic model or None"):
        Tool[int, str](name="t", description="x", handler=search)  # type: ignore[arg-type]
    assert Tool[None, None](name="t", description="x", handler=nothing).params_type is None


def test_a_tool_needs_a_description_and_a_handler() -> None:
    with pytest.raises(PromptValidationError, match="description"):
        Tool[Search, str](name="t", description=" ", handler=search)
    with pytest.raises(PromptValidationError, match="handler"):
        Tool[Search, str](name="t", description="x", handler=None)  # type: ignore[arg-type]


def test_parameters_that_json_cannot_express_are_refused_at_construction() -> None:
    @dataclass
    class Bad:
        it: complex

    def bad(params: Bad, *, context: ToolContext) -> ToolResult[None]:
        return ToolResult()

    with pytest.raises(PromptValidationError, match="complex has no JSON form"):
        Tool[Bad, None](name="t", description="x", handler=bad)


def test_the_schema_has_descriptions_and_examples() -> None:
    made = Tool[Search, str](
        name="search",
        description="Search.",
        handler=search,
        examples=[ToolExample("A plain search.", Search("x"), "found x")],
    )
    assert made.parameters == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for."},
            "limit": {"type": "integer"},
            "order": {"type": "string", "enum": ["newest", "oldest"]},
        },
        "required": ["query"],
        "additionalProperties": False,
        "examples": [{"query": "x", "limit": 10, "order": "newest"}],
    }
    assert dict(made.param_descriptions) == {"query": "What to look for."}


def test_the_model_reads_the_examples_with_their_results() -> None:
    made = Tool[Search, str](
        name="search",
        description="Search.",
        handler=search,
        examples=[
            ToolExample("A plain search.", Search("é"), "found é"),
            ToolExample("Without a result.", Search("x")),
        ],
    )
    call = '{{"query": "{}", "limit": 10, "order": "newest"}}'
    rendered = PromptTemplate(ns="n", key="k", sections=[section("a", made)]).render()
    description = anthropic_tools(rendered)[0]["description"]
    function: Any = openai_tools(rendered)[0]["function"]
    assert function["description"] == description
    assert description == (
        f"Search.\n\nExample: A plain search. {call.format('é')} returns found é\n\n"
        f"Example: Without a result. {call.format('x')}"
    )


def test_a_tool_without_parameters_has_an_empty_object_for_a_schema() -> None:
    made = Tool[None, None](name="t", description="x", handler=nothing)
    assert made.parameters["properties"] == {}
    assert made.decode("") is None
    assert made.decode({}) is None
    with pytest.raises(ToolValidationError, match="takes no arguments"):
        made.decode({"x": 1})


def test_an_example_of_another_type_is_refused() -> None:
    with pytest.raises(PromptValidationError, match="example 'bad' gives Order"):
        Tool[Search, str](
            name="t",
            description="x",
            handler=search,
            examples=[ToolExample("bad", Order.NEWEST)],  # type: ignore[arg-type]
        )


def test_arguments_are_decoded_from_text_or_a_mapping() -> None:
    expected = Search("x", 3, Order.OLDEST)
    assert tool().decode('{"query": "x", "limit": 3, "order": "oldest"}') == expected
    assert tool().decode({"query": "x", "limit": "3", "order": "oldest"}) == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{", "not JSON"),
        ("[1]", "must be a JSON object"),
        ('{"query": 3}', r"\$\.query: expected a string"),
        ('{"qeury": "x"}', "did you mean 'query'"),
        ("{}", r"\$\.query: required"),
    ],
)
def test_unusable_arguments_are_refused_with_the_place(arguments: str, words: str) -> None:
    with pytest.raises(ToolValidationError, match=words):
        tool().decode(arguments)


def test_two_tools_of_one_section_are_refused_with_its_key() -> None:
    with pytest.raises(PromptValidationError, match="'search', in the section 'a'; rename"):
        PromptTemplate(ns="n", key="k", sections=[section("a", tool(), tool())])


def test_a_handlers_signature_is_checked_when_the_tool_is_made() -> None:
    def without_context(params: object) -> ToolResult[None]:
        return ToolResult()

    with pytest.raises(PromptValidationError, match=r"`handler\(params, context=context\)`"):
        Tool[None, None](name="t", description="d", handler=without_context)  # type: ignore[arg-type]  # This is the error.
    Tool[None, None](name="t", description="d", handler=dict)  # type: ignore[arg-type]  # It has no signature.


def test_two_tools_of_one_name_are_refused_even_inside_a_chapter() -> None:
    with pytest.raises(PromptValidationError, match="Two tools have the name 'search'"):
        PromptTemplate(ns="n", key="k", sections=[section("a", tool()), section("b", tool())])
    with pytest.raises(PromptValidationError, match="Two tools have the name 'search'"):
        PromptTemplate(
            ns="n",
            key="k",
            sections=[section("a", tool())],
            chapters=[Chapter[None](key="c", title="C", sections=[section("b", tool())])],
        )


def test_only_tools_are_tools() -> None:
    with pytest.raises(PromptValidationError, match="is not a Tool"):
        section("a", search)  # type: ignore[arg-type]
