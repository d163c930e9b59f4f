"""What each feature answers, rendered as text in terms of the fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from foldline.ide.errors import RenameRefused
from foldline.server.features import (
    code_action,
    code_lens,
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

    from .desk import Desk

NEW_NAME = "renamed"


def shown(text: str, limit: int = 60) -> str:
    """A stretch of text in one line."""
    line = text.replace("\n", "⏎")
    return line if len(line) <= limit else f"{line[: limit // 2]}…{line[-limit // 2 :]}"


def title(file: str) -> str:
    """The line above a file; the first one has none."""
    return "" if file == "prompt.py" else f"#- {file}\n"


def marked(desk: Desk, spans: Iterable[tuple[types.Range, str]], file: str | None = None) -> str:
    """The file with carets below the spans; its head is left out."""
    name = file or desk.file
    places = [(*desk.span(place, name), label) for place, label in spans]
    return Fixtures.render(
        desk.files[name].fixture, places, head=desk.head if name == "prompt.py" else ""
    )


def located(desk: Desk, places: Iterable[types.Location]) -> str:
    """All files with a place in them, each with its carets."""
    by_file: dict[str, list[tuple[types.Range, str]]] = {}
    for place in places:
        by_file.setdefault(desk.file_of(place.uri), []).append((place.range, "here"))
    return "".join(
        title(file) + marked(desk, by_file[file], file) for file in sorted(by_file, key=title)
    )


def changed(desk: Desk, files: dict[str, str]) -> str:
    """The files after a change."""
    return "".join(
        title(file) + (files[file] if title(file) else files[file].removeprefix(desk.head))
        for file in sorted(files, key=title)
    )


def of_completion(desk: Desk) -> str:
    """The labels with their details, and the line after the first that fits was chosen."""
    found = desk.ask(completion, types.CompletionParams)
    if found is None:
        return "nothing\n"
    lines = [f"{each.label}: {each.detail}".removesuffix(": None") for each in found.items]
    places = {str(each.text_edit.range) for each in found.items}
    assert len(places) == 1
    place = found.items[0].text_edit.range
    assert place.start.line == place.end.line == desk.cursor.line
    assert place.start.character <= desk.cursor.character <= place.end.character
    # An editor shows what begins with what was typed.
    start, _ = desk.span(place)
    typed = desk.written.fixture[start : desk.written.offset(desk.cursor)]
    first = next(each for each in found.items if (each.filter_text or each.label).startswith(typed))
    text = desk.written.edited([first.text_edit])
    line = text.count("\n", 0, start)
    return "\n".join([*lines, "-> " + text.split("\n")[line].strip(), ""])


def of_hover(desk: Desk) -> str:
    found = desk.ask(hover, types.HoverParams)
    if found is None:
        return "nothing\n"
    return f"[{shown(desk.text(found.range))}]\n{found.contents.value.rstrip()}\n"


def of_definition(desk: Desk) -> str:
    return located(desk, desk.ask(definition, types.DefinitionParams) or []) or "nothing\n"


def of_references(desk: Desk) -> str:
    context = types.ReferenceContext(include_declaration=True)
    found = desk.ask(references, types.ReferenceParams, context=context)
    return located(desk, found or []) or "nothing\n"


def of_highlight(desk: Desk) -> str:
    found = desk.ask(document_highlight, types.DocumentHighlightParams)
    if found is None:
        return "nothing\n"
    return marked(desk, [(each.range, each.kind.name.lower()) for each in found], desk.file)


def of_rename(desk: Desk) -> str:
    prepared = desk.ask(prepare_rename, types.PrepareRenameParams)
    if prepared is None:
        assert desk.ask(rename, types.RenameParams, new_name=NEW_NAME) is None
        return "nothing\n"
    assert desk.text(prepared.range) == prepared.placeholder or "\\" in desk.text(prepared.range)
    try:
        edit = desk.ask(rename, types.RenameParams, new_name=NEW_NAME)
    except RenameRefused as error:
        return f"refused: {error.message}\n"
    return changed(desk, desk.edited(edit))


def of_symbols(desk: Desk) -> str:
    """The tree, which has to be one: selections in ranges, children in their parents."""
    lines: list[str] = []

    def visit(symbol: types.DocumentSymbol, depth: int, outer: tuple[int, int]) -> None:
        whole = desk.span(symbol.range)
        chosen = desk.span(symbol.selection_range)
        assert outer[0] <= whole[0] <= chosen[0] <= chosen[1] <= whole[1] <= outer[1], symbol.name
        detail = f" ({symbol.detail})" if symbol.detail else ""
        lines.append(
            f"{'  ' * depth}{symbol.kind.name} {symbol.name}{detail} "
            f"[{shown(desk.text(symbol.selection_range))}]\n"
        )
        for child in symbol.children or ():
            visit(child, depth + 1, whole)

    for symbol in desk.ask(document_symbol, types.DocumentSymbolParams):
        visit(symbol, 0, (0, len(desk.written.fixture)))
    return "".join(lines) or "nothing\n"


def of_folding(desk: Desk) -> str:
    """The first and the last line of each range."""
    found = desk.ask(folding_range, types.FoldingRangeParams)
    lines = desk.written.fixture.split("\n")
    return (
        "".join(
            f"{shown(lines[each.start_line].strip())} … {shown(lines[each.end_line].strip())}\n"
            for each in found or ()
        )
        or "nothing\n"
    )


def of_selection(desk: Desk) -> str:
    """What is selected by and by."""
    (found,) = desk.ask(selection_range, types.SelectionRangeParams, positions=[desk.cursor])
    lines: list[str] = []
    inner: tuple[int, int] | None = None
    around = found
    while around is not None:
        place = desk.span(around.range)
        assert inner is None or (place[0] <= inner[0] and inner[1] <= place[1])
        lines.append(f"{shown(desk.text(around.range))}\n")
        inner, around = place, around.parent
    return "".join(lines)


def of_lenses(desk: Desk) -> str:
    found = desk.ask(code_lens, types.CodeLensParams)
    return (
        "".join(f"{shown(desk.text(each.range))} <- {each.command.title}\n" for each in found)
        or "nothing\n"
    )


def everywhere(desk: Desk) -> types.Range:
    return types.Range(types.Position(0, 0), desk.written.position(len(desk.written.fixture)))


def of_inlays(desk: Desk) -> str:
    """The lines that have hints, with the hints in them."""
    found = desk.ask(inlay_hint, types.InlayHintParams, range=everywhere(desk))
    text = desk.written.fixture
    lines: dict[int, str] = {}
    for each in sorted(found or [], key=lambda hint: -desk.written.offset(hint.position)):
        at = desk.written.offset(each.position)
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        line = lines.get(start, text[start:end])
        lines[start] = f"{line[: at - start]}«{each.label}»{line[at - start :]}"
    return "".join(f"{lines[start].strip()}\n" for start in sorted(lines)) or "nothing\n"


def of_links(desk: Desk) -> str:
    found = desk.ask(document_link, types.DocumentLinkParams)
    if found is None:
        return "nothing\n"
    return marked(desk, [(each.range, each.target.rpartition("/desk0/")[2]) for each in found])


def of_tokens(desk: Desk) -> str:
    data = list(desk.ask(semantic_tokens, types.SemanticTokensParams).data)
    spans: list[tuple[types.Range, str]] = []
    line = column = 0
    for delta, start, length, kind, modifiers in zip(*[iter(data)] * 5, strict=True):
        line, column = line + delta, start if delta else column + start
        place = types.Range(types.Position(line, column), types.Position(line, column + length))
        legend = semantic_tokens.OPTIONS
        more = ".deprecated" if modifiers else ""
        spans.append((place, legend.token_types[kind] + more))
    return marked(desk, spans) if spans else "nothing\n"


def _actions(desk: Desk, kind: str) -> list[Any]:
    context = types.CodeActionContext(diagnostics=[], only=[kind])
    place = types.Range(desk.cursor, desk.cursor)
    return list(desk.ask(code_action, types.CodeActionParams, context=context, range=place))


def of_actions(desk: Desk) -> str:
    return "".join(f"{each.title}\n" for each in _actions(desk, code_action.KIND)) or "nothing\n"


def of_fixes(desk: Desk) -> str:
    """Each repair, the preferred one with a star, and the files that it changes, after it."""
    parts = [
        f"{'* ' if each.is_preferred else ''}{each.title}\n{changed(desk, desk.edited(each.edit))}"
        for each in _actions(desk, types.CodeActionKind.QuickFix)
    ]
    return "-\n".join(parts) or "nothing\n"


ANSWERS: dict[str, Callable[[Desk], str]] = {
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
}
