"""The loop that opens sections, by hand and with a session."""

from dataclasses import replace

from foldline.prompts import (
    MarkdownSection,
    PromptTemplate,
    SectionPath,
    SectionVisibility,
    Task,
    TaskSection,
    apply_expansion,
)
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.errors import VisibilityExpansionRequired
from foldline.prompts.runtime import (
    PromptResponse,
    Session,
    SetVisibilityOverride,
    VisibilityOverrides,
)

handbook = PromptTemplate(
    ns="shop",
    key="handbook",
    disclosure="open",
    sections=[
        MarkdownSection[None](
            title="Refunds",
            key="refunds",
            template="Within 14 days.",
            summary="How money goes back.",
            visibility=SectionVisibility.SUMMARY,
        ),
        TaskSection[Task](),
    ],
)


def main() -> PromptResponse[None]:
    keys = {"section_keys": ["refunds"], "reason": "to quote it"}
    script = Transcript.of(
        [ScriptedTurn(tool_calls=(ScriptedCall("open_sections", keys),))], [ScriptedTurn("14.")]
    )
    adapter = ScriptedAdapter(script)
    overrides: dict[SectionPath, SectionVisibility] = {}
    session = Session()
    task = Task("How long?")
    while True:
        try:
            return adapter.evaluate(handbook, task, session=session, visibility_overrides=overrides)
        except VisibilityExpansionRequired as request:
            apply_expansion(request, overrides, session=session)
            task = replace(task, expansion_instructions=request.expansion_instructions)


if __name__ == "__main__":
    assert "Within 14 days." in main().rendered.text
    by_hand = Session()
    by_hand[VisibilityOverrides].apply(
        SetVisibilityOverride(("refunds",), SectionVisibility.FULL, prompt="shop/handbook")
    )
    assert "Within 14 days." in handbook.render(Task("x"), session=by_hand).text
