"""`foldline preview FILE --diff REV[..REV]`: a prompt's changes between two git revisions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.waiting import in_thread

if TYPE_CHECKING:
    from foldline.agent.preview import NamedPrompt
    from foldline.ide.render.diff import Comparison, SectionChange, ToolChange

MARKS = {"added": "+", "removed": "-", "changed": "~"}


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
        return Side.of(revision or "as it is now", with_costs(await prompt.render(texts), counter))

    before, after = parse_range(revisions)
    return compare(await side(before), await side(after))


def format_diff(found: Comparison) -> str:
    """Format the unified diff and the changes' token counts."""
    lines = [found.unified] if found.unified else []
    lines += [_change(section.key, section) for section in found.changes]
    lines += [_change(f"tool {tool.name}", tool) for tool in found.tools]
    tokens = found.tokens
    if not lines:
        return f"no change since {found.before}: {tokens.after:,} tokens"
    lines.append(
        f"{tokens.before:,} tokens {found.before}, {tokens.after:,} {found.after} "
        f"({tokens.delta:+,})"
    )
    return "\n".join(lines)


def _change(name: str, change: SectionChange | ToolChange) -> str:
    return f"{MARKS[change.change]} {name}: {change.tokens:+,} tokens"
