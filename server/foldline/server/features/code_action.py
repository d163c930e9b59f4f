"""`textDocument/codeAction`: commands for the prompt or section under the cursor.

What concerns the prompt or section under the cursor is a refactoring, which editors offer with
their quick fixes; so is what plugins offer, unless they call it a fix. All else is a source action,
so that no editor draws a light bulb for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide.plugins import Plugin, plugins
from foldline.ide.resolve import range_in
from foldline.ide.uris import local_path
from foldline.server.commands import show
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from foldline.ide.analysis.model import Span, StaticPrompt, StaticSection
    from foldline.ide.plugins import Action
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_CODE_ACTION
KIND = "source.foldline"
KIND_HERE = "refactor.foldline"
OPTIONS = types.CodeActionOptions(
    code_action_kinds=[
        types.CodeActionKind.QuickFix,
        types.CodeActionKind.RefactorRewrite,
        KIND_HERE,
        KIND,
    ],
    resolve_provider=False,
)

CLIENT_PREVIEW = "foldline.preview"
CLIENT_OPEN_SECTION = "foldline.openSection"
CLIENT_CLOSE_SECTION = "foldline.closeSection"
CLIENT_OUTLINE = "foldline.outline"


async def handle(ls: FoldlineServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    only = params.context.only
    if only is not None:
        # The protocol types accept any text as a kind.
        only = [kind for kind in only if isinstance(kind, str)]

    def wants(kind: str) -> bool:
        return only is None or any(covers(asked, kind) for asked in only)

    def query(snapshot: LspSnapshot) -> list[types.CodeAction]:
        from foldline.server.diagnostic_items import quick_fixes

        start, end = snapshot.offset(params.range.start), snapshot.offset(params.range.end)
        actions: list[types.CodeAction] = []
        if wants(types.CodeActionKind.QuickFix):
            actions += quick_fixes(ls, snapshot, start, end)
        if wants(types.CodeActionKind.QuickFix) or wants(types.CodeActionKind.RefactorRewrite):
            answers = plugins().ask(Plugin.actions, snapshot, start, end)
            offered = [_plugin_action(ls, snapshot, one) for answer in answers for one in answer]
            actions += [action for action in offered if wants(action.kind or "")]
        is_file = local_path(params.text_document.uri) is not None
        is_code = snapshot.instructions is None
        if not (is_code and is_file and (wants(KIND) or wants(KIND_HERE))):
            return actions
        for command, is_here in _offers(ls, snapshot, start, end):
            # A client that wants source actions gets all of them as such; one that wants all
            # kinds, each once.
            here = wants(KIND_HERE) and is_here
            if here or wants(KIND):
                kind = KIND_HERE if here else KIND
                actions.append(types.CodeAction(title=command.title, kind=kind, command=command))
        return actions

    return await with_snapshot(ls, params.text_document.uri, query) or []


def _plugin_action(ls: FoldlineServer, snapshot: LspSnapshot, action: Action) -> types.CodeAction:
    """Return a plugin's action, with a field for what the user writes where editors have them."""
    kind = types.CodeActionKind.QuickFix if action.fix else types.CodeActionKind.RefactorRewrite
    command = edit = None
    if action.command:
        command = types.Command(action.title, action.command, arguments=[action.arguments or {}])
    if action.changes:
        edit = snapshot.edit(action.changes)
    workspace = ls.client_capabilities.workspace
    support = workspace.workspace_edit if workspace is not None else None
    if action.field and support and support.snippet_edit_support and support.document_changes:
        snippets = [
            types.SnippetTextEdit(snapshot.range(one.place), _snippet(one.text, action.field))
            for one in action.changes
        ]
        version = types.OptionalVersionedTextDocumentIdentifier(snapshot.uri, snapshot.version)
        edit = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(version, snippets)])
    return types.CodeAction(action.title, kind, edit=edit, command=command)


def _snippet(text: str, field: str) -> types.StringValue:
    # In a snippet `$`, `}` and the backslash are syntax.
    plain, placeholder = (re.sub(r"[\\$}]", r"\\\g<0>", part) for part in (text, field))
    return types.StringValue(plain.replace(placeholder, f"${{1:{placeholder}}}", 1))


def _offers(
    ls: FoldlineServer, snapshot: LspSnapshot, start: int, end: int
) -> Iterator[tuple[types.Command, bool]]:
    """Yield commands, each with True if it concerns the prompt or section under the cursor."""
    uri, file = snapshot.uri, snapshot.analysis.file
    supported = ls.core.settings.client_commands
    for prompt in _prompts_at(snapshot.analysis.module.prompts, file, start, end):
        target = {"uri": uri, "name": prompt.name}
        touched = list(_at(prompt, file, start, end))
        here = bool(touched) or _touches(prompt.range, start, end)
        preview = _command(
            f"Preview prompt {prompt.name}", CLIENT_PREVIEW, target, "prompt", supported
        )
        yield preview, here
        opened = {
            key
            for one in ls.previews.all
            if (one.uri, one.name) == (uri, prompt.name)
            for key in one.options.opened
        }
        for section in _summaries(touched) or _summaries(prompt.walk()):
            title = f"{section.number} {section.title}".strip() or section.key
            key = ".".join(section.path)
            arguments = {**target, "section_keys": [key]}
            shut = key not in opened
            verb, client = (
                ("Open", CLIENT_OPEN_SECTION)
                if shut or CLIENT_CLOSE_SECTION not in supported
                else ("Close", CLIENT_CLOSE_SECTION)
            )
            command = _command(
                f"{verb} section {title} of {prompt.name}", client, arguments, "prompt", supported
            )
            yield command, here
    for title, client_command, view in (
        ("Show the outline of this file", CLIENT_OUTLINE, "outline"),
        ("Show the tree of this workspace", None, "tree"),
        ("Show the status of foldline", None, "status"),
    ):
        yield _command(title, client_command, {"uri": uri}, view, supported), False


def _command(
    title: str,
    client_command: str | None,
    arguments: Mapping[str, object],
    view: str,
    supported: Sequence[str],
) -> types.Command:
    """Return the client's own command if it has announced it, else the server's."""
    if client_command is not None and client_command in supported:
        return types.Command(title, client_command, arguments=[arguments])
    return types.Command(title, show.COMMAND, arguments=[{**arguments, "what": view}])


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


def _summaries(sections: Iterable[StaticSection]) -> list[StaticSection]:
    return [section for section in sections if section.visibility == "SUMMARY"]


def _at(prompt: StaticPrompt, file: str, start: int, end: int) -> Iterator[StaticSection]:
    for section in prompt.walk():
        if _touches(range_in(section, file), start, end):
            yield section


def _touches(span: Span, start: int, end: int) -> bool:
    return span.start <= end and start <= span.end


def covers(asked: str, kind: str) -> bool:
    """Return True if `asked` is `kind` or an ancestor of it; the empty kind is the root."""
    return asked in ("", kind) or kind.startswith(asked + ".")
