"""Sessions: typed slices, reducers, visibility, snapshots."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import MarkdownSection, Prompt, PromptTemplate, SectionVisibility
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.runtime import (
    ClearVisibilityOverride,
    InProcessEventBus,
    Session,
    SessionSnapshot,
    SetVisibilityOverride,
    VisibilityOverrides,
)

FULL, SUMMARY = SectionVisibility


@FrozenDataclass()
class Step:
    title: str
    done: bool = False


@FrozenDataclass()
class Plan:
    steps: tuple[Step, ...] = ()


@FrozenDataclass()
class StepAdded:
    title: str


@FrozenDataclass()
class AllDone:
    pass


@FrozenDataclass()
class NeedsName:
    name: str


def add(plan: Plan, event: StepAdded) -> Plan:
    return Plan((*plan.steps, Step(event.title)))


def finish(plan: Plan, _: AllDone) -> Plan:
    return Plan(tuple(Step(step.title, done=True) for step in plan.steps))


def planning(bus: InProcessEventBus | None = None) -> Session:
    session = Session(bus=bus)
    session.register(Plan, StepAdded, add)
    session.register(Plan, AllDone, finish)
    return session


def test_a_slice_follows_events_on_the_bus() -> None:
    bus = InProcessEventBus()
    session = planning(bus)
    bus.publish(StepAdded("read"))
    bus.publish(StepAdded("write"))
    bus.publish(AllDone())
    assert session[Plan].state == Plan((Step("read", done=True), Step("write", done=True)))


def test_a_closed_session_follows_the_bus_no_longer() -> None:
    bus = InProcessEventBus()
    session = planning(bus)
    session.close()
    bus.publish(StepAdded("read"))
    assert session[Plan].state == Plan()


def test_applying_an_event_changes_one_slice_and_returns_its_state() -> None:
    session = planning()
    assert session[Plan].apply(StepAdded("read")) == Plan((Step("read"),))
    session[Plan].replace(Plan())
    assert session[Plan].state == Plan()


def test_registering_twice_does_not_act_twice() -> None:
    session = planning()
    session.register(Plan, StepAdded, add)
    session.bus.publish(StepAdded("once"))
    assert session[Plan].state == Plan((Step("once"),))


def test_an_event_that_a_slice_does_not_take_is_refused_with_those_it_takes() -> None:
    with pytest.raises(PromptConfigurationError, match=r"it takes AllDone, StepAdded\."):
        planning()[Plan].apply(NeedsName("?"))


def test_a_state_without_defaults_asks_for_one() -> None:
    session = Session()
    with pytest.raises(PromptConfigurationError, match=r"session\[NeedsName\]\.replace"):
        _ = session[NeedsName].state
    session[NeedsName].replace(NeedsName("given"))
    assert session[NeedsName].state.name == "given"


def test_visibility_overrides_are_set_replaced_and_cleared() -> None:
    session = Session()
    overrides = session[VisibilityOverrides]
    overrides.apply(SetVisibilityOverride(path=("a",), visibility=FULL))
    overrides.apply(SetVisibilityOverride(path=("a", "b"), visibility=SUMMARY))
    overrides.apply(SetVisibilityOverride(path=("a",), visibility=SUMMARY))
    assert dict(session.visibility_overrides()) == {("a",): SUMMARY, ("a", "b"): SUMMARY}
    overrides.apply(ClearVisibilityOverride(path=("a",)))
    assert dict(session.visibility_overrides()) == {("a", "b"): SUMMARY}
    overrides.apply(ClearVisibilityOverride())
    assert dict(session.visibility_overrides()) == {}


def test_an_override_belongs_to_one_prompt_or_to_all_of_them() -> None:
    session = Session()

    def shown(name: str) -> SectionVisibility | None:
        return session.visibility_overrides(name).get(("a",))

    session.apply_visibility_overrides({("a",): FULL}, "t/one")
    restored = Session()
    restored.restore(SessionSnapshot.from_json(session.snapshot().to_json()))
    for each in (session, restored):
        assert dict(each.visibility_overrides("t/one")) == {("a",): FULL}
        assert dict(each.visibility_overrides("t/two")) == {}
    session.apply_visibility_overrides({("a",): SUMMARY})
    assert (shown("t/one"), shown("t/two")) == (SUMMARY, SUMMARY), "the later one counts"
    session.apply_visibility_overrides({("a",): FULL}, "t/two")
    assert (shown("t/one"), shown("t/two")) == (SUMMARY, FULL)
    session[VisibilityOverrides].apply(ClearVisibilityOverride(("a",)))
    assert (shown("t/one"), shown("t/two")) == (None, None)


def test_a_render_with_the_session_shows_what_the_session_opened() -> None:
    template = PromptTemplate(
        ns="t",
        key="t",
        sections=[
            MarkdownSection[None](
                title="Docs", key="docs", template="All.", summary="Some.", visibility=SUMMARY
            )
        ],
    )
    session = Session()
    assert "All." not in template.render(session=session).text
    session[VisibilityOverrides].apply(SetVisibilityOverride(path=("docs",), visibility=FULL))
    assert "All." in Prompt(template).render(session=session).text
    closed = template.render(session=session, visibility_overrides={("docs",): SUMMARY})
    assert "All." not in closed.text, "an explicit override wins over the session's"


def test_a_snapshot_undoes_everything_since() -> None:
    session = planning()
    session[Plan].apply(StepAdded("before"))
    snapshot = session.snapshot()
    session[Plan].apply(StepAdded("after"))
    session.apply_visibility_overrides({("docs",): FULL})
    session.restore(snapshot)
    assert session[Plan].state == Plan((Step("before"),))
    assert dict(session.visibility_overrides()) == {}


paths = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3).map(tuple)


@given(
    titles=st.lists(st.text(max_size=20), max_size=5),
    overrides=st.dictionaries(paths, st.sampled_from(SectionVisibility), max_size=5),
)
def test_a_snapshot_survives_json(
    titles: list[str], overrides: dict[tuple[str, ...], SectionVisibility]
) -> None:
    session = planning()
    for title in titles:
        session[Plan].apply(StepAdded(title))
    session.apply_visibility_overrides(overrides)
    text = session.snapshot().to_json()
    fresh = Session()
    fresh.restore(SessionSnapshot.from_json(text))
    assert fresh.snapshot().to_json() == text, "what nobody asked for is kept as it is"
    assert fresh[Plan].state == session[Plan].state
    assert fresh.visibility_overrides() == session.visibility_overrides()


def test_a_snapshot_that_does_not_fit_the_class_says_where() -> None:
    session = planning()
    session[Plan].apply(StepAdded("read"))
    text = session.snapshot().to_json().replace('"read"', "[]")
    session.restore(SessionSnapshot.from_json(text))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"\$\.steps\[0\]\.title"):
            _ = session[Plan].state


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": 2, "slices": {}}', '{"format": 1}'])
def test_something_that_is_no_snapshot_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="snapshot"):
        SessionSnapshot.from_json(text)


@pytest.mark.parametrize("value", [3, [["a"]], [[["a"], "OPEN"]], [[1, "FULL"]]])
def test_broken_visibility_overrides_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="FULL"):
        VisibilityOverrides.from_json(json.loads(json.dumps(value)))


def test_a_state_that_cannot_be_written_says_what_it_needs() -> None:
    session = Session()
    session[list].replace([1])
    with pytest.raises(TypeError, match="`to_json` and `from_json`"):
        session.snapshot().to_json()
