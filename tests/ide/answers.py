"""What each feature answers, rendered as text in terms of the fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from foldline.ide.errors import RenameRefused
from foldline.server.features import (
    code_action,
    code_lens,
    code_lens_resolve,
    completion,
    definition,
    document_highlight,
    document_link,
    document_symbol,
    folding_range,
    hover,
    inlay_hint,
    prepare_rename,
    references,
    rename,
    selection_range,
    semantic_tokens,
)

from .conftest import Fixtures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .editor_fixture import EditorFixture

NEW_NAME = "renamed"


def shown(text: str, limit: int = 60) -> str:
    """A stretch of text in one line."""
    line = text.replace("\n", "⏎")
    return line if len(line) <= limit else f"{line[: limit // 2]}…{line[-limit // 2 :]}"


def title(file: str) -> str:
    """The line above a file; the first one has none."""
    return "" if file == "prompt.py" else f"#- {file}\n"


def marked(
    editor: EditorFixture, spans: Iterable[tuple[types.Range, str]], file: str | None = None
) -> str:
    """The file with carets below the spans; its head is left out."""
    name = file or editor.file
    places = [(*editor.span(place, name), label) for place, label in spans]
    return Fixtures.render(
        editor.files[name].fixture, places, head=editor.head if name == "prompt.py" else ""
    )


def located(editor: EditorFixture, places: Iterable[types.Location]) -> str:
    """All files with a place in them, each with its carets."""
    by_file: dict[str, list[tuple[types.Range, str]]] = {}
    for place in places:
        by_file.setdefault(editor.file_of(place.uri), []).append((place.range, "here"))
    return "".join(
        title(file) + marked(editor, by_file[file], file) for file in sorted(by_file, key=title)
    )


def changed(editor: EditorFixture, files: dict[str, str]) -> str:
    """The files after a change."""
    return "".join(
        title(file) + (files[file] if title(file) else files[file].removeprefix(editor.head))
        for file in sorted(files, key=title)
    )


def of_completion(editor: EditorFixture) -> str:
    """The labels with their details, and the line after the first that fits was chosen."""
    found = editor.ask(completion, types.CompletionParams)
    if found is None:
        return "nothing\n"
    lines = [f"{item.label}: {item.detail}".removesuffix(": None") for item in found.items]
    places = {str(item.text_edit.range) for item in found.items}
    assert len(places) == 1
    place = found.items[0].text_edit.range
    assert place.start.line == place.end.line == editor.cursor.line
    assert place.start.character <= editor.cursor.character <= place.end.character
    # An editor shows what begins with what was typed.
    start, _ = editor.span(place)
    typed = editor.written.fixture[start : editor.written.offset(editor.cursor)]
    first = next(item for item in found.items if (item.filter_text or item.label).startswith(typed))
    text = editor.written.edited([first.text_edit])
    line = text.count("\n", 0, start)
    return "\n".join([*lines, "-> " + text.split("\n")[line].strip(), ""])


def of_hover(editor: EditorFixture) -> str:
    found = editor.ask(hover, types.HoverParams)
    if found is None:
        return "nothing\n"
    return f"[{shown(editor.text(found.range))}]\n{found.contents.value.rstrip()}\n"


def of_definition(editor: EditorFixture) -> str:
    return located(editor, editor.ask(definition, types.DefinitionParams) or []) or "nothing\n"


def of_references(editor: EditorFixture) -> str:
    context = types.ReferenceContext(include_declaration=True)
    found = editor.ask(references, types.ReferenceParams, context=context)
    return located(editor, found or []) or "nothing\n"


def of_highlight(editor: EditorFixture) -> str:
    found = editor.ask(document_highlight, types.DocumentHighlightParams)
    if found is None:
        return "nothing\n"
    return marked(editor, [(item.range, item.kind.name.lower()) for item in found], editor.file)


def of_rename(editor: EditorFixture) -> str:
    prepared = editor.ask(prepare_rename, types.PrepareRenameParams)
    if prepared is None:
        assert editor.ask(rename, types.RenameParams, new_name=NEW_NAME) is None
        return "nothing\n"
    name = editor.text(prepared.range)
    assert name == prepared.placeholder or "\\" in name
    try:
        edit = editor.ask(rename, types.RenameParams, new_name=NEW_NAME)
    except RenameRefused as error:
        return f"refused: {error.message}\n"
    told = "".join(f"told: {message}\n" for message in editor.server.messages)
    return changed(editor, editor.edited(edit)) + told


def of_symbols(editor: EditorFixture) -> str:
    """The tree, which has to be one: selections in ranges, children in their parents."""
    lines: list[str] = []

    def visit(symbol: types.DocumentSymbol, depth: int, outer: tuple[int, int]) -> None:
        whole = editor.span(symbol.range)
        chosen = editor.span(symbol.selection_range)
        assert outer[0] <= whole[0] <= chosen[0] <= chosen[1] <= whole[1] <= outer[1], symbol.name
        detail = f" ({symbol.detail})" if symbol.detail else ""
        lines.append(
            f"{'  ' * depth}{symbol.kind.name} {symbol.name}{detail} "
            f"[{shown(editor.text(symbol.selection_range))}]\n"
        )
        for child in symbol.children or ():
            visit(child, depth + 1, whole)

    for symbol in editor.ask(document_symbol, types.DocumentSymbolParams):
        visit(symbol, 0, (0, len(editor.written.fixture)))
    return "".join(lines) or "nothing\n"


def of_folding(editor: EditorFixture) -> str:
    """The first and the last line of each range."""
    found = editor.ask(folding_range, types.FoldingRangeParams)
    lines = editor.written.fixture.split("\n")
    return (
        "".join(
            f"{shown(lines[item.start_line].strip())} … {shown(lines[item.end_line].strip())}\n"
            for item in found or ()
        )
        or "nothing\n"
    )


def of_selection(editor: EditorFixture) -> str:
    """What is selected by and by."""
    (found,) = editor.ask(selection_range, types.SelectionRangeParams, positions=[editor.cursor])
    lines: list[str] = []
    inner: tuple[int, int] | None = None
    around = found
    while around is not None:
        place = editor.span(around.range)
        assert inner is None or (place[0] <= inner[0] and inner[1] <= place[1])
        lines.append(f"{shown(editor.text(around.range))}\n")
        inner, around = place, around.parent
    return "".join(lines)


def of_lenses(editor: EditorFixture) -> str:
    found = [
        editor.answer(code_lens_resolve, lens)
        for lens in editor.ask(code_lens, types.CodeLensParams)
    ]
    return (
        "".join(f"{shown(editor.text(item.range))} <- {item.command.title}\n" for item in found)
        or "nothing\n"
    )


def everywhere(editor: EditorFixture) -> types.Range:
    return types.Range(types.Position(0, 0), editor.written.position(len(editor.written.fixture)))


def of_inlays(editor: EditorFixture) -> str:
    """The lines that have hints, with the hints in them."""
    found = editor.ask(inlay_hint, types.InlayHintParams, range=everywhere(editor))
    text = editor.written.fixture
    lines: dict[int, str] = {}
    placed = [(editor.written.offset(hint.position), hint) for hint in reversed(found or [])]
    for at, item in sorted(placed, key=lambda hint: -hint[0]):
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        line = lines.get(start, text[start:end])
        lines[start] = f"{line[: at - start]}«{item.label}»{line[at - start :]}"
    return "".join(f"{lines[start].strip()}\n" for start in sorted(lines)) or "nothing\n"


def of_links(editor: EditorFixture) -> str:
    found = editor.ask(document_link, types.DocumentLinkParams)
    if found is None:
        return "nothing\n"
    return marked(editor, [(item.range, item.target.rpartition("/editor0/")[2]) for item in found])


def of_tokens(editor: EditorFixture) -> str:
    data = list(editor.ask(semantic_tokens, types.SemanticTokensParams).data)
    spans: list[tuple[types.Range, str]] = []
    line = column = 0
    for delta, start, length, kind, modifiers in zip(*[iter(data)] * 5, strict=True):
        line, column = line + delta, start if delta else column + start
        place = types.Range(types.Position(line, column), types.Position(line, column + length))
        legend = semantic_tokens.OPTIONS
        more = ".deprecated" if modifiers else ""
        spans.append((place, legend.token_types[kind] + more))
    return marked(editor, spans) if spans else "nothing\n"


def _actions(editor: EditorFixture, kind: str) -> list[Any]:
    context = types.CodeActionContext(diagnostics=[], only=[kind])
    place = types.Range(editor.cursor, editor.cursor)
    return list(editor.ask(code_action, types.CodeActionParams, context=context, range=place))


def of_actions(editor: EditorFixture) -> str:
    return (
        "".join(f"{action.title}\n" for action in _actions(editor, code_action.KIND)) or "nothing\n"
    )


def of_fixes(editor: EditorFixture) -> str:
    """Each fix, a preferred one with a star, and the files after it."""
    return _fixes(editor, silence=False)


def of_silences(editor: EditorFixture) -> str:
    """The fixes that silence a finding, and the files after them."""
    return _fixes(editor, silence=True)


def _fixes(editor: EditorFixture, *, silence: bool) -> str:
    parts = [
        f"{'* ' if fix.is_preferred else ''}{fix.title}\n{changed(editor, editor.edited(fix.edit))}"
        for fix in _actions(editor, types.CodeActionKind.QuickFix)
        if fix.title.startswith("Silence ") is silence
    ]
    return "-\n".join(parts) or "nothing\n"


ANSWERS: dict[str, Callable[[EditorFixture], str]] = {
    "completion": of_completion,
    "hover": of_hover,
    "definition": of_definition,
    "references": of_references,
    "highlight": of_highlight,
    "rename": of_rename,
    "symbols": of_symbols,
    "folding": of_folding,
    "selection": of_selection,
    "lenses": of_lenses,
    "inlays": of_inlays,
    "links": of_links,
    "tokens": of_tokens,
    "actions": of_actions,
    "fixes": of_fixes,
    "silences": of_silences,
}
