"""Checks of whole prompts: budgets, summaries, and the order for caches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from foldline.ide.analysis import values
from foldline.ide.analysis.model import SourceSpan, Visibility
from foldline.ide.analysis.module_analysis import ModuleAnalysis, PromptFacts
from foldline.ide.analysis.placeholders import shown, texts_of
from foldline.ide.analysis.section_tree import below, in_template, sections_with_paths, span_of
from foldline.ide.analysis.stability import declares_changes, static_plan
from foldline.ide.analysis.static_render import SummarizedBlock, rendered, summarized_alone
from foldline.ide.analysis.values import External, Items, SectionValue, TemplateValue, Text, kept
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import Change, Fix, LazyDiagnostic, at_argument, at_node
from foldline.ide.checks.sections import check_summary_size
from foldline.ide.checks.summaries import Fold, unclear
from foldline.ide.cost_texts import named
from foldline.ide.token_counter import TokenCounter
from foldline.prompts import SegmentKind, Stability
from foldline.prompts.cache.cache_plan import CachePlan, MisplacedValue
from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.wording import ENGLISH


def check_costs(
    analysis: ModuleAnalysis, budget: int | None, counter: TokenCounter
) -> Iterator[LazyDiagnostic]:
    """Yield the diagnostics of all checks that count tokens."""
    yield from _check_budget(analysis, budget, counter)
    yield from check_folding(analysis, counter)
    yield from check_summaries(analysis)
    yield from check_cache_order(analysis, counter)


def _check_budget(
    analysis: ModuleAnalysis, budget: int | None, counter: TokenCounter
) -> Iterator[LazyDiagnostic]:
    if not budget:
        return
    from foldline.ide.render.static import tokens_of
    from foldline.ide.render.static_request import costed, costs_of, request_of

    for prompt in analysis.prompts:
        costs = costed(prompt, counter)
        tokens = costs.render.tokens
        if tokens is None:
            continue
        how = {"certain": costs.exact, "partial": costs.is_partial}
        total = counter.format(tokens.total, **how)
        if tokens.total > budget:
            over = counter.format(tokens.total - budget, **how)
            with_tools = " with tools and output schema" if tokens.total > tokens.text else ""
            form = request_of(prompt.value, prompt.analysis.evaluator, _most_folded(prompt))
            least = tokens_of(costs_of(form, counter)).tokens + counter.count(ENGLISH.fitted)
            fits = "`Fit` brings it to" if least <= budget else "even with all folded it costs"
            smallest = f"; {fits} {counter.format(least, **how)}" if least < tokens.total else ""
            yield LazyDiagnostic(
                Code.TOKEN_BUDGET,
                f"`{prompt.name.id}` costs {total} tokens{with_tools}, {over} more than its budget "
                f"of {budget:,}{smallest}.",
                at_node(prompt.name),
            )
        elif costs.unresolved:
            yield LazyDiagnostic(
                Code.UNPROVEN_BUDGET,
                f"`{prompt.name.id}` costs {total} tokens of its budget of {budget:,} without "
                f"{named(costs.unresolved)}: `foldline tokens --run` counts that.",
                at_node(prompt.name),
            )


def _most_folded(prompt: PromptFacts) -> dict[tuple[str, ...], Visibility | None]:
    """Return the changes to the smallest form: sections to summarize, and to leave out (None)."""
    changes, around_kept = dict[tuple[str, ...], Visibility | None](), set[tuple[str, ...]]()
    blocks = rendered(prompt.value).blocks
    sections = {block.section for block in blocks if block.section.given("summary")}
    alone = summarized_alone(prompt.value, sections)
    summaries = {one.block.path: estimated_tokens(one.block.text) for one in alone}
    least = Counter[tuple[str, ...]]()
    for block in reversed(blocks):
        path, fit = block.path, block.section.known("fit")
        least[path] += estimated_tokens(block.text)
        if fit == "keep" or path in around_kept:
            around_kept.add(path[:-1])
        elif fit == "drop":
            changes[path], least[path] = None, 0
        elif path in summaries and summaries[path] <= least[path]:
            changes[path], least[path] = Visibility.SUMMARY, summaries[path]
        least[path[:-1]] += least[path]
    return changes


_VALUES = frozenset({SegmentKind.PARAM, SegmentKind.DEFAULT, SegmentKind.DERIVED})
_LONGEST_NOTE = 400
"""Characters of a note with a long key."""
_FAR = 2.5
"""Ratio of two estimates whose order holds for every tokenizer."""
_CLEAR = 1.5
"""Ratio of two estimates from which on their order is trusted."""


def check_folding(analysis: ModuleAnalysis, counter: TokenCounter) -> Iterator[LazyDiagnostic]:
    """Report summarized sections that have at least as many tokens, note included, as in full.

    Sections with tools are left out: a summary saves their schemas, too. So are those whose full
    text has values, which may be of any length.
    """
    for prompt in analysis.prompts:
        for summarized in kept(prompt.template, "may cost more folded", _candidates):
            section, path = summarized.block.section, summarized.block.path
            costs = _costs(summarized, counter)
            if costs is not None and "?" not in path:
                folded, full = map(counter.format, costs)
                argument = section.arguments.get("visibility")
                yield LazyDiagnostic(
                    Code.FOLDING_COSTS_MORE,
                    f"In `{prompt.name.id}`, `{'.'.join(path)}` has {folded} tokens folded, with "
                    f"its note, and {full} in full: show it in full, or fold it together with "
                    "others.",
                    at_node(section.node if argument is None else argument.node),
                    instead=at_node(prompt.name),
                )


def _candidates(template: TemplateValue) -> tuple[SummarizedBlock, ...]:
    """Return the summarized sections of a template that may cost more than in full."""
    sections = {
        section
        for section in in_template(template)
        if kept(section, "may cost more folded", _may_cost_more)
    }
    if not sections or not _is_known(template):
        return ()
    return tuple(summarized_alone(template, sections))


def _is_known(template: TemplateValue) -> bool:
    """Return True if it is known how the template writes headings and notes."""
    heading, disclosure = (template.arguments.get(name) for name in ("heading", "disclosure"))
    return (
        not (template.opaque or template.maybe)
        and (heading is None or isinstance(heading.value, External))
        and (disclosure is None or isinstance(disclosure.value, Text))
    )


def _may_cost_more(section: SectionValue) -> bool:
    """Return True if all of a summarized section is known, and its length is no reason to fold."""
    if section.visibility is not Visibility.SUMMARY or not _is_plain(section):
        return False
    summary = section.text("summary")
    if summary is None or any(check_summary_size(tuple(texts_of(section)))):
        return False
    items = (item.value for item in section.children.items)
    keys = sum(len(inner.key) for inner in items if isinstance(inner, SectionValue))
    folded = len(summary.text) + len(section.title) + keys + _LONGEST_NOTE
    texts = (inner.text("template") for inner in below(section))
    return sum(len(text.text) for text in texts if text is not None) < _FAR * folded


def _costs(summarized: SummarizedBlock, counter: TokenCounter) -> tuple[int, int] | None:
    """Return the tokens folded and in full; None if folding saves some, or might."""
    opened = [segment for block in summarized.opened for segment in block.segments]
    if any(segment.kind in _VALUES or not segment.known for segment in opened):
        return None
    written = [one for one in summarized.block.segments if one.known and one.kind not in _VALUES]
    folded, full = ("".join(segment.text for segment in part) for part in (written, opened))
    if _FAR * estimated_tokens(folded) < estimated_tokens(full):
        return None
    costs = counter.count(folded), counter.count(full)
    least = costs[1] if counter.exact else _CLEAR * costs[1]
    return costs if costs[0] >= least else None


def _is_plain(section: SectionValue, *, may_have_tools: bool = False) -> bool:
    """Return True if all of a section is known, and neither it nor those below it have tools."""
    return all(
        inner.kind == "markdown"
        and not (inner.opaque or inner.maybe)
        and inner.visibility is not Visibility.UNKNOWN
        and (inner is section or not inner.gated)
        and inner.tools.complete
        and (may_have_tools or not inner.tools.items)
        and inner.children.complete
        and all(isinstance(i.value, SectionValue) and not i.maybe for i in inner.children.items)
        and _is_literal_text(inner)
        for inner in below(section)
    )


def _is_literal_text(section: SectionValue) -> bool:
    text = section.text("template")
    return text is not None and not text.dynamic and not shown(text).placeholders


def check_summaries(analysis: ModuleAnalysis) -> Iterator[LazyDiagnostic]:
    """Report summaries that don't lead to their sections, where all of both is known."""
    for prompt in analysis.prompts:
        folds = {
            section: Fold(".".join(path), summary, kept(section, "folded text", _folded_text))
            for path, section, _ in sections_with_paths(prompt.template)
            if section.visibility is Visibility.SUMMARY
            and (summary := section.known("summary"))
            and "$" not in summary
        }
        for section, message in unclear(folds).items():
            place = at_argument(section.arguments["summary"])
            yield LazyDiagnostic(Code.UNCLEAR_SUMMARY, message, place, instead=at_node(prompt.name))


def _folded_text(section: SectionValue) -> str:
    """Return what a summary stands for; nothing if some of it isn't known."""
    texts = [f"{one.title}\n{one.known('template')}" for one in below(section)]
    for tool in (item.value for one in below(section) for item in one.tools.items):
        if not isinstance(tool, values.ToolValue) or not (told := tool.known("description")):
            return ""
        texts.append(f"{tool.known('name')} {told}")
    return "\n".join(texts) if _is_plain(section, may_have_tools=True) else ""


# Move sections only if nothing but a comma is between them: a comment would be misplaced.
_COMMA = re.compile(r"\s*,\s*")
_OFTEN = {Stability.SESSION: "each session", Stability.REQUEST: "each request"}


def check_cache_order(analysis: ModuleAnalysis, counter: TokenCounter) -> Iterator[LazyDiagnostic]:
    """Report values that change more often than the text behind them."""
    for prompt in analysis.prompts:
        if not declares_changes(prompt.template):
            continue
        plan = static_plan(prompt.render, counter)
        for value in plan.misplaced():
            block = prompt.render.block(value.path)
            if block is not None:
                section = block.section
                key = section.arguments.get("key")
                yield LazyDiagnostic(
                    Code.CACHE_ORDER,
                    _message(value, counter),
                    at_argument(key) if key and key.name else at_node(section.class_node),
                    (partial(_moved, prompt, plan, value),),
                    instead=at_node(prompt.name),
                )


def _message(value: MisplacedValue, counter: TokenCounter) -> str:
    what = " and ".join(f"`{name}`" for name in value.fields) or "The section"
    return (
        f"{what} change{'' if len(value.fields) > 1 else 's'} with {_OFTEN[value.stability]}, so "
        f"no cache keeps the {counter.format(value.tokens)} tokens behind it that change less "
        "often: move the section behind them."
    )


def _moved(prompt: PromptFacts, plan: CachePlan, value: MisplacedValue) -> Fix | None:
    """Return the fix that moves the section's root behind the last one that changes less often."""
    root = value.path[:1]
    last = next(
        span.path[:1]
        for span in reversed(plan.spans)
        if span.path is not None and span.stability < value.stability
    )
    spans = _spans(prompt.template.rows, root[0], last[0])
    text = prompt.analysis.text
    between = [text[one.end : other.start] for one, other in pairwise(spans)]
    if any(span.file != prompt.analysis.file for span in spans) or not between:
        return None
    if not all(map(_COMMA.fullmatch, between)):
        return None
    sources = [text[span.start : span.end] for span in (*spans[1:], spans[0])]
    moved = sources[0] + "".join(map("".join, zip(between, sources[1:], strict=True)))
    span = SourceSpan(prompt.analysis.file, spans[0].start, spans[-1].end)
    return Fix(f"Move the section behind `{last[0]}`", (Change(span, moved),))


def _spans(rows: Items, first: str, last: str) -> list[SourceSpan]:
    """Return the locations of root sections `first` to `last`; none if some are unknown."""
    keys = [item.value.key if isinstance(item.value, SectionValue) else "" for item in rows.items]
    if not rows.complete or first not in keys or last not in keys:
        return []
    return [span_of(item.node) for item in rows.items[keys.index(first) : keys.index(last) + 1]]
