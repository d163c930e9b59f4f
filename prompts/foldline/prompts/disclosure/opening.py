"""Sections opened by appending their text, so that nothing changes that was sent before.

Providers keep what they have read as long as the next request begins with the same bytes. So the
tools of the first request are those of all later ones (`stable`), and opened sections come at the
end of the conversation (`opened_since`), with their tools.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn, TypeVar

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.disclosure.disclosure import disclosure_param_descriptions, disclosure_tools
from foldline.prompts.disclosure.sent import SentPrompt, SentSection
from foldline.prompts.errors import ToolValidationError
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.layout.blocks import Block
from foldline.prompts.layout.fitting import FITTED
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.layout.tree import Node
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.roles import SECTION_ROLES, Role
from foldline.prompts.tool import Tool, ToolContext
from foldline.prompts.tool_calls import described, parameters_schema
from foldline.prompts.visibility import SectionPath, SectionVisibility
from foldline.prompts.wording import ENGLISH, Wording

__all__ = ["CALL_TOOL", "Appending", "CallToolParams", "Opened", "opened_since", "stable"]

OutputT = TypeVar("OutputT")

CALL_TOOL = "call_tool"


@FrozenDataclass()
class Appending:
    """The means by which a model gets sections that it opens at the end of a conversation.

    Args:
        tools: With `deferred`, the tools of folded sections are sent with the first request, marked
            so that the model doesn't see them, and the result of an opening refers to them. With
            `proxy`, they aren't sent: the result describes them, and one tool, `call_tool`, calls
            them.
        system: Opened sections with the role `system` or `developer` come as such a message;
            otherwise, they are in the result, too.
    """

    tools: Literal["deferred", "proxy"] = "proxy"
    system: bool = False


@FrozenDataclass()
class CallToolParams:
    """Parameters of `call_tool`."""

    name: str = field(metadata={"description": ENGLISH.call_tool_name})
    arguments: dict[str, object] = field(
        default_factory=dict,
        metadata={"description": ENGLISH.call_tool_arguments},
    )


@dataclass(frozen=True, slots=True)
class Opened:
    """The additions of opened sections to a prompt: their texts, by role, and their tools."""

    texts: tuple[tuple[Role, str], ...]
    tools: tuple[Tool[object, object], ...]
    paths: tuple[SectionPath, ...] = ()
    """The sections of the texts."""
    folded: tuple[SectionPath, ...] = ()
    """Those whose summary was shown before."""
    follow: tuple[tuple[Role, str], ...] = ()
    """The texts that come as messages of their own after the results."""
    references: tuple[str, ...] = ()
    """The deferred tools that the result refers to."""

    def text(self, roles: Iterable[Role] = SECTION_ROLES) -> str:
        """The texts of these roles."""
        return "\n\n".join(text for role, text in self.texts if role in roles)


# The first request


def stable(rendered: RenderedPrompt[OutputT], means: Appending) -> RenderedPrompt[OutputT]:
    """Return a rendered prompt with the tools that it needs whatever is opened later.

    A prompt in which nothing can be opened is returned as it is.
    """
    names = _disclosure_names(rendered)
    if OPEN_SECTIONS not in names:
        return rendered
    offered = [tool.name for tool in dispatched(rendered, names)]
    hidden = [tool.name for node in _folded(rendered) for tool in node.section.tools]
    if hidden and means.tools == "proxy":
        offered.append(proxy_name(rendered))
        hidden = []
    kept = offering(rendered, offered, hidden)
    assert kept is not None
    return kept


def offering(
    rendered: RenderedPrompt[OutputT],
    names: Sequence[str],
    deferred: Sequence[str] = (),
    *,
    appends: bool = True,
) -> RenderedPrompt[OutputT] | None:
    """Return a rendered prompt that offers the tools of these names; None if one is gone.

    They may be those of sections that aren't shown, and the one that calls others. With `appends`,
    `open_sections` says that its result has what it opens.
    """
    by_name = _tools_of(rendered)
    wording = rendered.wording
    disclosing = [name for name in names if name in (OPEN_SECTIONS, READ_SECTION)]
    for tool in dispatched(rendered, disclosing):
        by_name[tool.name] = _offered(tool, wording) if appends else tool
    descriptions: dict[str, Mapping[str, str]] = {
        **disclosure_param_descriptions(wording, [by_name[n] for n in disclosing if n in by_name])
    }
    proxy = proxy_name(rendered)
    if proxy in names:
        by_name[proxy] = Tool[CallToolParams, None](
            name=proxy,
            description=wording.call_tool,
            handler=_never_called,
            accepts_overrides=False,
        )
        descriptions[proxy] = {
            "name": wording.call_tool_name,
            "arguments": wording.call_tool_arguments,
        }
    if not by_name.keys() >= {*names, *deferred}:
        return None
    return replace(
        rendered,
        _tools=tuple(by_name[name] for name in names),
        _deferred=tuple(by_name[name] for name in deferred),
        _tool_param_descriptions={**descriptions, **rendered.tool_param_descriptions},
    )


def dispatched(
    rendered: RenderedPrompt[Any], names: Iterable[str]
) -> tuple[Tool[object, object], ...]:
    """Return a rendered prompt's tools, with the disclosure tools of these names in any case."""
    source = rendered._source  # noqa: SLF001 - The two tools ask the pass that rendered.
    if source is None:
        return rendered.tools
    tools = [tool for tool in rendered.tools if tool.name not in (OPEN_SECTIONS, READ_SECTION)]
    return (*tools, *disclosure_tools(source, source.pieces(source.plan.roots), also=names))


def _disclosure_names(rendered: RenderedPrompt[Any]) -> set[str]:
    """Return the disclosure tools that a prompt needs now, or may need once more is open."""
    names = {block.opened_by for block in rendered.blocks if block.opened_by is not None}
    if any(
        node.opened_by == READ_SECTION
        and node.declared is not SectionVisibility.FULL
        and node.section.has_summary
        for node in _folded(rendered)
    ):
        names.add(READ_SECTION)
    return names


def _folded(rendered: RenderedPrompt[Any]) -> list[Node]:
    """Return the summarized sections and all below them."""
    sections = rendered._sections  # noqa: SLF001 - Those that aren't shown, too.
    tops = [sections[b.path] for b in rendered.blocks if b.opened_by and b.path in sections]
    return [node for top in tops for node in top.walk()]


def _tools_of(rendered: RenderedPrompt[Any]) -> dict[str, Tool[object, object]]:
    """Return the tools of all sections by name, shown or not, and those of the prompt itself."""
    nodes = rendered._sections.values()  # noqa: SLF001 - As above.
    return {t.name: t for node in nodes for t in node.section.tools} | {
        tool.name: tool for tool in rendered.tools
    }


def _offered(tool: Tool[object, object], wording: Wording) -> Tool[object, object]:
    """Return a tool as it is described to the model."""
    if tool.name != OPEN_SECTIONS:
        return tool
    twin = copy.copy(tool)
    twin.description = wording.open_sections_appended
    return twin


def proxy_name(rendered: RenderedPrompt[Any]) -> str:
    """Return the name of the tool that calls others: `call_tool`, or a longer one if it's taken."""
    taken = _tools_of(rendered)
    name = CALL_TOOL
    while name in taken:
        name += "_"
    return name


def _never_called(params: CallToolParams, *, context: ToolContext | None) -> NoReturn:
    # A call with these parameters is dispatched as a call of the tool that it names.
    raise ToolValidationError(f"There is no tool {params.name!r}.")


# What was sent, and what comes later


def sent_sections(rendered: RenderedPrompt[Any]) -> tuple[SentSection, ...]:
    """Return the sections that a model has seen once it was sent all of this prompt."""
    if not rendered.blocks:
        return (SentSection((), _hashed(rendered.text)),)
    return tuple(
        SentSection(block.path, _digest(block), block.opened_by is not None)
        for block in rendered.blocks
        if block.enabled
    )


def opened_since(sent: SentPrompt, now: RenderedPrompt[Any]) -> Opened | str:
    """Return what a prompt shows now and didn't show when it was sent.

    If anything else has changed, the new text can't be appended: then return the reason.
    """
    earlier = {section.path: section for section in sent.sections}
    order = [block.path for block in now.blocks if block.path in earlier]
    if order != [path for path in earlier if path in set(order)]:
        return "the order of the sections changes"
    shown: list[tuple[Role, list[Segment]]] = []
    paths: list[SectionPath] = []
    top: SectionPath | None = None
    folded: list[SectionPath] = []
    for block in now.blocks:
        before = earlier.pop(block.path, None)
        if top is not None and block.path[: len(top)] == top:
            shown[-1][1].extend(block.segments)
        elif block.enabled and (before is None or (before.folded and block.opened_by is None)):
            top = block.path
            folded += [top] if before is not None else []
            shown.append((block.role, list(block.segments)))
        else:
            if before is not None and (not block.enabled or before.digest != _digest(block)):
                return f"the section {block.dotted_key!r} changes, too"
            continue
        paths += [block.path] if block.enabled else []
    if not now.blocks and earlier.pop((), None) != sent_sections(now)[0]:
        return "the text changes"
    if earlier:
        return f"the section {'.'.join(next(iter(earlier)))!r} goes"
    had = {*sent.tools, *sent.brought} - {OPEN_SECTIONS, READ_SECTION, sent.proxy}
    tools = [tool for tool in now.tools if tool.name not in (OPEN_SECTIONS, READ_SECTION)]
    if lost := sorted(had - {tool.name for tool in tools}):
        return f"the tool {lost[0]!r} goes"
    return Opened(
        tuple((role, _joined(segments)) for role, segments in shown),
        tuple(tool for tool in tools if tool.name not in had),
        paths=tuple(paths),
        folded=tuple(folded),
    )


def result_of(
    opened: Opened,
    instructions: str,
    rendered: RenderedPrompt[Any],
    means: Appending,
) -> tuple[str, Opened]:
    """Return the text of the result for the model, and the opening as it is sent.

    The descriptions of the tools are from `rendered`, which has these sections open.
    """
    follow = tuple(
        (role, opened.text((role,)))
        for role in (Role.SYSTEM, Role.DEVELOPER)
        if means.system and opened.text((role,))
    )
    later = {role for role, _ in follow}
    here = opened.text([role for role in SECTION_ROLES if role not in later])
    parts = [instructions, *([rendered.wording.opened_as_message] if follow else []), here]
    if opened.tools and means.tools == "proxy":
        parts.append(_described(opened.tools, rendered))
    names = tuple(tool.name for tool in opened.tools) if means.tools == "deferred" else ()
    text = "\n\n".join(part for part in parts if part)
    return text, replace(opened, follow=follow, references=names)


def _described(tools: Sequence[Tool[object, object]], rendered: RenderedPrompt[Any]) -> str:
    descriptions = rendered.tool_param_descriptions
    listed = [rendered.wording.text("opened_tools", tool=proxy_name(rendered))]
    for tool in tools:
        schema = parameters_schema(tool, descriptions.get(tool.name))
        listed.append(
            f"`{tool.name}`: {described(tool, rendered.wording)}\n\n"
            f"Parameters: {json.dumps(schema, ensure_ascii=False)}"
        )
    return "\n\n".join(listed)


def called_by_proxy(
    name: str, arguments: object, proxy: str
) -> tuple[str, str | dict[str, object]] | None:
    """Return the tool and the arguments that a call of `call_tool` means; None for other calls."""
    if name != proxy:
        return None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    if not isinstance(arguments, dict) or not isinstance(arguments.get("name"), str):
        return None
    inner = arguments.get("arguments", {})
    return (arguments["name"], inner) if isinstance(inner, (str, dict)) else None


def definitions(rendered: RenderedPrompt[Any], names: Iterable[str]) -> dict[str, str]:
    """Return a hash of the definition of each of these tools; those of the library have none."""
    by_name = _tools_of(rendered)
    params = rendered.tool_param_descriptions
    return {
        name: _hashed(
            described(by_name[name], rendered.wording)
            + json.dumps(parameters_schema(by_name[name], params.get(name)))
        )
        for name in names
        if name in by_name and name not in (OPEN_SECTIONS, READ_SECTION)
    }


def _digest(block: Block) -> str:
    return _hashed(f"{block.role} {_joined(block.segments)}")


def _hashed(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _joined(segments: Sequence[Segment]) -> str:
    """Return the text without the line that says what `fit` did, and the blank line at its end."""
    segments = [segment for segment in segments if segment.field != FITTED]
    if segments and segments[-1].kind is SegmentKind.SEPARATOR:
        segments = segments[:-1]
    return "".join(segment.text for segment in segments)
