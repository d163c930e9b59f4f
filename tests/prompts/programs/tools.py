"""Plain and asynchronous handlers in one prompt, evaluated by an asynchronous program."""

import asyncio
from dataclasses import dataclass

from foldline.prompts import MarkdownSection, PromptTemplate, Tool, ToolContext, ToolResult
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.runtime import PromptResponse, aevaluate_with_disclosure


@dataclass
class Order:
    number: int


@dataclass
class Parcel:
    days: int


def look_up(params: Order, *, context: ToolContext) -> ToolResult[Parcel]:
    return ToolResult(value=Parcel(params.number % 7), message=f"Call {context.call_id}.")


async def refund(params: Order, *, context: ToolContext) -> ToolResult[None]:
    await asyncio.sleep(0)
    return ToolResult(f"Refunded {params.number}.", success=context.deadline is None)


class Desk:
    def __init__(self) -> None:
        self.asked: list[int] = []

    async def ask(self, params: Order, *, context: ToolContext) -> ToolResult[str]:
        self.asked.append(params.number)
        return ToolResult(value="Yes.")


async def main() -> tuple[PromptResponse[None], Desk]:
    desk = Desk()
    prompt = PromptTemplate(
        ns="shop",
        key="desk",
        sections=[
            MarkdownSection[None](
                title="Desk",
                key="desk",
                template="Help.",
                tools=[
                    Tool[Order, Parcel](name="look_up", description="Look.", handler=look_up),
                    Tool[Order, None](name="refund", description="Refund.", handler=refund),
                    Tool[Order, str](name="ask", description="Ask.", handler=desk.ask),
                ],
            )
        ],
    )
    calls = [ScriptedCall(name, {"number": 8}) for name in ("look_up", "refund", "ask")]
    script = Transcript.of([ScriptedTurn(tool_calls=tuple(calls)), ScriptedTurn("Done.")])
    return await aevaluate_with_disclosure(ScriptedAdapter(script), prompt), desk


if __name__ == "__main__":
    response, desk = asyncio.run(main())
    assert desk.asked == [8]
    assert [outcome.result.success for outcome in response.tool_outcomes] == [True] * 3
