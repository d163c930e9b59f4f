"""`foldline prompts`: foldline's own prompts, to read or to put into an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline import agent
from foldline.agent.refusals import Refused
from foldline.agent.terminal import show

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from foldline.agent.verbs import Verbs

PROMPTS = {
    "agent": "how to read code at the least cost, for an agent with foldline's tools",
    "mcp": "the instructions that `foldline mcp` sends to its clients",
    "choose-symbols": "the first call of `foldline context --model`",
    "answer-question": "the second call of `foldline context --model`",
}
# The prompts that name tools.
_WITH_TOOLS = ("agent", "mcp")


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "prompts",
        help="show foldline's own prompts",
        description="Lists foldline's own prompts, or shows one of them.",
    )
    parser.add_argument(
        "action", nargs="?", choices=("list", "show"), default="list", help="list all, or show one"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="the prompt to show")
    parser.add_argument(
        "--tools",
        nargs="+",
        metavar="TOOL",
        help="the tools that the agent has, for the prompts agent and mcp (default: all)",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    if options.action == "list":
        if options.name or options.tools:
            raise Refused("`list` has no arguments: use `foldline prompts show NAME`")
        width = max(map(len, PROMPTS))
        show("\n".join(f"{name:{width}}  {summary}" for name, summary in PROMPTS.items()))
        return 0
    if options.name not in PROMPTS:
        named = "name a prompt" if options.name is None else f"there is no prompt {options.name!r}"
        raise Refused(f"{named}; there are {', '.join(PROMPTS)}")
    if options.tools and options.name not in _WITH_TOOLS:
        raise Refused(f"the prompt {options.name} names no tools: leave out --tools")
    return _show(options.name, options.tools)


def _show(name: str, tools: Sequence[str] | None) -> int:
    all_tools = agent.reading_steps.ALL_TOOLS
    unknown = [tool for tool in tools or () if tool not in all_tools]
    if unknown:
        raise Refused(f"there is no tool {unknown[0]!r}; there are {', '.join(all_tools)}")
    if name == "agent":
        show(agent.agent_prompt(tools or all_tools))
    elif name == "mcp":
        show(agent.reading_steps.mcp_instructions(tools or all_tools))
    else:
        own = agent.pipeline_prompts
        prompts = {one.key: one for one in (own.CHOOSE_SYMBOLS, own.ANSWER_QUESTION)}
        shown = prompts[name].render(*own.placeholders(prompts[name]))
        show(shown.text)
    return 0
