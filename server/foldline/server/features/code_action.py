"""`textDocument/codeAction`: commands for the prompt or section under the cursor.

They are source actions, so that no editor draws a light bulb for them. A text that can be adopted
as a prompt has a refactoring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_CODE_ACTION,
    CodeAction,
    CodeActionKind,
    CodeActionOptions,
    Command,
)

from foldline.ide.resolve import range_in
from foldline.ide.uris import local_path
from foldline.server.commands import prompt_adopt, show
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lsprotocol.types import CodeActionParams

    from foldline.ide.analysis.model import Span, StaticPrompt, StaticSection
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_CODE_ACTION
KIND = "source.foldline"
OPTIONS = CodeActionOptions(
    code_action_kinds=[CodeActionKind.QuickFix, CodeActionKind.RefactorRewrite, KIND],
    resolve_provider=False,
)

CLIENT_PREVIEW = "foldline.preview"
CLIENT_OPEN_SECTION = "foldline.openSection"
CLIENT_OUTLINE = "foldline.outline"


async def handle(ls: FoldlineServer, params: CodeActionParams) -> list[CodeAction]:
    only = params.context.only
    if only is not None:
        # The protocol types accept any text as a kind.
        only = [kind for kind in only if isinstance(kind, str)]
    fixes: list[CodeAction] = []
    if only is None or any(_covers(kind, CodeActionKind.QuickFix) for kind in only):
        fixes = await _quick_fixes(ls, params)
    if only is None or any(_covers(kind, CodeActionKind.RefactorRewrite) for kind in only):
        fixes += await _adoptions(ls, params)
    if only is not None and not any(_covers(kind, KIND) for kind in only):
        return fixes
    if local_path(params.text_document.uri) is None:
        return fixes

    def query(snapshot: LspSnapshot) -> list[Command]:
        start, end = snapshot.offset(params.range.start), snapshot.offset(params.range.end)
        return list(_commands(snapshot, start, end, ls.core.settings.client_commands))

    commands = await with_snapshot(ls, params.text_document.uri, query) or []
    return fixes + [
        CodeAction(title=command.title, kind=KIND, command=command) for command in commands
    ]


async def _quick_fixes(ls: FoldlineServer, params: CodeActionParams) -> list[CodeAction]:
    def query(snapshot: LspSnapshot) -> list[CodeAction]:
        from foldline.server.quick_fixes import quick_fixes

        start, end = snapshot.offset(params.range.start), snapshot.offset(params.range.end)
        return list(quick_fixes(snapshot, start, end))

    return await with_snapshot(ls, params.text_document.uri, query) or []


async def _adoptions(ls: FoldlineServer, params: CodeActionParams) -> list[CodeAction]:
    """The texts under the cursor that can be a prompt."""

    def query(snapshot: LspSnapshot) -> list[CodeAction]:
        from foldline.ide.adopt.candidates_at import candidates_at

        start, end = snapshot.offset(params.range.start), snapshot.offset(params.range.end)
        return [
            CodeAction(
                title=f"Adopt {candidate.name} as a prompt",
                kind=CodeActionKind.RefactorRewrite,
                command=Command(
                    f"Adopt {candidate.name} as a prompt",
                    prompt_adopt.COMMAND,
                    arguments=[{"uri": snapshot.uri, "name": candidate.name, "apply": True}],
                ),
            )
            for candidate in candidates_at(snapshot.analysis.text, start, end)
        ]

    return await with_snapshot(ls, params.text_document.uri, query) or []


def _commands(
    snapshot: LspSnapshot, start: int, end: int, known: Sequence[str]
) -> Iterator[Command]:
    uri, file = snapshot.uri, snapshot.analysis.file
    for prompt in _prompts_at(snapshot.analysis.module.prompts, file, start, end):
        what = {"uri": uri, "name": prompt.name}
        yield _command(f"Preview prompt {prompt.name}", CLIENT_PREVIEW, what, "prompt", known)
        for section in _sections_at(prompt, file, start, end):
            title = f"{section.number} {section.title}".strip() or section.key
            keys = [".".join(section.path)]
            yield _command(
                f"Open section {title} of {prompt.name}",
                CLIENT_OPEN_SECTION,
                {**what, "section_keys": keys},
                "prompt",
                known,
            )
    yield _command("Show the outline of this file", CLIENT_OUTLINE, {"uri": uri}, "outline", known)
    yield _command("Show the tree of this workspace", None, {"uri": uri}, "tree", known)
    yield _command("Show the status of foldline", None, {"uri": uri}, "status", known)


def _command(
    title: str,
    client_command: str | None,
    arguments: Mapping[str, object],
    what: str,
    known: Sequence[str],
) -> Command:
    """Return the client's own command if it has announced it, else the server's."""
    if client_command is not None and client_command in known:
        return Command(title, client_command, arguments=[arguments])
    return Command(title, show.COMMAND, arguments=[{**arguments, "what": what}])


def _prompts_at(
    prompts: Sequence[StaticPrompt], file: str, start: int, end: int
) -> list[StaticPrompt]:
    """Return the prompts that a selection touches, or else the default prompt of a command."""
    declared = [prompt for prompt in prompts if _touches(prompt.range, start, end)]
    if declared:
        return declared
    bound_first = sorted(prompts, key=lambda prompt: not prompt.bound)
    around = (prompt for prompt in bound_first if any(_at(prompt, file, start, end)))
    chosen = next(around, None) or next(iter(bound_first), None)
    return [] if chosen is None else [chosen]


def _sections_at(prompt: StaticPrompt, file: str, start: int, end: int) -> list[StaticSection]:
    """Return the summarized sections that a selection touches, or else all of the prompt's."""
    return _summaries(_at(prompt, file, start, end)) or _summaries(prompt.walk())


def _summaries(sections: Iterable[StaticSection]) -> list[StaticSection]:
    return [section for section in sections if section.visibility == "SUMMARY"]


def _at(prompt: StaticPrompt, file: str, start: int, end: int) -> Iterator[StaticSection]:
    for section in prompt.walk():
        if _touches(range_in(section, file), start, end):
            yield section


def _touches(span: Span, start: int, end: int) -> bool:
    return span.start <= end and start <= span.end


def _covers(asked: str, kind: str) -> bool:
    """Return True if `asked` is `kind` or an ancestor of it; the empty kind is the root."""
    return asked in ("", kind) or kind.startswith(asked + ".")
