"""What type checkers must understand of the public API; checked by three of them and executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, assert_type

from foldline.prompts import (
    Chapter,
    EachSection,
    Example,
    ExamplesSection,
    MarkdownSection,
    Prompt,
    PromptTemplate,
    RenderedPrompt,
    Role,
    Section,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolExample,
    ToolResult,
    parse_structured_output,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.runtime import aevaluate_with_disclosure

if TYPE_CHECKING:
    from foldline.prompts.adapters import BaseAdapter

T = TypeVar("T")


@FrozenDataclass()
class Name:
    name: str = "Ada"


@FrozenDataclass()
class Names:
    names: tuple[Name, ...] = ()


@dataclass
class Query:
    limit: int = 3


@dataclass
class Answer:
    title: str


@dataclass(frozen=True)
class Page(Generic[T]):
    item: T


@FrozenDataclass()
class ReviewTask(Task):
    files: tuple[str, ...] | None = None


def search(params: Query, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult(value=f"{params.limit}{context.session}")


async def asearch(params: Query, *, context: ToolContext) -> ToolResult[str]:
    return search(params, context=context)


tool = Tool[Query, str](name="search", description="Search.", handler=search)


async def answered(adapter: BaseAdapter, prompt: PromptTemplate[Query]) -> Query | None:
    return (await aevaluate_with_disclosure(adapter, prompt)).output


asynchronous = Tool[Query, str](name="asearch", description="Search.", handler=asearch)
greeting = MarkdownSection[Name](
    title="Greeting",
    key="greeting",
    template="Hi ${name}",
    enabled=lambda params: params.name != "",
    default_params=Name(),
    visibility=lambda params: (
        SectionVisibility.SUMMARY if params.name == "" else SectionVisibility.FULL
    ),
)
fixed = MarkdownSection[None](
    title="Fixed",
    key="fixed",
    template="Hi",
    tools=[tool],
    visibility=lambda: SectionVisibility.FULL,
)


class Digest(MarkdownSection[Name]):
    derived_placeholders = ("_digest",)

    def __init__(self, session: object) -> None:
        super().__init__(title="Digest", key="digest", template="${_digest}")
        self.session = session

    def derive(self, params: Name) -> dict[str, str]:
        return {"_digest": params.name}


class Raw(Section[Name]):
    def render_body(self, params: Name) -> str:
        return params.name


names = EachSection[Names, Name](
    title="Names",
    key="names",
    items="names",
    template="${name}",
    enabled=lambda params: bool(params.names),
)
given = EachSection[None, Name](title="Names", key="given", items=[Name()], template="${name}")
assert_type(given.all_items(None), tuple[Name, ...])
shots = ExamplesSection[None, str, Answer](items=[Example("a", Answer("b"), reasoning="c")])
assert_type(shots.shown_items(None), tuple[Example[str, Answer], ...])

sections = [greeting, fixed, names, given, shots]
plain = PromptTemplate(ns="n", key="plain", sections=sections)
assert_type(plain, PromptTemplate[None])
assert_type(plain.render(), RenderedPrompt[None])

one = PromptTemplate[Answer](
    ns="n",
    key="one",
    sections=[
        greeting,
        MarkdownSection[Page[int]](
            title="Page", key="page", template="${item}", default_params=Page(1)
        ),
        TaskSection[ReviewTask](title="Task", key="task", default_params=ReviewTask(request="r")),
        Digest(object()),
        Raw(title="Raw", key="raw"),
    ],
    chapters=[Chapter[None](key="chapter", title="Chapter", sections=[fixed])],
)
rendered = one.bind(Name("Bob")).render()
assert_type(rendered, RenderedPrompt[Answer])
assert_type(one.expand_chapters(), PromptTemplate[Answer])
answer = parse_structured_output('{"title": "x"}', rendered)
assert_type(answer, Answer)

many = PromptTemplate[list[Answer]](ns="n", key="many", sections=(greeting, fixed))
assert_type(many.bind(Name()), Prompt[list[Answer]])
assert_type(parse_structured_output("[]", Prompt(many).render()), list[Answer])
assert_type(greeting.clone(session=None), MarkdownSection[Name])
assert_type(greeting.children, tuple[Section[object], ...])
assert_type(MarkdownSection[None](title="A", key="a", template="", role="user").role, Role | None)
assert_type(names.items, str | tuple[Name, ...])
assert_type(plain.sections, tuple[Section[object], ...])
assert_type(tool.examples, tuple[ToolExample[Query, str], ...])
assert_type(tool.decode("{}"), Query)
