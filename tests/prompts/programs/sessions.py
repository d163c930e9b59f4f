"""State that tools change by events, and a subscriber that counts."""

from collections import Counter
from dataclasses import dataclass

from foldline.prompts import MarkdownSection, PromptTemplate, Tool, ToolContext, ToolResult
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.runtime import Event, Session, SessionSnapshot, ToolInvoked


@dataclass(frozen=True)
class Cart:
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Added:
    item: str


def add(cart: Cart, event: Added) -> Cart:
    return Cart((*cart.items, event.item))


def put(params: Added, *, context: ToolContext) -> ToolResult[int]:
    session = context.session
    assert isinstance(session, Session)
    return ToolResult(value=len(session[Cart].apply(params).items))


def main() -> tuple[Cart, Counter[str]]:
    session = Session()
    session.register(Cart, Added, add)
    kinds: Counter[str] = Counter()

    def count(event: Event) -> None:
        kinds[type(event).__name__] += 1
        if isinstance(event, ToolInvoked):
            kinds[event.name] += 1

    tool = Tool[Added, int](name="put", description="Put it into the cart.", handler=put)
    section = MarkdownSection[None](title="Cart", key="cart", template="Fill it.", tools=[tool])
    script = Transcript.of(
        [ScriptedTurn(tool_calls=(ScriptedCall("put", {"item": "tea"}),)), ScriptedTurn("Done.")]
    )
    with session.bus.subscribe(Event, count):
        prompt = PromptTemplate(ns="shop", key="cart", sections=[section])
        ScriptedAdapter(script).evaluate(prompt, session=session)
    later = Session()
    later.restore(SessionSnapshot.from_json(session.snapshot().to_json()))
    return later[Cart].state, kinds


if __name__ == "__main__":
    cart, kinds = main()
    assert cart == Cart(("tea",))
    assert (kinds["put"], kinds["PromptExecuted"]) == (1, 1)
