"""Chapters: closed by default, opened by policy, and nothing of a closed one anywhere."""

import dataclasses
from collections.abc import Callable, Sequence

import pytest

from foldline.prompts import (
    Chapter,
    ChapterDescriptor,
    ChaptersExpansionPolicy,
    ChapterVerdict,
    IntentQuery,
    MarkdownSection,
    Prompt,
    PromptTemplate,
    RenderedPrompt,
    Section,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
    term_overlap,
)
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    PromptConfigurationError,
    PromptRenderError,
    PromptValidationError,
)
from foldline.prompts.runtime import (
    Exchange,
    PromptResponse,
    Session,
    SessionSnapshot,
    Thread,
    ToolOutcome,
    ToolUse,
)
from foldline.prompts.thread import THREAD_LENGTH

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY
ALL, INTENT = ChaptersExpansionPolicy.ALL_INCLUDED, ChaptersExpansionPolicy.INTENT_CLASSIFIER


@FrozenDataclass()
class Goal:
    goal: str = "Say hello."


@FrozenDataclass()
class Clearance:
    level: int = 0


@FrozenDataclass()
class Required:
    level: int


def handler(params: None, *, context: ToolContext) -> ToolResult[None]:
    return ToolResult()


def text(key: str, body: str = "", *children: Section[object]) -> MarkdownSection[None]:
    tool = Tool[None, None](name=f"tool-{key}", description="x", handler=handler)
    return MarkdownSection[None](
        title=key.upper(),
        key=key,
        template=body or f"BODY-{key}",
        children=children,
        summary=f"short-{key}",
        tools=[tool],
    )


GOAL = MarkdownSection[Goal](title="Goal", key="goal", template="${goal}")


def chapter(
    key: str, *sections: Section[object], title: str = "", description: str | None = None
) -> Chapter[None]:
    return Chapter[None](
        key=key,
        title=title or f"Chapter {key}",
        description=description,
        sections=sections or [text(f"in-{key}")],
    )


def gated(
    enabled: Callable[[Clearance], bool], default: Clearance | None = None
) -> Chapter[Clearance]:
    return Chapter[Clearance](
        key="secret",
        title="Secret",
        sections=[text("s")],
        enabled=enabled,
        default_params=default,
    )


def template(*sections: Section[object]) -> PromptTemplate[None]:
    return PromptTemplate(ns="n", key="k", sections=[GOAL, *sections])


def paths(made: PromptTemplate[None]) -> list[str]:
    return [block.dotted_key for block in made.render().blocks]


def decisions(made: PromptTemplate[None]) -> dict[str, bool]:
    return {decision.key: decision.opened for decision in made.chapter_decisions}


def opened_for(
    goal: str, *, key: str = "x", title: str = "Y", description: str = "", keywords: str = ""
) -> ChapterVerdict:
    made = Chapter[None](
        key=key,
        title=title,
        description=description,
        keywords=[keywords] if keywords else [],
    )
    return term_overlap(IntentQuery(goal, made, None))


def test_a_chapter_has_the_specified_fields() -> None:
    section = text("a")
    made = Chapter[Clearance](
        key="c",
        title="Title",
        description="Why",
        sections=[section],
        enabled=lambda p: p.level > 1,
        default_params=Clearance(2),
    )
    assert (made.key, made.title, made.description) == ("c", "Title", "Why")
    assert made.sections == made.children == (section,)
    assert made.default_params == Clearance(2)
    assert Chapter[None](key="c", title="T").description is None
    assert Chapter[None](key="c", title="T").sections == ()


def test_a_chapter_is_a_section_without_text_and_tools() -> None:
    made = chapter("c")
    assert isinstance(made, Section)
    assert made.tools == ()
    with pytest.raises(PromptRenderError, match="expand_chapters"):
        made.render()
    with pytest.raises(PromptRenderError, match="no text of its own"):
        made.render_body(None)
    with pytest.raises(PromptValidationError, match="cannot have tools"):
        Chapter[None](key="c", title="T", tools=text("a").tools)


@pytest.mark.parametrize(
    "sections",
    [
        [chapter("same"), chapter("same", text("b"))],
        [chapter("outer", chapter("same"), text("b")), chapter("same", text("c"))],
        [chapter("c"), text("in-c")],
    ],
)
def test_keys_are_unique_in_the_prompt_closed_chapters_included(
    sections: list[Section[object]],
) -> None:
    with pytest.raises(PromptValidationError):
        template(*sections)


def test_a_chapter_may_share_its_key_with_a_section_in_it_or_beside_it() -> None:
    made = template(chapter("in", text("in")), chapter("beside"), text("beside"))
    assert paths(made) == ["goal", "beside"]
    opened = made.expand_chapters(only=["in"])
    assert paths(opened) == ["goal", "in", "beside"]
    assert decisions(opened) == {"in": True, "beside": False}
    folded = opened.render(visibility_overrides={("in",): SUMMARY, ("beside",): SUMMARY})
    assert "short-in" in folded.text
    assert "short-beside" in folded.text


def test_chapter_keys_follow_the_pattern_of_section_keys() -> None:
    with pytest.raises(PromptValidationError, match="Section key"):
        chapter("Not A Key", text("a"))


def test_descriptors_keep_the_metadata_in_order() -> None:
    inner = chapter("inner", text("i"), description="deep")
    nested = text("parent", "x", chapter("hanging", text("h")))
    made = template(chapter("b", description="about b"), chapter("a", inner), nested)
    expected = (
        ChapterDescriptor("b", "Chapter b", "about b", ()),
        ChapterDescriptor("a", "Chapter a", None, ()),
        ChapterDescriptor("inner", "Chapter inner", "deep", ("a",)),
        ChapterDescriptor("hanging", "Chapter hanging", None, ("parent",)),
    )
    assert made.descriptor.chapters == expected
    for snapshot in (made, made.expand_chapters(), made.expand_chapters().expand_chapters()):
        rendered = snapshot.render()
        assert rendered.descriptor is not None
        assert rendered.descriptor.chapters == expected
        assert rendered.descriptor == made.descriptor
    (described,) = [s for s in made.descriptor.sections if s.path == ("i",)]
    assert described.chapters == ("a", "inner")


def test_enabled_says_whether_a_chapter_may_open() -> None:
    made = template(gated(lambda p: p.level > 1))
    assert decisions(made.expand_chapters(params=[Clearance(2)])) == {"secret": True}
    assert decisions(made.expand_chapters(params=[Clearance(1)])) == {"secret": False}
    assert decisions(made.expand_chapters()) == {"secret": False}
    assert decisions(template(chapter("c")).expand_chapters()) == {"c": True}


def test_chapters_are_specialised_with_dataclasses() -> None:
    assert gated(lambda p: True).params_type is Clearance
    with pytest.raises(PromptValidationError, match="not a dataclass"):
        Chapter[int](key="c", title="T")


def test_the_policies_are_strings() -> None:
    assert [str(policy) for policy in ChaptersExpansionPolicy] == [
        "all_included",
        "intent_classifier",
    ]
    with pytest.raises(ValueError, match="everything"):
        template().expand_chapters("everything")


def test_a_render_names_the_chapters_that_an_evaluation_may_open() -> None:
    made = template(chapter("outer", text("a"), chapter("inner")), gated(lambda _: False))
    rendered = made.render(Goal("x"))
    assert [one.key for one in rendered.closed_chapters] == ["outer", "inner", "secret"]
    assert rendered.closed_chapters[0].title == "Chapter outer"
    opened = made.expand_chapters(chapter_params={"secret": Clearance()})
    assert opened.render(Goal("x")).closed_chapters == ()
    assert template().render(Goal("x")).closed_chapters == RenderedPrompt("x").closed_chapters == ()


def test_closed_chapters_contribute_nothing() -> None:
    hidden = text("hidden", "SECRET", text("below", "SECRET"))
    made = PromptTemplate(ns="n", key="k", sections=[GOAL], chapters=[chapter("c", hidden)])
    rendered = made.render()
    assert rendered.text == "## 1. Goal\n\nSay hello."
    assert [block.path for block in rendered.blocks] == [("goal",)]
    assert rendered.tools == ()


def test_all_included_is_the_default_and_opens_every_chapter() -> None:
    made = template(chapter("a"), chapter("b", chapter("c", text("deep"))))
    assert paths(made.expand_chapters()) == paths(made.expand_chapters(ALL))
    assert paths(made.expand_chapters()) == ["goal", "in-a", "deep"]
    assert decisions(made.expand_chapters()) == {"a": True, "b": True, "c": True}


def test_why_a_section_was_opened_opens_no_chapter() -> None:
    """It's the model's own reason, which stands in the text of the task."""
    salaries = Chapter[None](
        key="salaries",
        title="Salaries of all",
        sections=[MarkdownSection[None](title="S", key="s", template="Secret.")],
    )
    task = TaskSection[Task](title="Task", key="task")
    made = PromptTemplate(ns="n", key="k", sections=[task], chapters=[salaries])
    for instructions, opened in ((None, []), ("I need the salaries of all.", [])):
        goal = Task(request="Fix the page.", expansion_instructions=instructions)
        expanded = made.bind(goal).expand_chapters(INTENT, goal_section_key="task")
        assert [one.key for one in expanded.template.chapter_decisions if one.opened] == opened
    goal = Task(request="What are the salaries of all?")
    expanded = made.bind(goal).expand_chapters(INTENT, goal_section_key="task")
    assert [one.opened for one in expanded.template.chapter_decisions] == [True]


def test_the_intent_classifier_opens_what_the_goal_is_about() -> None:
    made = template(
        chapter("security", text("audit-rules")), chapter("travel", text("visa"), title="Trips")
    )
    prompt = Prompt(made).bind(Goal("Audit the security of the login."))
    expanded = prompt.expand_chapters(INTENT, goal_section_key="goal")
    assert [b.key for b in expanded.render().blocks] == ["goal", "audit-rules"]
    (first, second) = expanded.template.chapter_decisions
    assert (first.opened, first.reasons) == (True, ("the goal mentions 'security' (key)",))
    assert not second.opened
    assert second.reasons


def test_the_heading_of_the_goal_is_not_its_text() -> None:
    made = template(chapter("goal-setting", text("a"), title="Goal setting"))
    expanded = made.expand_chapters(INTENT, goal_section_key="goal")
    assert decisions(expanded) == {"goal-setting": False}


@pytest.mark.parametrize(
    ("goal", "metadata", "reason"),
    [
        ("Check the tokens", {"key": "token.rules"}, "'token' (key)"),
        ("Check the TOKENS", {"title": "Token"}, "'token' (title)"),
        ("We need a rate limit here", {"keywords": "rate limits"}, "'rate limits' (keyword)"),
        (
            "hash the passwords slowly",
            {"description": "How passwords are hashed: hash cost"},
            "(description)",
        ),
    ],
)
def test_the_rule_explains_why_it_opens(goal: str, metadata: dict[str, str], reason: str) -> None:
    verdict = opened_for(goal, **metadata)
    assert verdict.opens
    assert reason in verdict.reasons[0]


@pytest.mark.parametrize(
    ("goal", "metadata"),
    [
        ("limit the rate", {"keywords": "rate limit"}),
        ("please use the chapter for this task", {"title": "The chapter for this"}),
        ("passwords", {"description": "all about passwords"}),
        ("", {"key": "security"}),
        ("class", {"title": "clas"}),
    ],
)
def test_and_why_it_does_not(goal: str, metadata: dict[str, str]) -> None:
    verdict = opened_for(goal, **metadata)
    assert not verdict.opens
    assert verdict.reasons


def test_any_callable_takes_the_classifiers_place() -> None:
    queries: list[IntentQuery] = []

    def model(query: IntentQuery) -> ChapterVerdict:
        queries.append(query)
        return ChapterVerdict(query.chapter.key == "b", ("the model says so",))

    made = template(chapter("a"), chapter("b"))
    bound = [Goal("Anything.")]
    expanded = made.expand_chapters(INTENT, params=bound, goal_section_key="goal", classifier=model)
    assert paths(expanded) == ["goal", "in-b"]
    assert expanded.chapter_decisions[1].reasons == ("the model says so",)
    assert [query.goal for query in queries] == ["Anything.", "Anything."]
    simple = made.expand_chapters(INTENT, goal_section_key="goal", classifier=lambda query: True)
    assert paths(simple) == ["goal", "in-a", "in-b"]


def test_a_classifier_gets_the_session_and_what_was_said_and_done_in_it() -> None:
    queries: list[IntentQuery] = []

    def classifier(query: IntentQuery) -> bool:
        queries.append(query)
        return any(use.name == "look" for use in query.thread.tools)

    def look(params: None, *, context: ToolContext) -> ToolResult[str]:
        return ToolResult("seen")

    looking = MarkdownSection[None](
        title="L",
        key="look",
        template="Look.",
        tools=[Tool[None, str](name="look", description="Looks.", handler=look)],
    )
    made = PromptTemplate(ns="n", key="k", sections=[GOAL, looking, chapter("c")])
    script = Transcript.of(
        [ScriptedTurn(tool_calls=(ScriptedCall("look"),)), ScriptedTurn("One.")],
        [ScriptedTurn("Two.")],
    )
    adapter, session = ScriptedAdapter(script), Session()
    texts = [
        adapter.evaluate(
            made,
            Goal(wanted),
            session=session,
            goal_section_key="goal",
            chapters_expansion_policy=INTENT,
            intent_classifier=classifier,
        ).rendered.text
        for wanted in ("First.", "Second.")
    ]
    assert ["BODY-in-c" in text for text in texts] == [False, True]
    assert {query.session for query in queries} == {session}
    assert queries[0].thread == Thread()
    assert queries[1].thread.exchanges == (
        Exchange(
            prompt_ns="n", prompt_key="k", goal="First.", text="One.", tools=(ToolUse("look"),)
        ),
    )
    copy = Session()
    copy.restore(SessionSnapshot.from_json(session.snapshot().to_json()))
    assert [exchange.text for exchange in copy.thread().exchanges] == ["One.", "Two."]


def test_a_session_remembers_only_the_last_exchanges() -> None:
    session = Session()
    for number in range(THREAD_LENGTH + 3):
        session[Thread].apply(Exchange(prompt_ns="n", prompt_key="k", text=str(number)))
    exchanges = session.thread().exchanges
    assert len(exchanges) == THREAD_LENGTH
    assert (exchanges[0].text, exchanges[-1].text) == ("3", str(THREAD_LENGTH + 2))


def test_a_chapter_that_may_not_open_is_not_even_asked_about() -> None:
    def model(query: IntentQuery) -> bool:
        raise AssertionError(query.chapter.key)

    made = template(gated(lambda p: False))
    expanded = made.expand_chapters(INTENT, goal_section_key="goal", classifier=model)
    assert decisions(expanded) == {"secret": False}


def test_an_evaluation_opens_chapters_before_it_renders() -> None:
    seen: list[RenderedPrompt[object]] = []

    def model(
        rendered: RenderedPrompt[object], outcomes: Sequence[Sequence[ToolOutcome]]
    ) -> ScriptedTurn:
        seen.append(rendered)
        return ScriptedTurn("Done.")

    made = template(chapter("security", text("rules")), chapter("travel", text("visa")))
    adapter = ScriptedAdapter(model)
    response = adapter.evaluate(
        made.bind(Goal("Audit the security.")),
        goal_section_key="goal",
        chapters_expansion_policy=INTENT,
        parse_output=True,
        visibility_overrides={("rules",): SUMMARY},
    )
    assert isinstance(response, PromptResponse)
    assert response.text == "Done."
    assert [block.dotted_key for block in seen[0].blocks] == ["goal", "rules"]
    assert "short-rules" in seen[0].text
    adapter.evaluate(made)
    assert [block.dotted_key for block in seen[1].blocks] == ["goal", "rules", "visa"]
    assert paths(made) == ["goal"]


@pytest.mark.parametrize("policy", [ALL, INTENT])
@pytest.mark.parametrize("key", ["gaol", "c"])
def test_a_goal_section_that_does_not_exist_is_refused(
    policy: ChaptersExpansionPolicy, key: str
) -> None:
    with pytest.raises(PromptConfigurationError, match="no section") as caught:
        template(chapter("c")).expand_chapters(policy, goal_section_key=key)
    assert caught.value.near == (("goal",) if key == "gaol" else ())


def test_an_ambiguous_goal_section_is_refused() -> None:
    made = template(
        chapter("c"), text("a", "x", text("same", "one")), text("b", "x", text("other", "two"))
    )
    assert made.expand_chapters(INTENT, goal_section_key="a.same")
    twice = PromptTemplate(
        ns="n",
        key="k",
        sections=[
            MarkdownSection[None](
                title=k,
                key=k,
                template="",
                children=[MarkdownSection[None](title="S", key="same", template="x")],
            )
            for k in "ab"
        ],
        chapters=[chapter("c")],
    )
    with pytest.raises(PromptConfigurationError, match="could mean") as caught:
        twice.expand_chapters(goal_section_key="same")
    assert caught.value.near == ("a.same", "b.same")
    assert twice.expand_chapters(INTENT, goal_section_key="a.same")


def test_the_goal_section_is_needed_only_by_the_classifier_and_with_chapters() -> None:
    with pytest.raises(PromptConfigurationError, match="goal_section_key"):
        template(chapter("c")).expand_chapters(INTENT)
    assert template(chapter("c")).expand_chapters(ALL)
    assert template().expand_chapters(INTENT)


def test_the_goal_section_cannot_be_inside_of_a_chapter() -> None:
    made = template(chapter("c", text("inside")))
    with pytest.raises(PromptConfigurationError, match="inside a chapter"):
        made.expand_chapters(INTENT, goal_section_key="inside")
    assert made.expand_chapters(ALL, goal_section_key="inside")


def test_chapters_are_decided_in_declaration_order() -> None:
    made = template(chapter("z"), text("mid", "x", chapter("y")), chapter("a"))
    assert list(decisions(made.expand_chapters())) == ["z", "y", "a"]
    assert paths(made.expand_chapters()) == ["goal", "in-z", "mid", "mid.in-y", "in-a"]


def test_sections_inside_keep_their_own_enabled() -> None:
    off = MarkdownSection[None](title="O", key="off", template="OFF", enabled=lambda _: False)
    rendered = template(chapter("c", off, text("on"))).expand_chapters().render()
    assert "OFF" not in rendered.text
    assert "BODY-on" in rendered.text


def test_expanding_gives_a_fresh_template_and_leaves_the_old_one() -> None:
    made = template(chapter("c"))
    expanded = made.expand_chapters()
    assert expanded is not made
    assert paths(made) == ["goal"]
    assert paths(expanded) == ["goal", "in-c"]
    assert expanded.render().text == expanded.render().text
    assert type(expanded) is type(made)


def test_the_sections_of_an_open_chapter_stand_in_its_place() -> None:
    made = PromptTemplate(ns="n", key="k", sections=[text("a"), chapter("c"), text("b")])
    assert made.expand_chapters().render().text == (
        "## 1. A\n\nBODY-a\n\n## 2. IN-C\n\nBODY-in-c\n\n## 3. B\n\nBODY-b"
    )


def test_decisions_are_made_anew_each_time() -> None:
    made = template(gated(lambda p: p.level > 0))
    answers = [
        decisions(made.expand_chapters(params=[Clearance(level)]))["secret"] for level in (0, 1, 0)
    ]
    assert answers == [False, True, False]


def test_a_closed_outer_chapter_closes_everything_inside() -> None:
    outer = Chapter[Clearance](
        key="outer",
        title="O",
        sections=[text("a"), chapter("inner", text("b"))],
        enabled=lambda p: p.level > 0,
    )
    closed = template(outer).expand_chapters()
    assert paths(closed) == ["goal"]
    assert decisions(closed) == {"outer": False, "inner": False}
    assert "'outer'" in closed.chapter_decisions[1].reasons[0]
    assert paths(template(outer).expand_chapters(params=[Clearance(1)])) == ["goal", "a", "b"]


def test_expansion_leaves_nothing_of_the_closed_chapters_in_the_template() -> None:
    secret = text("hidden", "SECRET")
    made = template(
        chapter("open", text("o")),
        Chapter[Clearance](key="c", title="C", sections=[secret], enabled=lambda p: False),
        text(
            "parent",
            "x",
            Chapter[Clearance](
                key="d", title="D", sections=[text("e", "SECRET")], enabled=lambda p: False
            ),
        ),
    )
    expanded = made.expand_chapters()
    rendered = expanded.render()
    assert "SECRET" not in rendered.text
    assert {tool.name for tool in rendered.tools} == {"tool-o", "tool-parent"}
    assert all("hidden" not in block.path for block in rendered.blocks)

    def walk(sections: tuple[Section[object], ...]) -> list[str]:
        return [k for s in sections for k in (s.key, *walk(s.children))]

    assert walk(expanded.sections) == ["goal", "o", "parent"]


def test_overrides_for_closed_chapters_are_inert_until_it_opens() -> None:
    made = template(chapter("c", text("inside")))
    plain: dict[tuple[str, ...], SectionVisibility] = {("inside",): SUMMARY}
    assert made.render(visibility_overrides=plain).text == made.render().text
    assert "short-inside" in made.expand_chapters().render(visibility_overrides=plain).text
    closed = template(
        Chapter[Clearance](key="c", title="C", sections=[text("inside")], enabled=lambda p: False)
    ).expand_chapters()
    assert closed.render(visibility_overrides=plain).text == closed.render().text


def test_overrides_for_the_chapter_itself_are_inert_open_or_closed() -> None:
    made = template(chapter("c", text("inside")))
    for snapshot in (made, made.expand_chapters()):
        plain = snapshot.render()
        assert snapshot.render(visibility_overrides={("c",): SUMMARY}).text == plain.text
        with pytest.raises(PromptValidationError):
            snapshot.render(visibility_overrides={("c", "inside"): SUMMARY})


def test_chapter_parameters_come_from_the_bound_then_by_key_then_from_the_default() -> None:
    made = template(gated(lambda p: p.level > 1, default=Clearance(2)))
    assert decisions(made.expand_chapters()) == {"secret": True}
    by_key = {"secret": Clearance(0)}
    assert decisions(made.expand_chapters(chapter_params=by_key)) == {"secret": False}
    bound = made.expand_chapters(params=[Clearance(5)], chapter_params=by_key)
    assert decisions(bound) == {"secret": True}


def test_chapter_parameters_that_fit_nothing_are_refused() -> None:
    made = template(gated(lambda p: True))
    with pytest.raises(PromptValidationError, match="no chapter 'secre'") as caught:
        made.expand_chapters(chapter_params={"secre": Clearance()})
    assert caught.value.near == ("secret",)
    with pytest.raises(PromptValidationError, match="takes Clearance, not Goal"):
        made.expand_chapters(chapter_params={"secret": Goal()})
    with pytest.raises(PromptValidationError, match="Chapter 'c' has no parameters: leave it out"):
        template(chapter("c")).expand_chapters(chapter_params={"c": Clearance()})


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(PromptConfigurationError, match=r"policy 'everything'.*'all_included'"):
        template().expand_chapters("everything")


def test_chapter_parameters_are_missed_only_if_somebody_looks_at_them() -> None:
    def make(enabled: Callable[[Required], bool] | None) -> PromptTemplate[None]:
        return template(
            Chapter[Required](key="c", title="C", sections=[text("a")], enabled=enabled)
        )

    assert decisions(make(None).expand_chapters()) == {"c": True}
    with pytest.raises(PromptRenderError, match=r"Chapter 'c' needs parameters.*Required"):
        make(lambda p: True).expand_chapters()


def test_a_prompt_that_is_expanded_keeps_what_is_bound() -> None:
    prompt = Prompt(template(chapter("c"))).bind(Goal("Bound."))
    expanded = prompt.expand_chapters()
    assert "Bound." in expanded.render().text
    expanded.bind(Goal("Other."))
    assert "Bound." in prompt.render().text


def test_a_disabled_goal_section_has_no_text_to_go_by() -> None:
    off = MarkdownSection[None](title="G", key="off", template="security", enabled=lambda _: False)
    expanded = template(off, chapter("security")).expand_chapters(INTENT, goal_section_key="off")
    assert decisions(expanded) == {"security": False}
    assert expanded.chapter_decisions[0].reasons == ("the goal section has no text",)


def test_decisions_are_plain_data() -> None:
    (decision,) = template(chapter("c")).expand_chapters().chapter_decisions
    assert dataclasses.asdict(decision) == {
        "key": "c",
        "opened": True,
        "reasons": ("all chapters are included",),
    }


def test_only_the_chapters_that_are_named_may_open() -> None:
    template = PromptTemplate(
        ns="n",
        key="k",
        chapters=[
            Chapter[None](key=key, title=key, sections=[text(f"{key}-text")]) for key in ("a", "b")
        ],
    )
    expanded = template.expand_chapters(only=["b"])
    assert [block.key for block in expanded.render().blocks] == ["b-text"]
    assert [(decision.key, decision.reasons) for decision in expanded.chapter_decisions] == [
        ("a", ("it isn't among the requested chapters",)),
        ("b", ("all chapters are included",)),
    ]
    with pytest.raises(PromptValidationError, match=r"no chapter 'bb' for `only`") as caught:
        Prompt(template).expand_chapters(only=["bb"])
    assert caught.value.near == ("b",)
