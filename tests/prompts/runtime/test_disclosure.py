"""The whole loop: render, `open_sections`, exception, retry, content visible to the model."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    Chapter,
    ChaptersExpansionPolicy,
    MarkdownSection,
    Prompt,
    PromptTemplate,
    RenderedPrompt,
    SectionPath,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
    apply_expansion,
)
from foldline.prompts.adapters import (
    ScriptedAdapter,
    ScriptedCall,
    ScriptedTurn,
    Transcript,
    render_for_evaluation,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    EvaluationFailure,
    ExpansionLimitError,
    PromptConfigurationError,
    PromptError,
    PromptEvaluationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.runtime import (
    EvaluationKeywords,
    EvaluationOptions,
    Expansion,
    InProcessEventBus,
    PromptExecuted,
    PromptRendered,
    Session,
    SetVisibilityOverride,
    ToolInvoked,
    ToolOutcome,
    VisibilityOverrides,
    evaluate_with_disclosure,
)

FULL, SUMMARY = SectionVisibility


@FrozenDataclass()
class ReviewTask(Task):
    focus: str | None = None


@FrozenDataclass()
class Notes:
    lines: tuple[str, ...] = ()


@FrozenDataclass()
class Note:
    line: str


def take(notes: Notes, event: Note) -> Notes:
    return Notes((*notes.lines, event.line))


def note(params: Note, *, context: ToolContext) -> ToolResult[None]:
    assert isinstance(context.session, Session)
    context.session[Notes].apply(params)
    return ToolResult("Noted.")


TEMPLATE = PromptTemplate(
    ns="t",
    key="loop",
    sections=[
        MarkdownSection[None](
            title="Docs",
            key="docs",
            template="All of the docs.",
            summary="Some docs.",
            visibility=SUMMARY,
            tools=[Tool[Note, None](name="note", description="Notes a line.", handler=note)],
            children=[
                MarkdownSection[None](
                    title="Deep",
                    key="deep",
                    template="All of the depths.",
                    summary="Depths.",
                    visibility=SUMMARY,
                )
            ],
        ),
        TaskSection[ReviewTask](),
    ],
)
PROMPT = TEMPLATE.bind(ReviewTask(request="Review it."))


def opening(*keys: str, reason: str = "why") -> ScriptedTurn:
    return ScriptedTurn(
        tool_calls=(ScriptedCall("open_sections", {"section_keys": list(keys), "reason": reason}),)
    )


def noting(line: str) -> ScriptedTurn:
    return ScriptedTurn(tool_calls=(ScriptedCall("note", {"line": line}),))


def seen(bus: InProcessEventBus) -> list[PromptRendered]:
    renders: list[PromptRendered] = []
    bus.subscribe(PromptRendered, renders.append)
    return renders


def test_the_full_flow_shows_the_content_after_the_request() -> None:
    bus = InProcessEventBus()
    renders = seen(bus)
    calls: list[ToolInvoked] = []
    answers: list[PromptExecuted] = []
    bus.subscribe(ToolInvoked, calls.append)
    bus.subscribe(PromptExecuted, answers.append)
    session = Session(bus=bus)
    script = Transcript.of([opening("docs", reason="need the API")], [ScriptedTurn("Fine.")])
    response = evaluate_with_disclosure(ScriptedAdapter(script), PROMPT, session=session)

    assert response.text == "Fine."
    assert response.expansions == (
        Expansion(
            ("docs",), "need the API", why="the scripted adapter can't append to what was sent"
        ),
    )
    first, second = (event.rendered for event in renders)
    assert "All of the docs." not in first.text
    assert "Expansion Context" not in first.text
    assert "All of the docs." in second.text
    assert "**Expansion Context:** Sections expanded: `docs`. Reason: need the API." in second.text
    assert {tool.name for tool in second.tools} == {"note", "read_section"}
    (call,) = calls
    assert call.metadata == {
        "requested_sections": ["docs"],
        "reason": "need the API",
        "current_visibility_state": {
            "docs": "SUMMARY",
            "docs.deep": "SUMMARY",
            "task": "FULL",
        },
    }
    assert call.success
    assert call.turn == 1
    assert [e.text for e in answers] == ["Fine."]
    assert len({event.evaluation_id for event in renders}) == 2
    assert {event.session_id for event in [*renders, *calls]} == {session.session_id}
    assert dict(session.visibility_overrides()) == {("docs",): FULL}


def test_the_event_is_published_before_the_exception_reaches_the_caller() -> None:
    bus = InProcessEventBus()
    order: list[str] = []
    bus.subscribe(ToolInvoked, lambda event: order.append(f"event {event.name}"))
    adapter = ScriptedAdapter(Transcript.of([opening("docs")]))
    try:
        adapter.evaluate(PROMPT, bus=bus)
    except VisibilityExpansionRequired:
        order.append("exception")
    assert order == ["event open_sections", "exception"]


def test_the_prompt_stays_as_it_was_and_the_instructions_are_gone_afterwards() -> None:
    task = PROMPT.params
    script = Transcript.of([opening("docs")], [ScriptedTurn("a")], [ScriptedTurn("b")])
    adapter = ScriptedAdapter(script)
    evaluate_with_disclosure(adapter, PROMPT)
    assert PROMPT.params == task
    again = evaluate_with_disclosure(adapter, PROMPT)
    assert "Expansion Context" not in again.rendered.text
    assert "All of the docs." not in again.rendered.text, "without a session nothing is kept"


def test_the_loop_written_by_hand_with_overrides() -> None:
    """VD-55, TK-10: the pattern of the task specification."""
    adapter = ScriptedAdapter(Transcript.of([opening("docs")], [ScriptedTurn("Fine.")]))
    task = ReviewTask(request="Review it.")
    bound = TEMPLATE.bind(task)
    overrides: dict[tuple[str, ...], SectionVisibility] = {}
    while True:
        try:
            response = adapter.evaluate(bound, visibility_overrides=overrides)
            break
        except VisibilityExpansionRequired as request:
            overrides.update(request.requested_overrides)
            task = replace(task, expansion_instructions=request.expansion_instructions)
            bound = bound.bind(task)
    assert "All of the docs." in response.rendered.text
    assert "Expansion Context" in response.rendered.text


def test_the_loop_written_by_hand_with_a_session() -> None:
    adapter = ScriptedAdapter(Transcript.of([opening("docs")], [ScriptedTurn("Fine.")]))
    session = Session()
    while True:
        try:
            response = adapter.evaluate(PROMPT, session=session)
            break
        except VisibilityExpansionRequired as request:
            for path, visibility in request.requested_overrides.items():
                session[VisibilityOverrides].apply(
                    SetVisibilityOverride(path=path, visibility=visibility)
                )
    assert "All of the docs." in response.rendered.text


def test_the_loop_written_by_hand_with_rendered_prompts() -> None:
    adapter = ScriptedAdapter(Transcript.of([opening("docs")], [ScriptedTurn("Fine.")]))
    overrides: dict[tuple[str, ...], SectionVisibility] = {}
    while True:
        try:
            rendered = TEMPLATE.render(ReviewTask("Go."), visibility_overrides=overrides)
            response = adapter.evaluate(rendered, session=Session(), bus=InProcessEventBus())
            break
        except VisibilityExpansionRequired as request:
            overrides.update(request.requested_overrides)
    assert "All of the docs." in response.rendered.text


def test_the_models_request_wins_over_the_callers_and_the_sessions_overrides() -> None:
    session = Session()
    session.apply_visibility_overrides({("docs",): SUMMARY})
    overrides: dict[SectionPath, SectionVisibility] = {("docs",): SUMMARY}
    script = Transcript.of([opening("docs")], [ScriptedTurn("Fine.")])
    response = evaluate_with_disclosure(
        ScriptedAdapter(script), PROMPT, session=session, visibility_overrides=overrides
    )
    assert "All of the docs." in response.rendered.text
    assert overrides == {("docs",): SUMMARY}, "the caller's mapping is not touched"


def test_a_session_keeps_open_what_was_opened() -> None:
    session = Session()
    script = Transcript.of([opening("docs")], [ScriptedTurn("a")], [ScriptedTurn("b")])
    adapter = ScriptedAdapter(script)
    evaluate_with_disclosure(adapter, PROMPT, session=session)
    later = evaluate_with_disclosure(adapter, PROMPT, session=session)
    assert "All of the docs." in later.rendered.text
    assert "Expansion Context" not in later.rendered.text


def by_hand(adapter: ScriptedAdapter, prompt: Prompt[None], session: Session) -> None:
    with pytest.raises(VisibilityExpansionRequired) as caught:
        adapter.evaluate(prompt, session=session)
    apply_expansion(caught.value, session=session)
    adapter.evaluate(prompt, session=session)


def by_loop(adapter: ScriptedAdapter, prompt: Prompt[None], session: Session) -> None:
    evaluate_with_disclosure(adapter, prompt, session=session)


@pytest.mark.parametrize("evaluate", [by_loop, by_hand])
def test_an_opening_belongs_to_the_prompt_that_showed_the_section(
    evaluate: Callable[[ScriptedAdapter, Prompt[None], Session], None],
) -> None:
    session = Session()
    adapter = ScriptedAdapter(Transcript.of([opening("docs")], [ScriptedTurn("Fine.")]))
    evaluate(adapter, PROMPT, session)
    other = PromptTemplate(ns="t", key="other", sections=TEMPLATE.sections[:1])
    assert "All of the docs." in PROMPT.render(session=session).text
    assert "All of the docs." not in other.render(session=session).text
    session[VisibilityOverrides].apply(SetVisibilityOverride(path=("docs",), visibility=FULL))
    assert "All of the docs." in other.render(session=session).text


@pytest.mark.parametrize("rollback", [False, True])
def test_the_session_is_rolled_back_only_on_request(rollback: bool) -> None:
    session = Session()
    session.register(Notes, Note, take)
    session.apply_visibility_overrides({("docs",): FULL})
    script = Transcript.of(
        [noting("lost?"), ScriptedTurn(tool_calls=opening("docs.deep").tool_calls)],
        [noting("kept"), ScriptedTurn("Fine.")],
    )
    opening_all = replace_disclosure(TEMPLATE)
    evaluate_with_disclosure(
        ScriptedAdapter(script),
        opening_all.bind(ReviewTask("Go.")),
        session=session,
        rollback_session=rollback,
    )
    assert session[Notes].state.lines == (("kept",) if rollback else ("lost?", "kept"))
    assert session.visibility_overrides() == {("docs",): FULL, ("docs", "deep"): FULL}


def replace_disclosure(template: PromptTemplate[None]) -> PromptTemplate[None]:
    return PromptTemplate(
        ns=template.ns, key=template.key, sections=template.sections, disclosure="open"
    )


def test_the_retry_limit_names_itself_and_is_caused_by_the_request() -> None:
    script = Transcript.of([opening("docs")], [ScriptedTurn("never asked")])
    with pytest.raises(ExpansionLimitError, match="0 are allowed") as caught:
        evaluate_with_disclosure(ScriptedAdapter(script), PROMPT, max_expansions=0)
    assert caught.value.kind is EvaluationFailure.EXPANSION_LIMIT
    assert isinstance(caught.value.__cause__, VisibilityExpansionRequired)


@pytest.mark.parametrize(("budget", "fits"), [(10_000, True), (5, False)])
def test_the_expansion_budget_counts_what_is_added(budget: int, fits: bool) -> None:
    session = Session()
    granted: list[VisibilityExpansionRequired] = []

    def evaluate() -> tuple[Expansion, ...]:
        script = Transcript.of([opening("docs")], [ScriptedTurn("Fine.")])
        return evaluate_with_disclosure(
            ScriptedAdapter(script),
            PROMPT,
            session=session,
            expansion_budget=budget,
            count_tokens=len,
            on_expansion=granted.append,
        ).expansions

    if fits:
        (expansion,) = evaluate()
        opened = PROMPT.render(visibility_overrides={("docs",): FULL}).text
        closed = PROMPT.render().text
        instructions = granted[0].expansion_instructions
        context = len(f"**Expansion Context:** {instructions}\n\n---\n\n")
        assert expansion.tokens == len(opened) - len(closed) + context
    else:
        with pytest.raises(ExpansionLimitError, match="'docs'"):
            evaluate()
        assert granted == []
        assert dict(session.visibility_overrides()) == {}, "a refused request opens nothing"


def test_a_rendered_prompt_cannot_be_disclosed() -> None:
    with pytest.raises(PromptConfigurationError, match="give a Prompt"):
        evaluate_with_disclosure(
            ScriptedAdapter(Transcript.of()),
            PROMPT.render(),  # type: ignore[arg-type]  # What a caller may try.
        )


CHAPTERED = PromptTemplate(
    ns="t",
    key="chapters",
    disclosure="open",
    sections=[
        TaskSection[Task](),
        MarkdownSection[None](
            title="Base",
            key="base",
            template="Base text.",
            summary="Base summary.",
            visibility=SUMMARY,
            children=[
                MarkdownSection[None](
                    title="Leaf",
                    key="leaf",
                    template="Leaf text.",
                    summary="Leaf summary.",
                    visibility=SUMMARY,
                )
            ],
        ),
    ],
    chapters=[
        Chapter[None](
            key=key,
            title=key.title(),
            sections=[
                MarkdownSection[None](
                    title=f"{key} section",
                    key=f"{key}-section",
                    template=f"Hidden {key} text.",
                    summary=f"Hidden {key} summary.",
                    visibility=SUMMARY,
                    children=[
                        MarkdownSection[None](
                            title="Inner", key="inner", template=f"Hidden {key} inner."
                        )
                    ],
                )
            ],
        )
        for key in ("billing", "weather")
    ],
)

KEYS = ["base", "base.leaf", "billing-section", "weather-section", "weather-section.inner", "?"]
arguments = st.one_of(
    st.builds(
        lambda keys, reason: {"section_keys": keys, "reason": reason},
        st.lists(st.sampled_from(KEYS), max_size=3),
        st.text(max_size=300),
    ),
    st.builds(lambda key: {"section_key": key}, st.sampled_from(KEYS)),
    st.text(max_size=10),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)
calls = st.builds(
    ScriptedCall, st.sampled_from(["open_sections", "read_section", "other"]), arguments
)
turns = st.builds(
    ScriptedTurn, text=st.text(max_size=10), tool_calls=st.lists(calls, max_size=3).map(tuple)
)


@given(
    script=st.lists(turns, min_size=1, max_size=12),
    goal=st.sampled_from(["Explain the invoices and billing.", "Say hello."]),
    policy=st.sampled_from(ChaptersExpansionPolicy),
    max_expansions=st.integers(0, 4),
    budget=st.none() | st.integers(0, 400),
)
def test_the_loop_ends_for_every_model_and_never_shows_a_closed_chapter(
    script: list[ScriptedTurn],
    goal: str,
    policy: ChaptersExpansionPolicy,
    max_expansions: int,
    budget: int | None,
) -> None:
    """CH-23: whatever a model calls with whatever arguments, again and again."""
    asked = 0
    shown: list[RenderedPrompt[object]] = []
    told: list[str] = []

    def model(
        rendered: RenderedPrompt[object], history: Sequence[Sequence[ToolOutcome]]
    ) -> ScriptedTurn:
        nonlocal asked
        turn = script[asked % len(script)]
        asked += 1
        shown.append(rendered)
        told.extend(f"{o.result.message} {o.result.value}" for turn in history for o in turn)
        return turn

    session = Session()
    try:
        response = evaluate_with_disclosure(
            ScriptedAdapter(model, max_turns=6),
            Prompt(CHAPTERED).bind(Task(goal)),
            session=session,
            goal_section_key="task",
            chapters_expansion_policy=policy,
            max_expansions=max_expansions,
            expansion_budget=budget,
        )
        assert len(response.expansions) <= max_expansions
    except PromptEvaluationError as error:
        if error.kind not in (EvaluationFailure.TURN_LIMIT, EvaluationFailure.EXPANSION_LIMIT):
            raise
    assert asked <= 6 * (max_expansions + 1)

    about_billing = "billing" in goal
    everything = policy is ChaptersExpansionPolicy.ALL_INCLUDED
    for key, opens in (
        ("billing", everything or about_billing),
        ("weather", everything),
    ):
        if not opens:
            for rendered in shown:
                assert f"Hidden {key}" not in rendered.text
                assert not any(f"{key}-section" in block.path for block in rendered.blocks)
            assert not any(f"Hidden {key}" in text for text in told)
            assert not any(path[0] == f"{key}-section" for path in session.visibility_overrides())


def test_chapters_are_decided_on_anew_for_every_evaluation() -> None:
    session = Session()
    adapter = ScriptedAdapter(lambda *_: "Fine.")

    def shows_billing(request: str) -> bool:
        response = adapter.evaluate(
            CHAPTERED,
            Task(request),
            session=session,
            goal_section_key="task",
            chapters_expansion_policy=ChaptersExpansionPolicy.INTENT_CLASSIFIER,
        )
        return "Hidden billing" in response.rendered.text

    assert [shows_billing(r) for r in ("billing?", "hello", "billing!")] == [True, False, True]
    assert "Hidden" not in CHAPTERED.render(Task("billing")).text, "the template stays closed"


def test_the_goal_section_is_checked() -> None:
    adapter = ScriptedAdapter(lambda *_: "Fine.")
    for prompt in (CHAPTERED.bind(Task("x")), CHAPTERED.render(Task("x"))):
        with pytest.raises(PromptConfigurationError) as caught:
            adapter.evaluate(prompt, goal_section_key="taks")
        assert caught.value.near[0] == "task"
        assert adapter.evaluate(prompt, goal_section_key="task").text == "Fine."
    with pytest.raises(PromptConfigurationError, match="goal_section_key"):
        adapter.evaluate(
            CHAPTERED,
            Task("x"),
            chapters_expansion_policy=ChaptersExpansionPolicy.INTENT_CLASSIFIER,
        )


def test_parameters_of_an_evaluation_are_bound_for_it_alone() -> None:
    adapter = ScriptedAdapter(lambda rendered, _: rendered.text)
    prompt = CHAPTERED.bind(Task("mine"))
    assert "yours" in adapter.evaluate(prompt, Task("yours")).text
    assert "mine" in adapter.evaluate(prompt).text
    assert prompt.params == (Task("mine"),)


def test_a_wrong_keyword_of_an_evaluation_has_near_names() -> None:
    adapter = ScriptedAdapter(Transcript.of())
    wrong: dict[str, Any] = {"sesion": Session()}
    for call, name in (
        (lambda: adapter.evaluate(CHAPTERED, Task("x"), **wrong), "evaluate"),
        (lambda: render_for_evaluation(CHAPTERED, Task("x"), **wrong), "render_for_evaluation"),
        (lambda: evaluate_with_disclosure(adapter, PROMPT, **wrong), "evaluate_with_disclosure"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        told = f"{name}() got an unexpected keyword argument 'sesion'; did you mean 'session'?"
        assert str(caught.value) == told


def test_the_options_of_an_evaluation_are_told_once() -> None:
    names = [field.name for field in fields(EvaluationOptions)]
    assert names == list(EvaluationKeywords.__annotations__), "the keywords are the fields"
    options = EvaluationOptions(tag="de", parse_output=False)
    assert options.keywords()["tag"] == "de"
    assert "session" not in options.keywords(), "adapters needn't know what isn't used"


def test_a_rendered_prompt_takes_no_parameters_and_no_overrides() -> None:
    adapter = ScriptedAdapter(lambda *_: "Fine.")
    rendered = CHAPTERED.render(Task("x"))
    with pytest.raises(PromptConfigurationError, match="sent as is"):
        adapter.evaluate(rendered, Task("y"))
    with pytest.raises(PromptConfigurationError, match="sent as is"):
        adapter.evaluate(rendered, visibility_overrides={("base",): FULL})
    with pytest.raises(PromptConfigurationError, match="not 'text'"):
        adapter.evaluate("text")  # type: ignore[arg-type]  # What a caller may try.


@pytest.mark.parametrize(
    ("says", "told"),
    [({("docs",): FULL}, "docs"), ({("docs",): SUMMARY}, ""), ({("gone",): FULL}, "")],
)
def test_a_rendered_prompt_without_what_its_session_opened_is_told(
    says: dict[SectionPath, SectionVisibility], told: str
) -> None:
    adapter = ScriptedAdapter(lambda *_: "Fine.")
    session = Session()
    session.apply_visibility_overrides(says, "t/loop")
    session.apply_visibility_overrides({("docs",): FULL}, "t/other")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        adapter.evaluate(PROMPT.render(), session=session)
    assert [str(w.message).partition(": ")[0] for w in caught] == [
        f"A rendered prompt is sent as is, without what the session says of {told}"
    ] * bool(told)
    adapter.evaluate(PROMPT.render(session=session), session=session)
    adapter.evaluate(PROMPT.render(visibility_overrides={("docs",): SUMMARY}), session=session)


def test_chapter_params_reach_the_gate() -> None:
    @FrozenDataclass()
    class Flag:
        on: bool = False

    template = PromptTemplate(
        ns="t",
        key="flag",
        chapters=[
            Chapter[Flag](
                key="extra",
                title="Extra",
                enabled=lambda flag: flag.on,
                sections=[MarkdownSection[None](title="X", key="x", template="Extra text.")],
            )
        ],
    )
    adapter = ScriptedAdapter(lambda rendered, _: rendered.text or "nothing")
    assert adapter.evaluate(template).text == "nothing"
    assert "Extra text." in adapter.evaluate(template, chapter_params={"extra": Flag(True)}).text


def test_every_failure_of_the_loop_is_a_prompt_error() -> None:
    with pytest.raises(PromptError):
        evaluate_with_disclosure(ScriptedAdapter(Transcript.of()), PROMPT)
