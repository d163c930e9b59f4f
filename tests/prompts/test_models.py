"""Pydantic models wherever a dataclass is taken: parameters, items, outputs and tools."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from datetime import date, timedelta
from enum import Enum
from typing import Annotated, Any, Literal, cast

import pytest
from anthropic import transform_schema
from pydantic import BaseModel, Field, RootModel, field_validator

from foldline.prompts import (
    EachSection,
    Example,
    ExamplesSection,
    MarkdownSection,
    PromptTemplate,
    ReprPlaceholderWarning,
    Stability,
    Stable,
    Tool,
    ToolContext,
    ToolExample,
    ToolResult,
    as_json,
    bullets,
    or_else,
    parse_structured_output,
)
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.adapters.openai import output_format
from foldline.prompts.cache.stability import of_fields
from foldline.prompts.errors import (
    OutputParseError,
    PromptRenderError,
    PromptValidationError,
    ToolValidationError,
)
from foldline.prompts.output.schema import schema_of


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Item(BaseModel):
    name: str = Field(description="What is ordered.", min_length=2)
    count: int = Field(default=1, ge=1, alias="howMany")


class Order(BaseModel):
    who: str
    tags: Annotated[tuple[str, ...], bullets] = ()
    note: Annotated[str | None, or_else("no note")] = None
    first: Annotated[Item, as_json] = Field(default=Item(name="ink"), description="The first one.")
    items: list[Item] = Field(default_factory=list)
    level: Level = Level.LOW
    kind: Literal["new", "old"] = "new"
    due: date | None = None

    @field_validator("who")
    @classmethod
    def is_known(cls, who: str) -> str:
        if who == "nobody":
            raise ValueError("nobody orders nothing")
        return who.title()


class Node(BaseModel):
    name: str
    below: list[Node] = []


@dataclasses.dataclass(frozen=True)
class Basket:
    items: tuple[Item, ...]


def section(template: str = "${who}: ${tags} ${note} ${first}") -> MarkdownSection[Order]:
    return MarkdownSection[Order](title="Order", key="order", template=template)


def template() -> PromptTemplate[None]:
    return PromptTemplate(ns="n", key="k", sections=[section()])


def test_a_model_is_bound_and_shown_as_a_dataclass_is() -> None:
    text = template().render(Order(who="ada", tags=("a", "b"))).text
    assert text == ('## 1. Order\n\nAda: - a\n- b no note {"name": "ink", "howMany": 1}')
    default = MarkdownSection[Order](
        title="A", key="a", template="${who}", default_params=Order(who="bob")
    )
    assert PromptTemplate(ns="n", key="k", sections=[default]).render().text.endswith("Bob")


def test_a_placeholder_that_is_no_field_of_the_model_is_refused_with_near_names() -> None:
    with pytest.raises(
        PromptValidationError, match=r"isn't a field of Order. Did you mean `\$\{who"
    ):
        section("${woh}")


def test_a_field_of_a_model_that_shows_as_python_writes_it_is_warned_of() -> None:
    with pytest.warns(ReprPlaceholderWarning) as caught:
        MarkdownSection[Order](title="T", key="k", template="${items} ${level}")
    assert ["items: Annotated[list[Item], bullets]" in str(one.message) for one in caught] == [
        True,
        False,
    ]

    class Holder(BaseModel):
        item: Item

    with pytest.warns(ReprPlaceholderWarning, match=r"item: Annotated\[Item, as_json\]"):
        MarkdownSection[Holder](title="T", key="k", template="${item}")


def test_a_model_without_a_value_for_a_field_is_asked_for() -> None:
    with pytest.raises(
        PromptRenderError, match=r"bind an instance of Order \(no default for who\)"
    ):
        template().render()
    with pytest.raises(PromptValidationError, match=r"bind an instance: render\(Order\(who=…\)\)"):
        template().render(who="ada")  # type: ignore[arg-type]  # The mistake.


def test_items_and_examples_may_be_models() -> None:
    listed = EachSection[Order, Item](
        title="Items", key="items", items="items", template="${count} ${name}", separator="; "
    )
    assert listed.render(Order(who="a", items=[Item(name="ink"), Item(name="pen", howMany=2)])) == (
        "1 ink; 2 pen"
    )
    shown = ExamplesSection[None, str, Item](items=[Example("a", Item(name="ink", howMany=3))])
    assert '{"name": "ink", "howMany": 3}' in shown.render()


def test_a_model_declares_how_often_its_fields_change() -> None:
    class Two(BaseModel):
        rare: Annotated[str, Stable] = ""
        other: str = ""

    assert of_fields(Two) == {"rare": Stable, "other": Stability.UNKNOWN}


def test_an_answer_becomes_a_model_by_the_models_own_rules() -> None:
    rendered = PromptTemplate[Order](ns="n", key="k", sections=[section()]).render(Order(who="a"))
    answer = """{
        "who": "ada", "items": [{"name": "pen", "howMany": 2}], "due": "2026-11-21", "level": "high"
    }"""
    made = parse_structured_output(answer, rendered)
    assert made.who == "Ada"
    assert (made.items[0].count, made.level, str(made.due)) == (2, Level.HIGH, "2026-11-21")


@pytest.mark.parametrize(
    ("answer", "path", "message"),
    [
        ('{"who": "nobody"}', "$.who", "Value error, nobody orders nothing"),
        (
            '{"who": "a", "items": [{"name": "pen"}, {"name": "x"}]}',
            "$.items[1].name",
            "at least 2",
        ),
        ('{"items": 3}', "$.who", "Field required"),
        ('{"who": "a", "kind": "odd"}', "$.kind", "Input should be 'new' or 'old'"),
        ("[1]", "$", "expected an object for Order, got an array"),
    ],
)
def test_an_answer_that_the_model_refuses_is_located(answer: str, path: str, message: str) -> None:
    rendered = PromptTemplate[Order](ns="n", key="k", sections=[section()]).render(Order(who="a"))
    with pytest.raises(OutputParseError, match=message) as raised:
        parse_structured_output(answer, rendered)
    assert (raised.value.json_path, raised.value.raw_response) == (path, answer)
    assert raised.value.dataclass_type is Order


def test_a_list_of_models_and_a_model_that_holds_itself_are_outputs() -> None:
    text = MarkdownSection[None](title="T", key="t", template="x")
    rendered = PromptTemplate[list[Node]](ns="n", key="k", sections=[text]).render()
    made = parse_structured_output('[{"name": "a", "below": [{"name": "b"}]}]', rendered)
    assert made[0].below[0] == Node(name="b")
    config = rendered.structured_output
    assert config is not None
    strict = config.strict_schema
    assert strict.strict
    assert strict.schema["$defs"] == {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "below": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["name", "below"],
            "additionalProperties": False,
        }
    }
    one = PromptTemplate[Node](ns="n", key="k", sections=[text]).structured_output
    assert one is not None
    assert one.strict_schema.schema["type"] == "object"


def test_the_schema_of_a_model_has_its_rules_and_in_strict_modes_in_words() -> None:
    config = PromptTemplate[Order](ns="n", key="k", sections=[section()]).structured_output
    assert config is not None
    schema: dict[str, Any] = config.schema
    assert schema["required"] == ["who"]
    assert schema["properties"]["first"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "description": "What is ordered."},
            "howMany": {"type": "integer", "minimum": 1},
        },
        "required": ["name"],
        "additionalProperties": False,
        "description": "The first one.",
    }
    assert config.strict_schema.strict
    strict: dict[str, Any] = config.strict_schema.schema
    assert strict["required"] == list(strict["properties"])
    # Pydantic takes null only where the type says so, also for a field that has a default.
    assert strict["properties"]["kind"] == {"type": "string", "enum": ["new", "old"]}
    assert strict["properties"]["due"]["anyOf"] == [
        {"type": "string", "format": "date"},
        {"type": "null"},
    ]
    assert strict["properties"]["first"]["properties"] == {
        "name": {"type": "string", "description": "What is ordered. (minLength: 2)"},
        "howMany": {"type": "integer", "description": "(minimum: 1)"},
    }


def test_a_type_that_pydantic_alone_knows_has_the_schema_that_it_gives() -> None:
    class Times(BaseModel):
        took: timedelta
        each: list[timedelta] = []

    properties = cast("dict[str, object]", schema_of(Times)["properties"])
    assert properties["took"] == {"type": "string", "format": "duration"}
    assert properties["each"] == {
        "type": "array",
        "items": {"type": "string", "format": "duration"},
    }
    rendered = PromptTemplate[Times](ns="n", key="k", sections=[]).render()
    assert parse_structured_output('{"took": "PT3S"}', rendered).took == timedelta(seconds=3)


def test_a_key_that_the_model_lacks_is_refused_with_near_names() -> None:
    rendered = PromptTemplate[Order](ns="n", key="k", sections=[]).render()
    with pytest.raises(OutputParseError, match="Order has no field 'itmes'; did you mean 'items'"):
        parse_structured_output('{"who": "a", "itmes": []}', rendered)
    lenient = PromptTemplate[Order](ns="n", key="k", sections=[], allow_extra_keys=True).render()
    assert parse_structured_output('{"who": "a", "itmes": []}', lenient).items == []


def test_a_root_model_is_no_model_of_fields() -> None:
    with pytest.raises(PromptValidationError, match="must be a dataclass, a Pydantic model, or"):
        PromptTemplate[RootModel[list[int]]](ns="n", key="k", sections=[])


def test_providers_get_the_schema_of_a_model_in_their_strict_modes() -> None:
    rendered = PromptTemplate[list[Order]](ns="n", key="k", sections=[]).render()
    sent = output_format(rendered)
    assert sent is not None
    assert (sent["name"], sent["strict"]) == ("Order", True)
    # Anthropic's own converter would move what its strict mode doesn't take to the descriptions.
    schema = cast("dict[str, object]", sent["schema"])
    assert str(transform_schema(schema)).count("description") == str(schema).count("description")


@pytest.mark.parametrize(
    ("hint", "obstacle"),
    [
        (dict[str, int], "$.x is a mapping with arbitrary keys"),
        (object, "$.x takes anything"),
        (tuple[int, str], "$.x is an array of different items"),
    ],
)
def test_what_strict_modes_cannot_express_of_a_model_is_named(hint: object, obstacle: str) -> None:
    kind = type("Wide", (BaseModel,), {"__annotations__": {"x": hint}, "__module__": __name__})
    config = PromptTemplate[kind](ns="n", key="k", sections=[]).structured_output  # type: ignore[valid-type]  # Made here.
    assert config is not None
    assert config.strict_schema.obstacles == (obstacle,)


def test_a_dataclass_may_hold_models() -> None:
    properties = cast("dict[str, dict[str, object]]", schema_of(Basket)["properties"])
    assert properties["items"] == {"type": "array", "items": schema_of(Item)}
    rendered = PromptTemplate[Basket](ns="n", key="k", sections=[]).render()
    made = parse_structured_output('{"items": [{"name": "pen"}]}', rendered)
    assert made == Basket((Item(name="pen"),))
    with pytest.raises(OutputParseError, match=r"\$\.items\[0\]\.name: Field required"):
        parse_structured_output('{"items": [{}]}', rendered)


def test_a_model_without_a_json_form_is_refused_with_pydantics_reason() -> None:
    class Calls(BaseModel):
        call: Callable[[], int]

    with pytest.raises(PromptValidationError, match=r"\$: Calls has no JSON form: Cannot generate"):
        PromptTemplate[Calls](ns="n", key="k", sections=[])


def order(params: Item, *, context: ToolContext) -> ToolResult[Item]:
    del context
    return ToolResult(message=f"{params.count} {params.name}", value=params)


def test_a_tool_takes_and_gives_models() -> None:
    example = ToolExample("One pen", Item(name="pen"), Item(name="pen", howMany=2))
    tool = Tool[Item, Item](name="order", description="Orders.", handler=order, examples=[example])
    assert tool.param_descriptions == {"name": "What is ordered."}
    assert tool.parameters["examples"] == [{"name": "pen", "howMany": 1}]
    assert tool.decode('{"name": "pen", "howMany": 3}') == Item(name="pen", howMany=3)
    with pytest.raises(ToolValidationError, match=r"\$\.name: String should have at least 2"):
        tool.decode({"name": "p"})
    text = MarkdownSection[None](title="T", key="t", template="x", tools=[tool])
    calls: list[dict[str, object]] = [{"name": "p"}, {"name": "pen", "howMany": 2}]
    turns = [ScriptedTurn(tool_calls=(ScriptedCall("order", call),)) for call in calls]
    adapter = ScriptedAdapter(Transcript.of([*turns, ScriptedTurn("done")]))
    response = adapter.evaluate(PromptTemplate(ns="n", key="k", sections=[text]))
    refused, done = (outcome.result for outcome in response.tool_outcomes)
    assert not refused.success
    assert "String should have at least 2 characters" in refused.message
    assert (done.message, done.value) == ("2 pen", Item(name="pen", howMany=2))


@pytest.mark.real
def test_the_library_never_imports_pydantic() -> None:
    imports = "import sys, foldline.prompts, foldline.prompts.forms.values"
    code = f"{imports}; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_no_warning_comes_from_reading_a_model() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert template().render(Order(who="ada")).text
        assert json.dumps(Tool[Item, None](name="x", description="d", handler=order).parameters)  # type: ignore[arg-type]
