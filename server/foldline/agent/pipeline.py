"""Pipeline mode: a fixed sequence of model calls that reads outlines instead of whole files.

`Pipeline` answers a question: it searches, shows the model the outlines of up to twelve files,
reads the symbols that it names, and lets it answer from the packed context. That is about 30 KB and
one more call, instead of 96 KB for twelve whole files. Without a workspace, whole files are read by
the pipeline's own function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.agent.folders import open_folders
from foldline.agent.folders_reader import FoldersReader
from foldline.agent.pipeline_prompts import (
    ANSWER_QUESTION,
    CHOOSE_SYMBOLS,
    Context,
    Outlines,
    Question,
)
from foldline.backends.base.waiting import run
from foldline.backends.errors import cut
from foldline.backends.formatting.budget import PIPELINE_BUDGET, size_of
from foldline.backends.formatting.parts import plain
from foldline.backends.models import FileText, SearchResults
from foldline.backends.text import format_symbol
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.arguments import SMALLEST_BUDGET
from foldline.ide.scoped_context import (
    MOST_CANDIDATES,
    NO_ROOM,
    OUTLINES_BUDGET,
    AccessReader,
    LeftOut,
    ScopedContext,
    Sizes,
    SymbolChoice,
    candidates_of,
    context_for,
    fit_outlines,
    gather,
    outlines_of,
    pack,
)
from foldline.ide.workspace import Workspace
from foldline.prompts import runtime
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from foldline.agent.pipeline_prompts import SymbolsToRead
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import FileOutline
    from foldline.ide.scoped_context import Reader
    from foldline.prompts.adapters import ProviderAdapter

__all__ = [
    "CONTEXT_BUDGET",
    "MOST_CANDIDATES",
    "SYMBOLS_BUDGET",
    "LeftOut",
    "Pipeline",
    "PipelineResult",
    "Step",
    "SymbolChoice",
]

CONTEXT_BUDGET = PIPELINE_BUDGET
"""The most bytes of the context of an answer."""
SYMBOLS_BUDGET = CONTEXT_BUDGET - OUTLINES_BUDGET

FILE_ROOM = 300
"""Bytes for the header of a file in a context."""


@record
class Step:
    """One step of a pipeline, with the bytes of what it read or sent."""

    name: str
    size: int


@record(kw_only=True)
class PipelineResult:
    """The result of one question.

    Attributes:
        answer: The model's answer; None without a model, or if no file matches.
        context: The context that the answer was made from; empty if no file matches.
        candidates: The files whose outlines were read.
        choices: The symbols that the model chose; without a model, those that match best.
        unread: What the context leaves out, with the reasons.
        steps: `outlines`, `choose` (its prompt), `symbols`, `context` and `answer` (its prompt).
        usage: The tokens of both calls.
        reason: Says why there is no context.
    """

    question: str
    answer: str | None = None
    context: str = ""
    candidates: tuple[str, ...] = ()
    choices: tuple[SymbolChoice, ...] = ()
    unread: tuple[LeftOut, ...] = ()
    steps: tuple[Step, ...] = ()
    usage: runtime.TokenUsage = runtime.response.NOTHING_USED
    reason: str = ""


class Pipeline:
    r"""Answers questions about the code of a workspace with two model calls.

    >>> import tempfile, pathlib
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (root / "shop.py").write_text("class Cart:\n    def total(self): ...\n")
    >>> workspace = Workspace.at(root)
    >>> print(Pipeline(workspace).run("How is the total computed?").context)
    shop.py:2 Cart.total
        def total(self): ...
    <BLANKLINE>
    shop.py (python, 2 lines)
    1-2 class Cart
      2 def total(self)
    >>> workspace.close()

    Args:
        workspace: The files. Without them, `read_file` reads whole files, which `run` names.
        adapter: Calls the model. Without one, the symbols that match best are chosen, and there is
            no answer.
        budget: The most bytes of the context; the prompts add the question and a few sentences.
        read_file: Reads a whole file, for pipelines without a workspace.
    """

    def __init__(
        self,
        workspace: Workspace | SmartFileAccess | None,
        adapter: ProviderAdapter | None = None,
        *,
        budget: int = CONTEXT_BUDGET,
        read_file: Callable[[str], str] | None = None,
    ) -> None:
        if budget < SMALLEST_BUDGET:
            raise ArgumentsError({"budget": f"must be {SMALLEST_BUDGET} or more, not {budget}"})
        self._workspace = workspace
        self._adapter = adapter
        self._sizes = Sizes(total=budget)
        if workspace is None and read_file is None:
            raise TypeError("without a SmartFileAccess, `read_file` is required")
        self._read_file = read_file

    def run(
        self, question: str, *, files: Iterable[str] = (), candidates: Iterable[str] | None = None
    ) -> PipelineResult:
        """Answer a question. Blocks while files are read and the model is called.

        Args:
            question: Its words also find the files.
            files: Files to read whole in any case.
            candidates: The files to consider, of which the first twelve count, instead of those
                that match the question.

        Raises:
            BackendError: The workspace can't be searched.
            PromptError: The adapter's errors, unchanged.
            NoFolderError: The workspace has no folder.
        """
        files = tuple(dict.fromkeys(files))
        if self._workspace is None:
            return self._with_whole_files(question, (*files, *(candidates or ())))
        reader: Reader
        if isinstance(self._workspace, Workspace):
            folders = open_folders(self._workspace, self._workspace.roots)
            reader = FoldersReader(folders)
        else:
            reader = AccessReader(self._workspace)
        if self._adapter is None:
            within = None if candidates is None else tuple(dict.fromkeys(candidates))
            return self._without_model(reader, question, files, within)
        results = (
            run(reader.search(question)) if candidates is None else SearchResults(question, (), 0)
        )
        paths = candidates_of(results) if candidates is None else candidates
        paths = tuple(dict.fromkeys(paths or ()))[:MOST_CANDIDATES]
        if not paths and not files:
            reason = results.reason or "there are no candidates"
            return PipelineResult(question=question, reason=reason)
        outlines, missing = run(outlines_of(reader, paths))
        # Spell the paths as the outlines do: the caller may spell them differently.
        paths = tuple(outline.path for outline in outlines)
        texts, _ = fit_outlines(outlines, min(self._sizes.outlines, self._sizes.total))
        shown = "\n\n".join(texts)
        result = PipelineResult(
            question=question,
            candidates=paths,
            unread=tuple(missing),
            steps=(Step("outlines", size_of(shown)),),
        )
        result, whole_files = self._choose(result, outlines, shown)
        context = run(
            gather(
                reader,
                files=(*files, *whole_files),
                choices=result.choices,
                supporting=[outline.path for outline in outlines],
                sizes=self._sizes,
            )
        )
        context = replace(
            context,
            question=question,
            matched=len(candidates_of(results)),
            coverage=results.coverage,
            left_out=(*result.unread, *context.left_out),
        )
        return self._answer(result, context)

    def _without_model(
        self,
        reader: Reader,
        question: str,
        files: tuple[str, ...],
        within: tuple[str, ...] | None,
    ) -> PipelineResult:
        """Return the context of what matches best."""
        if within == () and not files:
            return PipelineResult(question=question, reason="there are no candidates")
        within = within and within[:MOST_CANDIDATES]
        context = run(context_for(reader, question, files=files, within=within, sizes=self._sizes))
        if not context:
            return PipelineResult(question=question, reason=context.reason)
        texts, _ = fit_outlines(context.outlines, min(self._sizes.outlines, self._sizes.total))
        result = PipelineResult(
            question=question,
            candidates=tuple(outline.path for outline in context.outlines),
            choices=tuple(
                SymbolChoice(one.path, one.qualified_name or one.name) for one in context.symbols
            ),
            steps=(Step("outlines", size_of("\n\n".join(texts))),),
        )
        return self._answer(result, context)

    def _choose(
        self, result: PipelineResult, outlines: Sequence[FileOutline], shown: str
    ) -> tuple[PipelineResult, tuple[str, ...]]:
        """Return the result with the choices, and the files to read whole."""
        assert self._adapter is not None
        if not outlines:
            return result, ()
        response = self._adapter.evaluate(
            CHOOSE_SYMBOLS, Question(result.question), Outlines(shown)
        )
        chosen = response.output
        assert chosen is not None
        choices, whole_files, unknown = _known_choices(chosen, result.candidates)
        step = Step("choose", size_of(response.rendered.text))
        result = replace(
            result,
            choices=choices,
            unread=(*result.unread, *unknown),
            steps=(*result.steps, step),
            usage=result.usage + response.usage,
        )
        return result, whole_files

    def _answer(self, result: PipelineResult, context: ScopedContext) -> PipelineResult:
        """Return the result with the packed context, and the model's answer."""
        lines, unread = pack(context, self._sizes)
        text = plain(lines)
        bodies = sum(size_of(format_symbol(detail)) for detail in context.symbols)
        steps = [Step("symbols", bodies)] if context.symbols else []
        steps = [*result.steps, *steps, Step("context", size_of(text))]
        result = replace(result, context=text, unread=unread, steps=tuple(steps))
        if self._adapter is None:
            return result
        response = self._adapter.evaluate(ANSWER_QUESTION, Question(result.question), Context(text))
        return replace(
            result,
            answer=response.text,
            steps=(*result.steps, Step("answer", size_of(response.rendered.text))),
            usage=result.usage + response.usage,
        )

    def _with_whole_files(self, question: str, paths: Iterable[str]) -> PipelineResult:
        every = tuple(dict.fromkeys(paths))
        paths = every[:MOST_CANDIDATES]
        if not paths:
            raise ArgumentsError({"candidates": "name files: there is no workspace to search"})
        read = self._read_file
        assert read is not None
        share = self._sizes.total // len(paths) - FILE_ROOM
        texts = [_first_lines(path, read(path), share) for path in paths]
        unread = [LeftOut(text.path, "", NO_ROOM) for text in texts if not text.end]
        too_many = f"more than {MOST_CANDIDATES} files"
        unread += [LeftOut(path, "", too_many) for path in every[MOST_CANDIDATES:]]
        result = PipelineResult(question=question, candidates=paths, unread=tuple(unread))
        shown = tuple(text for text in texts if text.end)
        context = ScopedContext(question=question, files=shown, left_out=tuple(unread))
        return self._answer(result, context)


def _first_lines(path: str, text: str, budget: int) -> FileText:
    """Return the first lines of a text that fit `budget` bytes."""
    lines = text.splitlines()
    kept: list[str] = []
    for line in lines:
        budget -= size_of(line) + 1
        if budget < 0:
            break
        kept.append(line)
    return FileText(path, 1, len(kept), len(lines), "\n".join(kept))


def _known_choices(
    chosen: SymbolsToRead, candidates: Sequence[str]
) -> tuple[tuple[SymbolChoice, ...], tuple[str, ...], tuple[LeftOut, ...]]:
    """Return the symbols and whole files of candidates, and the rest with the reason."""
    choices: dict[SymbolChoice, None] = {}
    unknown: dict[LeftOut, None] = {}
    reason = "isn't one of the files whose outlines were shown"
    for file in chosen.files:
        for name in file.symbols:
            if file.path in candidates:
                choices[SymbolChoice(file.path, name)] = None
            else:
                unknown[LeftOut(cut(file.path), cut(name), reason)] = None
    for path in chosen.whole:
        if path not in candidates:
            unknown[LeftOut(cut(path), "", reason)] = None
    whole_files = tuple(path for path in dict.fromkeys(chosen.whole) if path in candidates)
    return tuple(one for one in choices if one.path not in whole_files), whole_files, tuple(unknown)
