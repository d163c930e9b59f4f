"""`foldline preview FILE --diff REV[..REV]`: a prompt's changes between two git revisions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from foldline.backends.waiting import in_thread

if TYPE_CHECKING:
    from foldline.ide.render.interpreter import Interpreter
    from foldline.ide.render.renderer import Job, Renderer

MARKS = {"added": "+", "removed": "-", "changed": "~"}


async def diff(
    renderer: Renderer, interpreter: Interpreter, job: Job, revisions: str
) -> dict[str, Any]:
    """Compare the prompt of `job` at `REV` with the current one, or at `REV..REV`.

    Raises:
        RevisionError: Git has no such revision, or the revision lacks the module.
        RenderError: One of the two can't be rendered.
    """
    from foldline.ide.config import read_project_options
    from foldline.ide.render.diff import Side, compare
    from foldline.ide.render.revisions import parse_range, texts_at
    from foldline.ide.render.token_costs import with_costs
    from foldline.ide.token_counter import token_counter

    options, _ = read_project_options(job.root)
    counter = token_counter(options.tokens, exact=options.exact_tokens)
    strict = {**job.action, "tolerant": False}

    async def side(revision: str | None) -> Side:
        texts = {} if revision is None else await in_thread(partial(texts_at, job.file, revision))
        answer = await renderer.run(interpreter, replace(job, overlays=texts, action=strict))
        render = with_costs(answer.get("render", answer), counter)
        return Side.of(revision or "as it is now", render)

    before, after = parse_range(revisions)
    return compare(await side(before), await side(after))


def format_diff(found: dict[str, Any]) -> str:
    """Format the unified diff and the changes' token counts."""
    lines = [found["unified"]] if found["unified"] else []
    changes = [(change["key"], change) for change in found["changes"]]
    changes += [(f"tool {change['name']}", change) for change in found["tools"]]
    lines += [
        f"{MARKS[change['change']]} {what}: {change['tokens']:+,} tokens"
        for what, change in changes
    ]
    tokens = found["tokens"]
    lines.append(
        f"{tokens['before']:,} tokens {found['before']}, {tokens['after']:,} {found['after']} "
        f"({tokens['delta']:+,})"
    )
    return "\n".join(lines)
