"""A conversation with images, limits and cancellation."""

import threading
from collections.abc import Iterable

from foldline.prompts import ContextPolicy, Deadline, MarkdownSection, PromptTemplate
from foldline.prompts.adapters import ScriptedAdapter
from foldline.prompts.errors import EvaluationFailure, PromptEvaluationError
from foldline.prompts.runtime import Conversation, Image

template = PromptTemplate(
    ns="shop",
    key="chat",
    sections=[MarkdownSection[None](title="Chat", key="chat", template="Be brief.")],
)


def main(lines: Iterable[str]) -> list[str]:
    adapter = ScriptedAdapter(lambda rendered, outcomes: "Yes.")
    picture = Image.of(b"\x89PNG", "image/png")
    chat = Conversation().user("Look:", picture)
    pieces: list[str] = []
    for line in lines:
        response = adapter.evaluate(
            template,
            conversation=chat,
            context_policy=ContextPolicy(keep_turns=2),
            deadline=Deadline.after(60),
            on_text=pieces.append,
        )
        chat = response.conversation.user(line)
    stop = threading.Event()
    stop.set()
    try:
        adapter.evaluate(template, conversation=chat, cancellation=stop)
    except PromptEvaluationError as error:
        if error.kind is not EvaluationFailure.CANCELLED:
            raise
    return [turn.role for turn in chat.turns]


if __name__ == "__main__":
    assert main(["Sure?", "Really?"])[-3:] == ["user", "assistant", "user"]
