"""`foldline preview FILE --diff REV[..REV]`: a prompt's changes between two git revisions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import in_thread
from foldline.ide import cost_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.agent.preview import NamedPrompt
    from foldline.backends.formatting.parts import Line
    from foldline.ide.render.diff import Comparison, SectionChange, ToolChange

MARKS = {"added": "+", "removed": "-", "changed": "~"}
NOW = "as it is now"
STYLES = {"+": "green", "-": "red", "@": "cyan"}


async def diff(prompt: NamedPrompt, revisions: str) -> Comparison:
    """Compare the prompt at `REV` with the current one, or at `REV..REV`.

    Raises:
        RevisionError: Git has no such revision, or the revision lacks the module.
        RenderError: One of the two can't be rendered.
    """
    from foldline.ide.render.diff import Side, compare
    from foldline.ide.render.revisions import parse_range, texts_at
    from foldline.ide.render.token_costs import with_costs

    file = prompt.target.document.path
    counter = prompt.workspace.folder(file).counter

    async def side(revision: str | None) -> Side:
        texts = {} if revision is None else await in_thread(partial(texts_at, file, revision))
        return Side.of(revision or NOW, with_costs(await prompt.render(texts), counter))

    before, after = parse_range(revisions)
    return compare(await side(before), await side(after))


def diff_lines(found: Comparison) -> Iterator[Line]:
    """Yield the unified diff and the changes' token counts."""
    tokens = found.tokens
    if not (found.unified or found.changes or found.tools):
        yield [(f"no change since {found.before}: {tokens.after:,} tokens, tools included", "")]
        return
    for line in found.unified.split("\n") if found.unified else ():
        yield [(line, STYLES.get(line[:1], ""))]
    for section in found.changes:
        yield _change(section.key, section)
    for tool in found.tools:
        yield _change(f"tool {tool.name}", tool)
    sides = f"{tokens.before:,} {_at(found.before)}, {tokens.after:,} {_at(found.after)}"
    yield [
        (f"{cost_texts.change(tokens.delta)} tokens", "bold"),
        (f", tools included: {sides}", ""),
    ]


def _at(label: str) -> str:
    return label if label == NOW else f"at {label}"


def _change(name: str, change: SectionChange | ToolChange) -> Line:
    mark = MARKS[change.change]
    return [
        (f"{mark} {name}", STYLES.get(mark, "yellow")),
        (f": {cost_texts.change(change.tokens)} tokens", ""),
    ]
