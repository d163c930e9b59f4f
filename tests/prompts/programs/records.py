"""What evaluations did, kept in a store and looked at; a request that isn't sent."""

from dataclasses import replace

from foldline.plugins.stores import SQLiteEventStore
from foldline.prompts import CachePrices, MarkdownSection, PromptTemplate
from foldline.prompts.adapters import RecordingAdapter, ScriptedAdapter, Transcript
from foldline.prompts.runtime import InProcessEventBus, PromptExecuted, TokenUsage

template = PromptTemplate(
    ns="shop",
    key="kept",
    sections=[MarkdownSection[None](title="Task", key="task", template="Say it.")],
)


def main() -> tuple[Transcript, float, list[str]]:
    bus = InProcessEventBus()
    answers: list[str] = []
    bus.subscribe(PromptExecuted, lambda event: answers.append(replace(event, text="…").text))
    recording = RecordingAdapter(ScriptedAdapter(lambda rendered, outcomes: "It."))
    usage = TokenUsage()
    with SQLiteEventStore(":memory:", content=True) as store:
        store.attach(bus)
        for _ in range(2):
            usage += recording.evaluate(template, bus=bus).usage
        kinds = {event.kind: event.data for event in store.events(prompt_ns="shop")}
        assert kinds["PromptExecuted"]["text"] == "It."
        totals = store.token_totals(prompt_key="kept")
        assert totals[0].prompt_key == "kept"
    return recording.transcript, usage.billed(CachePrices(read=0.1)), answers


if __name__ == "__main__":
    transcript, bill, answers = main()
    assert answers == ["…", "…"]
    assert bill == 0
    assert ScriptedAdapter(transcript).evaluate(template).text == "It."
