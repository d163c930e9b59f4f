"""Templates and binding: what is checked at construction, and which parameters a section gets."""

# ruff: noqa: E501 - a table reads best with one case on a line.

import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

import foldline.prompts
import foldline.prompts.dataclasses
import foldline.prompts.errors
from foldline.prompts import (
    Chapter,
    MarkdownSection,
    Prompt,
    PromptTemplate,
    Section,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptRenderError, PromptValidationError


@FrozenDataclass()
class Name:
    name: str


@FrozenDataclass()
class Tone:
    tone: str = "calm"


def text(key: str, template: str = "x") -> MarkdownSection[None]:
    return MarkdownSection[None](title=key, key=key, template=template)


def named(key: str = "hi", default: Name | None = None) -> MarkdownSection[Name]:
    return MarkdownSection[Name](title="Hi", key=key, template="Hi ${name}", default_params=default)


def template(*sections: Section[object]) -> PromptTemplate[None]:
    return PromptTemplate(ns="demo", key="greet", sections=sections)


def test_a_template_owns_its_names_and_its_ordered_sections() -> None:
    sections = [text("a"), text("b")]
    chapter = Chapter[None](key="c", title="C", sections=[text("d")])
    made = PromptTemplate(
        ns="demo",
        key="greet",
        name="greeter",
        sections=sections,
        chapters=[chapter],
        allow_extra_keys=True,
    )
    assert (made.ns, made.key, made.name) == ("demo", "greet", "greeter")
    assert made.sections == (*sections, chapter)
    assert made.allow_extra_keys is True
    assert template().name is None
    assert template().allow_extra_keys is False


@pytest.mark.parametrize(("ns", "key"), [("", "k"), ("n", ""), ("  ", "k"), ("n", "\n")])
def test_an_empty_ns_or_key_is_refused(ns: str, key: str) -> None:
    with pytest.raises(PromptValidationError, match="non-empty"):
        PromptTemplate(ns=ns, key=key)


def test_ns_and_key_identify_a_prompt() -> None:
    descriptor = template(text("a")).descriptor
    assert (descriptor.ns, descriptor.key) == ("demo", "greet")
    other = PromptTemplate(ns="demo", key="other", sections=[text("a")]).descriptor
    assert other.content_hash != descriptor.content_hash


@pytest.mark.parametrize("key", ["a", "0", "a.b", "a_b-c", "x" * 64])
def test_good_section_keys_are_accepted(key: str) -> None:
    assert text(key).key == key


@pytest.mark.parametrize("key", ["", "A", ".a", "-a", "_a", "a b", "a\n", "é", "x" * 65])
def test_other_section_keys_are_refused(key: str) -> None:
    with pytest.raises(PromptValidationError, match="Section key"):
        text(key)


def test_specialisation_declares_the_output() -> None:
    assert PromptTemplate[Name](ns="n", key="k").render().output_type is Name
    assert PromptTemplate(ns="n", key="k").render().output_type is None
    assert isinstance(PromptTemplate[Name](ns="n", key="k"), PromptTemplate)
    assert PromptTemplate[Name] is PromptTemplate[Name]


def test_a_prompt_binds_parameters_and_renders() -> None:
    assert Prompt(template(named())).bind(Name("Ada")).render().text == "## 1. Hi\n\nHi Ada"


def test_a_prompt_wraps_nothing_but_templates() -> None:
    with pytest.raises(PromptValidationError, match="PromptTemplate"):
        Prompt("hello")  # type: ignore[arg-type]  # This is the error.


def test_the_only_syntax_is_that_of_string_template() -> None:
    section = text("a", "{{ x }} {% if y %} {name} %s #{z} <%= w %>")
    assert section.render() == "{{ x }} {% if y %} {name} %s #{z} <%= w %>"


def test_every_placeholder_must_be_a_field() -> None:
    with pytest.raises(PromptValidationError) as caught:
        MarkdownSection[Name](title="T", key="t", template="${nmae}")
    assert caught.value.placeholder == "nmae"
    assert caught.value.near == ("name",)
    with pytest.raises(PromptValidationError, match="takes no parameters"):
        text("a", "${name}")


def test_inherited_fields_are_fields_but_properties_and_class_variables_are_not() -> None:
    @FrozenDataclass()
    class Full(Name):
        surname: str = ""

        @property
        def initials(self) -> str:
            return "xy"

    made = MarkdownSection[Full](title="T", key="t", template="${name} ${surname}")
    assert made.render(Full("Ada", "L")) == "Ada L"
    with pytest.raises(PromptValidationError, match="initials"):
        MarkdownSection[Full](title="T", key="t", template="${initials}")


@pytest.mark.parametrize(
    ("source", "line", "column"), [("$", 1, 1), ("a\nb $5", 2, 3), ("${a b}", 1, 1), ("${", 1, 1)]
)
def test_a_stray_dollar_is_refused_with_its_place(source: str, line: int, column: int) -> None:
    with pytest.raises(PromptValidationError, match=f"line {line}, column {column}") as caught:
        text("a", source)
    assert "$$" in str(caught.value)


@pytest.mark.parametrize("expression", ["who.name", "steps[0]", "age:03d", "name|upper", "f(x)"])
def test_an_expression_in_a_placeholder_is_refused(expression: str) -> None:
    with pytest.raises(PromptValidationError) as caught:
        text("a", f"Hi\n${{{expression}}}")
    message = f"`${{{expression}}}` in line 2, column 1 of `template` isn't the name of a field"
    assert message in str(caught.value)
    assert "compute the text in a field" in str(caught.value)


def test_nothing_but_sections_and_headings_is_in_the_text() -> None:
    rendered = PromptTemplate[Name](ns="n", key="k", sections=[text("a", "body")]).render()
    assert rendered.text == "## 1. a\n\nbody"


@pytest.mark.parametrize("bad", [3, "text", {"name": "x"}, ("x",), None, Name, object()])
def test_only_instances_of_dataclasses_can_be_bound(bad: object) -> None:
    with pytest.raises(PromptValidationError, match="dataclass"):
        Prompt(template(named())).bind(bad)


def test_a_prompt_cannot_be_nested() -> None:
    inner = template(text("a"))
    with pytest.raises(PromptValidationError, match="not nested"):
        template(inner)  # type: ignore[arg-type]  # This is the error.
    with pytest.raises(PromptValidationError, match="not nested"):
        MarkdownSection[None](
            title="T",
            key="t",
            template="",
            children=[inner],  # type: ignore[list-item]  # This is the error.
        )


def test_a_template_renders_with_parameters_and_overrides() -> None:
    section = MarkdownSection[Name](title="T", key="t", template="Hi ${name}", summary="S")
    rendered = template(section).render(
        Name("Ada"), visibility_overrides={("t",): SectionVisibility.SUMMARY}
    )
    assert rendered.text.startswith("## 1. T\n\nS\n\n---\n")


def test_a_template_binds_to_a_new_prompt_and_a_prompt_to_itself() -> None:
    made = template(named())
    first = made.bind(Name("Ada"))
    assert made.bind(Name("Bob")) is not first
    assert first.bind(Name("Eve")) is first
    assert first.render().text.endswith("Hi Eve")


def test_the_public_names_are_where_the_specs_import_them_from() -> None:
    for name in (
        "Prompt",
        "PromptTemplate",
        "MarkdownSection",
        "Section",
        "SectionVisibility",
        "parse_structured_output",
    ):
        assert hasattr(foldline.prompts, name)
    assert hasattr(foldline.prompts.errors, "VisibilityExpansionRequired")
    assert hasattr(foldline.prompts.errors, "PromptError")
    assert hasattr(foldline.prompts.dataclasses, "FrozenDataclass")


def test_every_public_name_exists() -> None:
    for name in foldline.prompts.__all__:
        assert getattr(foldline.prompts, name) is not None
    with pytest.raises(AttributeError):
        _ = foldline.prompts.no_such_name  # type: ignore[attr-defined]


def test_one_instance_per_type_is_bound_and_rebinding_replaces_it() -> None:
    tone = MarkdownSection[Tone](title="T", key="t", template="${tone}")
    prompt = Prompt(template(named(), tone))
    prompt.bind(Name("Ada"), Tone("brisk")).bind(Name("Bob"))
    assert prompt.params == (Name("Bob"), Tone("brisk"))
    assert "Hi Bob" in prompt.render().text
    assert "brisk" in prompt.render().text


def test_one_type_twice_in_one_call_is_refused_at_render_even_if_equal() -> None:
    prompt = Prompt(template(named())).bind(Name("Ada"), Name("Ada"))
    with pytest.raises(PromptValidationError, match="bound twice") as caught:
        prompt.render()
    assert caught.value.dataclass_type is Name
    assert prompt.bind(Name("Bob")).render().text.endswith("Hi Bob")


def test_a_later_call_for_another_type_does_not_hide_the_mistake() -> None:
    prompt = Prompt(template(named())).bind(Name("Ada"), Name("Bob")).bind()
    with pytest.raises(PromptValidationError, match="bound twice"):
        prompt.render()


def test_a_bound_instance_comes_first() -> None:
    made = template(named("a", Name("Own")), named("b", Name("Other")))
    assert "Own" not in made.render(Name("Bound")).text


def test_then_the_sections_own_default_then_the_first_of_the_type() -> None:
    made = template(named("a"), named("b", Name("First")), named("c", Name("Second")))
    assert made.render().text == (
        "## 1. Hi\n\nHi First\n\n## 2. Hi\n\nHi First\n\n## 3. Hi\n\nHi Second"
    )


def test_then_an_instance_without_arguments() -> None:
    made = template(MarkdownSection[Tone](title="T", key="t", template="${tone}"))
    assert made.render().text.endswith("calm")


def test_else_the_render_fails_and_names_what_is_missing() -> None:
    outer = MarkdownSection[None](title="O", key="outer", template="", children=[named()])
    with pytest.raises(PromptRenderError, match=r"bind an instance of Name .*name") as caught:
        template(outer).render()
    assert caught.value.section_path == ("outer", "hi")
    assert caught.value.dataclass_type is Name


def test_defaults_that_refuse_themselves_are_a_render_error_with_the_cause() -> None:
    @dataclass
    class Picky:
        value: int = 0

        def __post_init__(self) -> None:
            raise ValueError("never zero")

    with pytest.raises(PromptRenderError, match="never zero") as caught:
        template(MarkdownSection[Picky](title="T", key="t", template="${value}")).render()
    assert isinstance(caught.value.__cause__, ValueError)


def test_default_factories_are_called_once_per_render() -> None:
    numbers = itertools.count(1)

    @dataclass
    class Counted:
        number: int = field(default_factory=lambda: next(numbers))

    section = MarkdownSection[Counted](title="T", key="t", template="${number}")
    again = MarkdownSection[Counted](title="U", key="u", template="${number}")
    both = template(section, again)
    assert both.render().text == "## 1. T\n\n1\n\n## 2. U\n\n1"
    assert both.render().text == "## 1. T\n\n2\n\n## 2. U\n\n2"


def test_tasks_are_replaced_and_bound_again() -> None:
    @FrozenDataclass()
    class ReviewTask(Task):
        focus: str | None = None

    task = ReviewTask(request="Do it", focus="speed")
    prompt = Prompt(template(TaskSection[ReviewTask]())).bind(task)
    again = dataclasses.replace(task, expansion_instructions="Go on.")
    assert again.focus == "speed"
    assert "Go on." in prompt.bind(again).render().text
    assert "Go on." not in prompt.bind(task).render().text


def test_a_type_that_only_a_closed_chapter_uses_may_be_bound() -> None:
    made = PromptTemplate(
        ns="n",
        key="k",
        sections=[text("a")],
        chapters=[Chapter[Tone](key="c", title="C", sections=[named()])],
    )
    assert made.render(Name("Ada"), Tone()).text == "## 1. a\n\nx"


def test_a_bound_type_that_no_section_uses_is_an_error_with_near_names() -> None:
    @FrozenDataclass()
    class Names:
        name: str

    with pytest.raises(PromptValidationError, match="takes Names") as caught:
        template(named()).render(Names("Ada"))
    assert caught.value.near == ("Name",)


def test_an_instance_of_a_subclass_is_refused_with_the_reason() -> None:
    @FrozenDataclass()
    class Full(Name):
        surname: str = ""

    with pytest.raises(PromptValidationError, match="Full is a subclass of Name, and sections"):
        template(named()).render(Full("Ada"))


def test_values_of_fields_are_not_keywords_of_render() -> None:
    for made in (template(named()), Prompt(template(named()))):
        with pytest.raises(PromptValidationError, match=r"bind an instance: render\(Name\(name=…"):
            made.render(name="Ada")  # type: ignore[arg-type]  # This is the error.
        with pytest.raises(PromptValidationError, match="'sesion'; did you mean 'session'"):
            made.render(sesion=None)  # type: ignore[arg-type]  # As above.


def test_a_rendered_prompt_is_its_text() -> None:
    rendered = template(named()).render(Name("Ada"))
    assert str(rendered) == rendered.text


def test_parameters_of_one_render_leave_the_binding_alone() -> None:
    prompt = Prompt(template(named())).bind(Name("Ada"))
    assert prompt.render(Name("Bob")).text.endswith("Bob")
    assert prompt.render().text.endswith("Ada")


def test_sibling_sections_with_one_key_are_refused() -> None:
    with pytest.raises(PromptValidationError, match="Two sections have the key 'a'"):
        template(text("a"), text("a"))


def test_the_same_key_below_different_parents_is_fine() -> None:
    def parent(key: str) -> MarkdownSection[None]:
        return MarkdownSection[None](title=key, key=key, template="", children=[text("same")])

    assert [b.path for b in template(parent("a"), parent("b")).render().blocks] == [
        ("a",),
        ("a", "same"),
        ("b",),
        ("b", "same"),
    ]


def test_keys_with_dots_are_refused_only_where_they_are_ambiguous() -> None:
    parent = MarkdownSection[None](title="A", key="a", template="", children=[text("b")])
    with pytest.raises(PromptValidationError, match=r"could mean"):
        template(parent, text("a.b"))
    assert len(template(parent, text("a.c")).render().blocks) == 3


def test_chapters_take_only_chapters() -> None:
    with pytest.raises(PromptValidationError, match="`chapters` takes chapters"):
        PromptTemplate(ns="n", key="k", chapters=[text("a")])  # type: ignore[list-item]


def test_system_sections_and_chapters_are_among_the_sections_alone() -> None:
    chapter = Chapter[None](key="c", title="C")
    made = PromptTemplate(ns="n", key="k", system=[text("a")], chapters=[chapter])
    assert [section.key for section in made.sections] == ["a", "c"]
    assert not hasattr(made, "system")
    assert not hasattr(made, "chapters")


def test_an_unknown_disclosure_is_refused() -> None:
    with pytest.raises(PromptValidationError, match="disclosure"):
        PromptTemplate(ns="n", key="k", disclosure="closed")  # type: ignore[arg-type]


class Rule(MarkdownSection[None]):
    """A section with a constructor of its own."""

    def __init__(self, name: str, **rest: object) -> None:
        super().__init__(title=name, key="rule", template=str(rest.pop("template", "x")))
        if rest:
            raise TypeError("of its own")


ARGUMENTS: list[tuple[Callable[..., object], tuple[object, ...], dict[str, object], str]] = [
    (MarkdownSection[None], ("T", "t", "x"), {}, "takes 1 positional argument but 4 were given: write `MarkdownSection(title=…, key=…, template=…)`."),
    (MarkdownSection[None], (), {"title": "T", "key": "t", "templte": "x"}, "got an unexpected keyword argument 'templte'; did you mean 'template'?"),
    (MarkdownSection[None], (), {"title": "T", "key": "t", "zzz": "x"}, "'zzz': write `MarkdownSection(title=…, key=…, template=…)`."),
    (MarkdownSection[None], (), {"title": "T"}, "'key' and 'template': write `MarkdownSection(title=…, key=…, template=…)`."),
    (PromptTemplate, (), {"key": "k"}, "'ns': write `PromptTemplate(ns=…, key=…)`."),
    (PromptTemplate, ("n", "k"), {}, "takes 1 positional argument but 3 were given: write `PromptTemplate(ns=…, key=…)`."),
    (Tool[None, str], (), {"name": "t", "description": "d", "handle": print}, "got an unexpected keyword argument 'handle'; did you mean 'handler'?"),
    (Rule, ("a",), {"other": 1}, "of its own"),
    (Rule, ("a", "b"), {}, "Rule.__init__() takes 2 positional arguments but 3 were given"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "args", "keywords", "message"), ARGUMENTS)
def test_arguments_that_cannot_be_say_what_to_write(
    make: Callable[..., object], args: tuple[object, ...], keywords: dict[str, object], message: str
) -> None:
    with pytest.raises(TypeError) as raised:
        make(*args, **keywords)
    assert str(raised.value).endswith(message)


def test_a_wrong_number_of_type_arguments_says_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"write `MarkdownSection\[Params\]\(…\)`"):
        MarkdownSection[Name, Tone]  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"write `Tool\[Params, Result\]\(…\)`"):
        Tool[Name]  # type: ignore[misc]


def test_a_key_that_cannot_be_offers_one_that_can() -> None:
    with pytest.raises(PromptValidationError, match=r"letter or digit; did you mean 'my-task'\?"):
        text("My Task")
    with pytest.raises(PromptValidationError, match=r"beginning with a letter or digit\.$"):
        text("…")


def test_what_cannot_be_bound_says_what_to_write() -> None:
    with pytest.raises(PromptValidationError, match=r"not Name: write `bind\(Name\(name=…\)\)`"):
        template(named()).bind(Name)
    with pytest.raises(PromptValidationError, match=r"write `bind\(Params\(field=…\)\)`"):
        template(named()).bind({"name": "Ada"})
