"""Token counts of prompts: a table, and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foldline.agent.scan import Scan
from foldline.agent.terminal import json_text
from foldline.backends.formatting.parts import Line, counted
from foldline.backends.formatting.visible import visible
from foldline.ide import cost_texts
from foldline.ide.analysis.module_analysis import PromptFacts
from foldline.ide.instructions.features import SkillLevels, costs, skill_levels
from foldline.ide.render.render import Block, Render, Tokens
from foldline.ide.render.static_request import costed
from foldline.ide.structuring import unstructure
from foldline.ide.token_counter import TokenCounter
from foldline.records import record


@record
class PromptCount:
    """The tokens of a prompt's request; `certain` if running it gives what was counted.

    It was `executed` if they are no count of its source. An instruction file has no `name`.
    """

    file: str
    name: str
    prompt: str
    render: Render
    certain: bool
    undecided: tuple[str, ...] = ()
    """Keys of the chapters that aren't counted, and that only running the prompt may open."""
    executed: bool = False
    levels: SkillLevels | None = None

    @property
    def other_sets(self) -> list[str]:
        """The parameter sets that it wasn't run with."""
        sets = (one.name for one in self.render.parameter_sets)
        return [name for name in sets if name != self.render.parameter_set]

    @property
    def identity(self) -> str:
        """The prompt's name in baselines."""
        return f"{self.file}:{self.name}" if self.name else self.file

    @property
    def tokens(self) -> Tokens:
        """The tokens of the request."""
        assert self.render.tokens is not None
        return self.render.tokens

    @property
    def sections(self) -> list[Block]:
        """The sections that the request has."""
        return [block for block in self.render.blocks if block.enabled]


def count(scan: Scan, counter: TokenCounter) -> list[PromptCount]:
    """Count the tokens of all prompts, in file order, and of instruction files after them.

    A template is left out if a prompt is bound from it.
    """
    counts: list[tuple[PromptFacts, PromptCount]] = []
    for analysis in scan.analyses():
        for prompt in analysis.prompts:
            request = costed(prompt, counter)
            template = prompt.template
            counted_prompt = PromptCount(
                file=scan.relative(analysis.file),
                name=prompt.name.id,
                prompt=f"{template.text('ns')}/{template.text('key')}",
                render=request.render,
                certain=request.exact,
                undecided=prompt.render.undecided,
            )
            counts.append((prompt, counted_prompt))
    bound = {prompt.template for prompt, _ in counts if prompt.bound}
    of_prompts = [count for prompt, count in counts if prompt.bound or prompt.template not in bound]
    return [*of_prompts, *_of_instructions(scan, counter)]


def without_variable(scan: Scan) -> list[str]:
    """Return the templates that no variable of a module holds, but a list, class or function."""
    return [
        f"{template.text('ns')}/{template.text('key')} of {scan.relative(analysis.file)}"
        for analysis in scan.analyses()
        for named in [{prompt.template.node for prompt in analysis.prompts}]
        # Finding all templates of a module takes three times as long as reading its variables.
        if analysis.text.count("PromptTemplate(") + analysis.text.count("PromptTemplate[")
        > len(named)
        or "(PromptTemplate" in analysis.text
        for template in analysis.templates
        if template.node not in named
    ]


def _of_instructions(scan: Scan, counter: TokenCounter) -> Iterator[PromptCount]:
    for document, file in scan.instruction_files():
        path = Path(document.analysis.file)
        render = costs(file, counter).render
        levels = skill_levels(file, path, scan.folder, counter)
        name = scan.relative(str(path))
        yield PromptCount(name, "", name, render, certain=True, levels=levels)


async def executed(
    counts: Sequence[PromptCount], root: Path, counter: TokenCounter
) -> list[PromptCount]:
    """Return the counts of the prompts as executed; only at the user's request."""
    from foldline.ide.prompts.actions import RenderPrompt
    from foldline.ide.prompts.perform import perform
    from foldline.ide.prompts.request import PromptRef, RenderMode
    from foldline.ide.render.renderer import STOP_SECONDS
    from foldline.ide.render.token_costs import with_costs
    from foldline.ide.settings import Settings
    from foldline.ide.workspace import Workspace

    workspace = Workspace.at(root, settings=Settings(trusted=True))
    prompt_counts: list[PromptCount] = []
    try:
        for count in counts:
            if not count.name:
                prompt_counts.append(count)
                continue
            file = root / count.file
            mode = RenderMode(costs=False)
            prompt = PromptRef(file=file, root=root, name=count.name, mode=mode)
            render = with_costs(await perform(workspace, prompt, RenderPrompt()), counter)
            made_up = {name.rpartition(".")[2] for name in render.generated}
            shown = (part.field for one in render.blocks for part in one.segments)
            certain = made_up.isdisjoint(shown)
            one = PromptCount(count.file, count.name, count.prompt, render, certain, executed=True)
            prompt_counts.append(one)
    finally:
        await workspace.stop(STOP_SECONDS)
    return prompt_counts


def table_lines(
    counts: Sequence[PromptCount],
    counter: TokenCounter,
    depth: int | None = None,
) -> Iterator[Line]:
    """Yield the counts for people: one line per prompt and section, in styles.

    Sections deeper than `depth` are counted with the one that holds them.
    """
    for count in counts:
        partial = count.tokens.lower_bound
        number = counter.format(count.tokens.total, certain=count.certain, partial=partial)
        doubt = "" if count.certain else "  (estimated from source; --run gives the exact count)"
        if count.executed and not count.certain:
            doubt = "  (with values that were made up)"
        if count.tokens.unresolved:
            doubt = visible(f"  ({cost_texts.without(count.tokens.unresolved)})")
        if count.executed and count.other_sets:
            others = ", ".join(count.other_sets)
            doubt += visible(f"  (with the set `{count.render.parameter_set}`; not: {others})")
        yield [
            (f"{number:>9}  ", "cyan"),
            (visible(count.prompt), "bold"),
            (visible(f"  {count.identity}" if count.name else ""), "dim"),
            (doubt, "dim"),
        ]
        if count.levels is not None:
            yield [(" " * 13 + count.levels.sentence(counter), "dim")]
        for name, tokens in (("Tools", count.tokens.tools), ("Output schema", count.tokens.output)):
            if tokens:
                shown = counter.format(tokens, certain=count.certain)
                yield [(f"{shown:>9}    ", "cyan"), (name, "dim")]
        for section, tokens, inner in _down_to(count.sections, depth):
            opened = f"  {cost_texts.SUMMARIZED}" if section.is_summarized else ""
            if section.if_opened is not None:
                exact = counter.exact and count.certain
                opened += f", {cost_texts.if_opened(section.if_opened, exact=exact)}"
            elif section.is_summarized and not count.executed:
                opened += ", ? if opened (--run shows it)"
            inside = f"  with {inner} inside" if inner else ""
            indent = "  " * section.key.count(".")
            number = f"{section.number}. " if section.number else ""
            yield [
                (f"{counter.format(tokens):>9}    ", "cyan"),
                (visible(f"{indent}{number}{section.title}"), ""),
                (opened + inside, "dim"),
            ]
    total, certain = sum(one.tokens.total for one in counts), all(one.certain for one in counts)
    partial = any(one.tokens.lower_bound for one in counts)
    kind = "" if counter.exact else ", estimated: install foldline[tokens] for exact counts"
    files = sum(not one.name for one in counts)
    numbers = {"prompt": len(counts) - files, "instruction file": files}
    both = " and ".join(counted(number, noun) for noun, number in numbers.items() if number)
    yield [
        (f"{counter.format(total, certain=certain, partial=partial):>9}  ", "bold cyan"),
        (f"in {both or '0 prompts'} ({counter.encoding.replace(' --run', ', as run')}{kind})", ""),
    ]


def _down_to(sections: Sequence[Block], depth: int | None) -> Iterator[tuple[Block, int, int]]:
    """Yield the sections down to a depth, their tokens, and how many are counted with them."""
    inside = Counter(one.path[:depth] for one in sections)
    for section in sections:
        level = len(section.path)
        if depth is None or level < depth:
            yield section, section.own_tokens, 0
        elif level == depth and section.tokens is not None:
            yield section, section.tokens.subtree, inside[section.path] - 1


def json_of(
    counts: Sequence[PromptCount], counter: TokenCounter, comparison: Mapping[str, object]
) -> str:
    """Return the counts as JSON, for programs and for `--baseline`, with the comparison's keys."""
    prompts = {
        count.identity: {
            "prompt": count.prompt,
            "tokens": count.tokens.total,
            "text": count.tokens.text,
            "tools": count.tokens.tools,
            "output": count.tokens.output,
            "certain": count.certain,
            "lower_bound": count.tokens.lower_bound,
            "unresolved": list(count.tokens.unresolved),
            "parameter_set": count.render.parameter_set,
            "other_sets": count.other_sets,
            "undecided_chapters": list(count.undecided),
            "sections": {
                section.key: {
                    "number": section.number,
                    "title": section.title,
                    "tokens": section.own_tokens,
                    "if_opened": unstructure(section.if_opened),
                }
                for section in count.sections
            },
            **({} if count.levels is None else {"levels": unstructure(count.levels)}),
        }
        for count in counts
    }
    how = {"encoding": counter.encoding, "exact": counter.exact}
    return json_text({**how, "prompts": prompts, **comparison})
