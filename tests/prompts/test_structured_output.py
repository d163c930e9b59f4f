"""Structured output: what is declared, the schemas, finding and reading the answer."""

import enum
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NewType, Optional, TypeVar

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from foldline.prompts import (
    ParsedOutput,
    PromptTemplate,
    RenderedPrompt,
    parse_output,
    parse_structured_output,
)
from foldline.prompts.errors import OutputParseError, PromptError, PromptValidationError
from foldline.prompts.output.parsing import MAX_ATTEMPTS
from foldline.prompts.output.schema import schema_of

T = TypeVar("T")
UserId = NewType("UserId", int)


class Severity(enum.StrEnum):
    HIGH = "high"
    LOW = "low"


class Level(enum.Enum):
    ONE = 1
    TWO = 2


@dataclass
class Step:
    title: str = field(metadata={"description": "What to do."})
    minutes: int = 5


@dataclass
class Plan:
    summary: str
    steps: list[Step]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: tuple[T, ...]


@dataclass(frozen=True)
class IntPage(Page[int]):
    label: str = ""


@dataclass
class Tree:
    name: str
    below: "list[Tree]" = field(default_factory=list)


@dataclass
class Everything:
    text: str
    flag: bool
    count: int
    ratio: float
    nothing: None
    choice: Literal["a", 1, None]
    severity: Severity
    level: Level
    either: int | str
    maybe: Optional[Step]  # noqa: UP045 - the older spelling is supported too
    names: list[str]
    fixed: tuple[int, str]
    many: tuple[float, ...]
    unique: frozenset[int]
    sequence: Sequence[str]
    table: dict[str, int]
    mapping: Mapping[str, Step]
    user: UserId
    noted: Annotated[int, "a note"]
    anything: object
    whatever: Any
    when: datetime
    day: date
    ident: uuid.UUID
    price: Decimal


EVERYTHING: dict[str, object] = {
    "text": "t",
    "flag": True,
    "count": 1,
    "ratio": 0.5,
    "nothing": None,
    "choice": 1,
    "severity": "low",
    "level": 2,
    "either": "3",
    "maybe": {"title": "x"},
    "names": ["n"],
    "fixed": [1, "a"],
    "many": [1.0, 2],
    "unique": [1, 2],
    "sequence": ["s"],
    "table": {"a": 1},
    "mapping": {"a": {"title": "y"}},
    "user": 7,
    "noted": 8,
    "anything": [1, {"b": None}],
    "whatever": "w",
    "when": "2026-11-21T10:00:00+00:00",
    "day": "2026-11-21",
    "ident": "12345678-1234-5678-1234-567812345678",
    "price": "12.50",
}


def declared(kind: type[T], *, allow_extra_keys: bool = False) -> RenderedPrompt[T]:
    template = PromptTemplate[kind](ns="n", key="k", allow_extra_keys=allow_extra_keys)  # type: ignore[valid-type]
    return template.render()


def parse(kind: type[T], value: object, *, allow_extra_keys: bool = False) -> T:
    text = value if isinstance(value, str) else json.dumps(value)
    return parse_structured_output(text, declared(kind, allow_extra_keys=allow_extra_keys))


def failure(kind: object, value: object) -> OutputParseError:
    with pytest.raises(OutputParseError) as caught:
        parse(kind, value)  # type: ignore[arg-type]
    return caught.value


def one_field(hint: object) -> type[Any]:
    return dataclass(type("Holder", (), {"__annotations__": {"it": hint}, "__module__": __name__}))


# Declaration


def test_an_object_or_an_array_of_a_dataclass_is_declared() -> None:
    one, many = declared(Plan), declared(list[Plan])
    assert (one.output_type, one.container) == (Plan, "object")
    assert (many.output_type, many.container) == (Plan, "array")


@pytest.mark.parametrize("kind", [int, str, dict, list, list[int], tuple[Plan, ...], Plan | None])
def test_other_types_are_refused(kind: object) -> None:
    with pytest.raises(PromptValidationError, match="must be a dataclass"):
        PromptTemplate[kind](ns="n", key="k")  # type: ignore[valid-type]


def test_a_field_that_json_cannot_express_is_refused_with_its_place() -> None:
    @dataclass
    class Bad:
        it: list[complex]

    with pytest.raises(PromptValidationError, match=r"\$\.it\[\*\]: complex has no JSON form"):
        declared(Bad)

    @dataclass
    class Keyed:
        it: dict[int, str]

    with pytest.raises(PromptValidationError, match="keys of a JSON object are strings"):
        declared(Keyed)


def test_unknown_keys_are_refused_unless_allowed() -> None:
    value = {"title": "x", "minuts": 3}
    error = failure(Step, value)
    assert error.json_path == "$.minuts"
    assert error.near == ("minutes",)
    assert parse(Step, value, allow_extra_keys=True) == Step("x", 5)


def test_the_rule_holds_for_nested_objects() -> None:
    value = {"summary": "s", "steps": [{"title": "x", "zzz": 1}]}
    assert failure(Plan, value).json_path == "$.steps[0].zzz"
    assert parse(Plan, value, allow_extra_keys=True).steps == [Step("x")]


# Schemas


def test_the_schema_is_part_of_the_rendered_prompt_and_not_of_its_text() -> None:
    rendered = declared(Plan)
    assert rendered.structured_output is not None
    assert rendered.structured_output.schema == {
        "type": "object",
        "properties": {
            "summary": {"type": "string"},
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string", "description": "What to do."},
                        "minutes": {"type": "integer"},
                    },
                    "required": ["title"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["summary", "steps"],
        "additionalProperties": False,
    }
    assert rendered.text == ""


def test_an_array_has_an_array_schema_and_extra_keys_show() -> None:
    config = declared(list[Step], allow_extra_keys=True).structured_output
    assert config is not None
    schema = config.schema
    assert schema["type"] == "array"
    assert schema["items"]["additionalProperties"] is True  # type: ignore[index]


def test_every_supported_type_has_its_schema() -> None:
    properties = schema_of(Everything)["properties"]
    assert isinstance(properties, dict)
    assert properties["choice"] == {"enum": ["a", 1, None]}
    assert properties["severity"] == {"type": "string", "enum": ["high", "low"]}
    assert properties["level"] == {"type": "integer", "enum": [1, 2]}
    assert properties["either"] == {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert properties["maybe"]["anyOf"][1] == {"type": "null"}
    assert properties["fixed"] == {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "minItems": 2,
        "maxItems": 2,
    }
    assert properties["many"] == {"type": "array", "items": {"type": "number"}}
    assert properties["unique"]["uniqueItems"] is True
    assert properties["table"] == {
        "type": "object",
        "additionalProperties": {"type": "integer"},
    }
    assert properties["user"] == properties["noted"] == {"type": "integer"}
    assert properties["anything"] == properties["whatever"] == {}
    assert properties["when"] == {"type": "string", "format": "date-time"}
    assert properties["nothing"] == {"type": "null"}


def test_a_schema_is_fresh_each_time() -> None:
    config = declared(Plan).structured_output
    assert config is not None
    config.schema.clear()
    assert config.schema["type"] == "object"


def test_a_dataclass_that_contains_itself_is_a_definition() -> None:
    schema = schema_of(Tree)
    assert schema["properties"]["below"]["items"] == {"$ref": "#/$defs/Tree"}  # type: ignore[index]
    assert schema["$defs"]["Tree"]["required"] == ["name"]  # type: ignore[index]
    value = {"name": "a", "below": [{"name": "b"}]}
    assert parse(Tree, value) == Tree("a", [Tree("b")])


def test_generic_dataclasses_know_their_arguments() -> None:
    assert parse(Page[int], {"items": [1]}) == Page((1,))
    assert failure(Page[int], {"items": ["x"]}).json_path == "$.items[0]"
    assert parse(IntPage, {"items": [1], "label": "l"}) == IntPage((1,), "l")
    assert failure(IntPage, {"items": ["x"]}).json_path == "$.items[0]"
    assert parse(list[Page[Step]], [{"items": [{"title": "t"}]}]) == [Page((Step("t"),))]


def test_the_strict_schema_is_an_object_that_requires_everything() -> None:
    config = declared(list[Step]).structured_output
    assert config is not None
    strict = config.strict_schema
    assert (strict.wrapped_in, strict.strict) == ("items", True)
    assert strict.schema["required"] == ["items"]
    item = strict.schema["properties"]["items"]["items"]  # type: ignore[index]
    assert item["required"] == ["title", "minutes"]
    assert item["properties"]["minutes"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


def test_the_strict_schema_says_what_stands_in_its_way() -> None:
    config = declared(Everything, allow_extra_keys=True).structured_output
    assert config is not None
    strict = config.strict_schema
    assert not strict.strict
    assert "extra keys are allowed" in strict.obstacles
    assert "$.table is a mapping with arbitrary keys" in strict.obstacles


@pytest.mark.parametrize("hint", [list, tuple, set, Sequence, list | str, list[Any]])
def test_an_array_of_anything_is_not_strict(hint: object) -> None:
    config = declared(one_field(hint)).structured_output
    assert config is not None
    assert config.strict_schema.obstacles == ("$.it[*] takes anything",)


# Finding the JSON


STEP = '{"title": "x"}'


@pytest.mark.parametrize(
    "text",
    [
        f"Here:\n```json\n{STEP}\n```\nDone.",
        f"```JSON\n{STEP}\n```",
        f"> ```json\n{STEP}\n```",
        "> " + json.dumps(json.loads(STEP), indent=1).replace("\n", "\n> "),
        STEP,
        f"\n\n  {STEP}  \n",
        f"The answer is {STEP}, I think.",
        f"As noted [1] and {{so on}}: {STEP}",
        f"```\n{STEP}\n```",
        f"```json\nnot json\n```\n{STEP}",
    ],
)
def test_json_is_found_in_fences_in_the_whole_or_by_scanning(text: str) -> None:
    assert parse(Step, text) == Step("x")


def test_a_fenced_block_is_preferred_to_anything_else() -> None:
    text = '{"title": "outside"}\n```json\n{"title": "inside"}\n```'
    assert parse(Step, text) == Step("inside")


def test_a_fenced_block_that_does_not_fit_is_not_made_up_for_by_other_json() -> None:
    error = failure(Step, f'```json\n{{"wrong": 1}}\n```\nor {STEP}')
    assert error.json_path == "$.wrong"


def test_backticks_inside_of_a_string_do_not_end_the_block() -> None:
    title = "use ```json\n{}\n``` here"
    assert parse(Step, f"```json\n{json.dumps({'title': title})}\n```") == Step(title)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('First {"wrong": 1} then {"title": "x"}.', Step("x")),
        ('{"title": "x"} or rather {"title": "y", "minutes": 3}', Step("y", 3)),
        ('{"title": "x"}, as said: {"title": "x"}', Step("x")),
        (
            '```json\n{"title": "x", "minutes": 3}\n```\nNo:\n```json\n{"title": "y"}\n```',
            Step("y"),
        ),
    ],
)
def test_of_several_candidates_the_one_that_fills_most_counts(text: str, expected: Step) -> None:
    assert parse(Step, text) == expected


def test_two_different_candidates_that_fill_as_much_are_both_shown() -> None:
    error = failure(Step, f'Either {STEP}\nor {{"title": "late"}}')
    assert '{"title": "x"} at line 1, column 8 and {"title": "late"} at line 2, column 4' in str(
        error
    )


@dataclass
class Loose:
    value: object


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1", "true", False),
        ("[0]", "[false]", False),
        ('{"a": [true]}', '{"a": [1]}', False),
        ("1", "1.0", True),
        ('{"a": [true], "b": 1}', '{"b": 1, "a": [true]}', True),
    ],
)
def test_a_truth_is_no_number_where_two_candidates_are_compared(
    one: str, other: str, same: bool
) -> None:
    text = f'{{"value": {one}}} or {{"value": {other}}}'
    if same:
        assert parse(Loose, text) == Loose(json.loads(one))
    else:
        assert "two values of the message fit Loose equally" in str(failure(Loose, text))


@pytest.mark.parametrize(
    "text",
    [
        '{"name":"root","below":[{"name":"leaf"}',
        '```json\n{"name":"root","below":[{"name":"leaf"}\n```',
        '{"name": root, "below":[{"name":"leaf"}]}',
        'So: [{"name":"a","below":[{"name":"b"}]},{"name":"c","below":[{"name":"d"}]',
    ],
)
@pytest.mark.parametrize("kind", [Tree, list[Tree]])
def test_what_is_inside_of_a_broken_value_is_no_answer(kind: Any, text: str) -> None:
    error = failure(kind, text)
    assert "cut off" in str(error) or "is broken" in str(error)
    end = '\nNo: {"name":"whole"}' if kind is Tree else '\nNo: [{"name":"whole"}]'
    if text.startswith('{"name": root'):
        assert parse(kind, text + end) == (Tree("whole") if kind is Tree else [Tree("whole")])


@dataclass
class Defaults:
    text: str = ""
    count: int = 0


PROSE = [
    "- [ ] still open\n- [x] done",
    "Doc[] is a list of Doc, not [], and [](a.md) links.",
    "```python\nxs = []\nys = {}\n```",
    "function f() {} costs ${} of {x} and {1, 2}, see [1].",
    'look_up({"query": "x"}) gave {"rows": [[1, 2], []]}.',
    "Instead of {} or [] use this.",
]
OTHER_JSON = st.recursive(
    st.none() | st.integers() | st.text('ab"\\{}[]\n', max_size=4),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["query", "rows", "items"]), inner, max_size=2),
    ),
    max_leaves=6,
).map(json.dumps)
AROUND = ["{}", "Result: {}", "```json\n{}\n```", "```\n{}\n```"]
NOISE = st.builds(
    lambda form, text, share: form.replace("{}", text[: len(text) * share // 4]),
    st.sampled_from(
        [
            "{}",
            "Result: {}",
            "```\n{}\n```",
            "- [ ] {}",
            "`{}`",
            "look_up({})",
            "> {}",
            "<b>{}</b>",
            "{},]",
            "'{}",
        ]
    ),
    OTHER_JSON,
    st.sampled_from([4, 4, 4, 3]),
)
LESS = ['For example {"title": "no"}.', 'Or [{"text": "no"}], which says less.']
PIECES = st.lists(st.sampled_from([*PROSE, *LESS]), max_size=3) | st.lists(NOISE, max_size=3)
WORDS = st.text(min_size=1, max_size=5)
STEPS = st.builds(Step, WORDS, st.integers(0, 9))
DEFAULTS = st.builds(Defaults, WORDS, st.integers(0, 9))
ANSWERS = st.one_of(
    *(st.tuples(st.just(kind), answers) for kind, answers in ((Step, STEPS), (Defaults, DEFAULTS))),
    st.tuples(st.just(Plan), st.builds(Plan, WORDS, st.lists(STEPS, max_size=2))),
    st.tuples(st.just(list[Step]), st.lists(STEPS, min_size=1, max_size=3)),
    st.tuples(st.just(list[Defaults]), st.lists(DEFAULTS, min_size=1, max_size=3)),
)


@given(
    planted=ANSWERS,
    before=PIECES,
    after=PIECES,
    form=st.sampled_from([*AROUND, "> {}", "`{}`", "1. {}", "{}."]),
    indent=st.none() | st.just(1),
    wrapped=st.booleans(),
    cut=st.sampled_from([0, 0, 0, 1, 9]),
    allow_extra_keys=st.booleans(),
)
def test_a_planted_answer_is_found_or_refused(
    *,
    planted: tuple[Any, Any],
    before: list[str],
    after: list[str],
    form: str,
    indent: int | None,
    wrapped: bool,
    cut: int,
    allow_extra_keys: bool,
) -> None:
    """Nothing else is taken for it, and prose alone doesn't hide it."""
    kind, answer = planted
    value = [asdict(one) for one in answer] if isinstance(answer, list) else asdict(answer)
    if wrapped and isinstance(answer, list):
        value = {"items": value}
    told = json.dumps(value, indent=indent)
    # An example that is whole would be the answer in place of one that is cut off.
    cut = cut if {*before, *after}.isdisjoint(LESS) else 0
    told = told[: len(told) - cut].replace("\n", "\n> " if form == "> {}" else "\n")
    text = "\n".join([*before, form.replace("{}", told), *after])
    try:
        parsed = parse(kind, text, allow_extra_keys=allow_extra_keys)
    except OutputParseError:
        event("refused")
        assert cut or not {*before, *after} <= {*PROSE, *LESS}
    else:
        event("found")
        assert (parsed, cut) == (answer, 0)


@pytest.mark.parametrize("kind", [list[Defaults], Defaults])
@pytest.mark.parametrize("text", PROSE)
def test_prose_without_an_answer_is_none(kind: Any, text: str) -> None:
    assert "$" in str(failure(kind, text))


@pytest.mark.parametrize(
    "text", ["[]", "There is nothing: []", "Nothing.\n\n[ ]", "```json\n[]\n```"]
)
def test_an_empty_array_is_an_answer_where_it_is_said(text: str) -> None:
    assert parse(list[Step], text) == []


def test_what_strict_modes_wrap_is_unwrapped() -> None:
    assert parse(list[Step], {"items": [{"title": "x"}]}) == [Step("x")]
    assert parse(list[Step], '```json\n{"items": []}\n```') == []


def test_a_key_that_is_given_twice_is_told() -> None:
    answer = parse_output('{"title": "x", "title": "y"}', declared(Step))
    assert answer == ParsedOutput(Step("y"), ("'title' was given more than once",))


def test_brackets_that_were_not_looked_at_are_told() -> None:
    answer = parse_output(f"{STEP}{'{' * MAX_ATTEMPTS}", declared(Step))
    assert answer.repairs == ("looked at the first 1,000 brackets alone",)


def test_objects_inside_of_a_found_value_are_not_candidates() -> None:
    error = failure(list[Step], 'The plan: {"steps": [{"title": "x"}]}')
    assert "expected an array of Step" not in str(error)
    assert "expected an array for Step, got an object" in str(error)


@pytest.mark.parametrize("text", ["", "no json here", "{", "Use {name}.", "NaN", '{"title": NaN}'])
def test_without_json_the_answer_is_refused(text: str) -> None:
    error = failure(Step, text)
    assert error.raw_response == text
    assert "holds no JSON" in str(error) or "got a bare value" in str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('Here:\n{"title": "x", "minu', "object that begins at line 2, column 1 is cut off: the"),
        ('{"title": "x"', "cut off: the message ends before it does."),
        ('```json\n{"title": "x",\n```', "begins at line 2, column 1 is cut off"),
        ("[1, 2", "the JSON array that begins at line 1, column 1 is cut off"),
        ('{"title": "x" "minutes": 3}', "is broken at line 1, column 15: expecting ',' delimiter."),
        ('{"title": x}', "is broken at line 1, column 11: expecting value."),
    ],
)
def test_broken_json_says_where_and_whether_it_was_cut(text: str, message: str) -> None:
    assert message in str(failure(Step, text))


@pytest.mark.parametrize(
    "text",
    [
        '{"title": "a, ]", "minutes": 7,}',
        'Sure: {"title": "a, ]", "minutes": 7 , } Done.',
        '```json\n{"title": "a, ]", "minutes": 7,\n}\n```',
    ],
)
def test_trailing_commas_are_removed_and_told(text: str) -> None:
    rendered = PromptTemplate[Step](ns="n", key="k").render()
    answer = parse_output(text, rendered)
    assert answer == ParsedOutput(Step("a, ]", 7), ("removed a trailing comma",))
    assert parse_output(STEP, rendered).repairs == ()


def test_quotes_that_nothing_ends_behind_an_answer_cost_no_more_than_text() -> None:
    """In time that grows with their square, a million would take hours."""
    text = '{"title": "a",}' + '\\"' * 1_000_000
    assert parse(Step, text) == Step("a")


def test_thoughts_before_the_answer_are_not_the_answer() -> None:
    text = '<think>Maybe {"title": "no"}</think>\n{"title": "yes"}'
    assert parse(Step, text) == Step("yes")
    text = '{"title": "<think>{}</think>"}'
    assert parse(Step, text) == Step("<think>{}</think>")


@given(st.recursive(st.integers() | st.text(max_size=4), lambda x: st.lists(x, max_size=3)))
def test_repairs_change_nothing_of_json_that_is_whole(value: object) -> None:
    text = json.dumps({"title": json.dumps(value) + ", ]"})
    answer = parse_output(text, PromptTemplate[Step](ns="n", key="k").render())
    assert answer == ParsedOutput(Step(json.dumps(value) + ", ]"))
    commas = text[:-1] + ",}"
    assert parse(Step, commas) == answer.value


def test_absurd_input_is_refused_and_does_no_harm() -> None:
    for text in ("[" * 50_000, "{" * 50_000, '{"title":' * 20_000):
        assert failure(Step, text).raw_response == text


def test_the_container_must_match() -> None:
    assert "expected an object for Step, got an array" in str(failure(Step, [{"title": "x"}]))
    assert "expected an array for Step, got an object" in str(failure(list[Step], {"title": "x"}))
    assert "got a bare value" in str(failure(Step, "3"))


# Reading the values


def test_every_supported_type_is_read() -> None:
    result = parse(Everything, EVERYTHING)
    assert result.choice == 1
    assert (result.severity, result.level) == (Severity.LOW, Level.TWO)
    assert result.either == "3"
    assert result.maybe == Step("x")
    assert result.fixed == (1, "a")
    assert result.many == (1.0, 2.0)
    assert all(type(item) is float for item in result.many)
    assert result.unique == frozenset({1, 2})
    assert result.mapping == {"a": Step("y")}
    assert result.when == datetime(2026, 11, 21, 10, tzinfo=UTC)
    assert result.day == date(2026, 11, 21)
    assert result.ident == uuid.UUID("12345678-1234-5678-1234-567812345678")
    assert result.price == Decimal("12.50")


@pytest.mark.parametrize("missing", ["summary", "steps"])
def test_required_fields_must_be_there(missing: str) -> None:
    value = {"summary": "s", "steps": []}
    del value[missing]
    error = failure(Plan, value)
    assert error.json_path == f"$.{missing}"
    assert error.dataclass_type is Plan


def test_fields_with_defaults_may_be_left_out_or_null() -> None:
    assert parse(Step, {"title": "x"}) == Step("x", 5)
    assert parse(Step, {"title": "x", "minutes": None}) == Step("x", 5)
    assert failure(Step, {"title": None}).json_path == "$.title"


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, 3.0, 3),
        (int, "3", 3),
        (int, "-12", -12),
        (float, 3, 3.0),
        (float, "2.5", 2.5),
        (bool, "true", True),
        (bool, "false", False),
        (Decimal, 3, Decimal(3)),
        (Decimal, 0.1, Decimal("0.1")),
        (int | None, "3", 3),
        (int | str, "3", "3"),
        (float | int, 3, 3),
        (tuple[int, ...], ["1", 2.0], (1, 2)),
        (set[int], [1, 2], {1, 2}),
    ],
)
def test_conversions_that_lose_nothing_are_made(
    hint: object, value: object, expected: object
) -> None:
    result = parse(one_field(hint), {"it": value}).it
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, 3.9),
        (int, 2.0**53 + 2),
        (int, True),
        (int, "3.0"),
        (int, "03"),
        (int, " 3"),
        (int, "１"),  # noqa: RUF001 - a full-width digit
        (int, ""),
        (int, None),
        (float, True),
        (float, "nan"),
        (float, "1e999"),
        (Decimal, "NaN"),
        (float, 2**53 + 1),
        (float, 10**400),
        (bool, 1),
        (bool, "True"),
        (bool, "yes"),
        (str, 3),
        (str, None),
        (str, ["a"]),
        (Severity, "HIGH"),
        (Level, True),
        (Level, "1"),
        (Literal[1], True),
        (Literal["a"], "b"),
        (list[int], "1"),
        (list[int], {"0": 1}),
        (tuple[int, str], [1]),
        (set[int], [1, 1]),
        (dict[str, int], [["a", 1]]),
        (Step, "x"),
        (Step, ["x"]),
        (datetime, "yesterday"),
        (date, 20261121),
        (uuid.UUID, "1234"),
        (Decimal, "12,5"),
        (None, 0),
        (int | None, "x"),
    ],
)
def test_nothing_else_is_converted(hint: object, value: object) -> None:
    assert failure(one_field(hint), {"it": value}).json_path.startswith("$.it")


def test_a_number_too_large_for_a_float_is_refused() -> None:
    assert failure(one_field(float), '{"it": 1e999}').json_path == "$.it"


def test_errors_carry_the_raw_answer_the_place_and_the_type() -> None:
    raw = 'Sure:\n```json\n{"summary": "s", "steps": [{"title": "a"}, {"title": 7}]}\n```'
    error = failure(Plan, raw)
    assert error.raw_response == raw
    assert error.json_path == "$.steps[1].title"
    assert str(error) == "$.steps[1].title: expected a string, got 7."
    assert isinstance(error, PromptError)
    assert isinstance(error, ValueError)


def test_a_union_blames_what_got_furthest() -> None:
    @dataclass
    class Holder:
        it: Step | int

    assert failure(Holder, {"it": {"title": 1}}).json_path == "$.it.title"
    assert "expected Step or int" in str(failure(Holder, {"it": "x"}))


def test_a_dataclass_that_refuses_its_values_is_an_error_of_the_answer() -> None:
    @dataclass
    class Positive:
        number: int

        def __post_init__(self) -> None:
            if self.number < 0:
                raise ValueError("below zero")

    error = failure(Positive, {"number": -1})
    assert "Positive refused the values: ValueError: below zero" in str(error)


def test_a_prompt_without_output_cannot_be_parsed() -> None:
    rendered = PromptTemplate(ns="n", key="k").render()
    with pytest.raises(OutputParseError, match="declares no structured output"):
        parse_structured_output("{}", rendered)


def test_string_annotations_of_local_classes_are_an_error_only_when_they_are_needed() -> None:
    @dataclass
    class Local:
        step: "Inner"

    @dataclass
    class Inner:
        x: int

    rendered = declared(Local)
    with pytest.raises(PromptValidationError, match="cannot be resolved"):
        parse_structured_output('{"step": {"x": 1}}', rendered)
