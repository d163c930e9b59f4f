"""Says what to send in place of a text, and rewrites the one place that makes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import PurePosixPath

from foldline.backends.base.near_names import free_name
from foldline.backends.base.python_ast import parse_module
from foldline.backends.files.base import FileBackend
from foldline.plugins.adopt.model import AdoptError, Field, Kind, Style, Use
from foldline.plugins.adopt.plan import Plan
from foldline.plugins.adopt.scopes import names_in
from foldline.plugins.adopt.uses import parse
from foldline.plugins.adopt.write import INDENT, WIDTH, one_line
from foldline.records import record

UNKNOWN = "…"
"""A value that the source of a call doesn't show."""


@record
class Rewritten:
    """A file of the workspace in which one expression renders the new prompt, before and after."""

    path: str
    line: int
    before: str
    after: str


def call_sites(plan: Plan) -> Iterator[tuple[Use, str]]:
    """Yield the places that make the text, and what to send in place of each."""
    for use in plan.original.uses:
        yield use, _rendered(plan, use, (plan.variable, plan.class_name), "")


def rewrite(plan: Plan, files: FileBackend, source: str, output: str) -> Rewritten:
    """Return the file that makes the text, with the new prompt in that place.

    The workspace has the file of the text, `source`, and the new module, `output`.

    Raises:
        AdoptError: There isn't one such place, or it doesn't show all that the prompt needs.
        PathError: A file can't be read, or is outside of the workspace.
    """
    if not plan.original.uses:
        raise AdoptError(
            "no call that fills in the text is known; where a library does it, such as a chain of "
            f"LangChain, give that what `{plan.variable}.render(…)` makes"
        )
    if len(plan.original.uses) > 1:
        lines = ", ".join(f"{one.file or source}:{one.line}" for one in plan.original.uses[:5])
        raise AdoptError(
            f"one place is rewritten, and {len(plan.original.uses)} places make the text: {lines}"
        )
    (use,) = plan.original.uses
    file = files.read_source(use.file or source)
    text, where = file.text, f"{file.path}:{use.line}"
    if file.note or file.encoding != "utf-8":
        raise AdoptError(f"{file.path} isn't in UTF-8")
    module = parse(file.parse_data.decode())
    nodes = [node for node in ast.walk(module.tree) if isinstance(node, ast.expr)]
    matches = (one for one in nodes if one.lineno == use.line and ast.unparse(one) == use.source)
    if (node := next(matches, None)) is None:
        raise AdoptError(f"{where}: several statements make the text")
    if use.doubt:
        raise AdoptError(f"{where}: {use.doubt}")
    # The name that the call fills in has to be the text: imported, or of the text's own file.
    owner, origins = use.owner, module.imports.items()
    origin = next((one for name, (one, _) in origins if f"{owner}.".startswith(f"{name}.")), None)
    is_own = origin is not None or (
        not use.file and ("." not in owner or owner == plan.original.name)
    )
    if not is_own or ("." in owner and not f".{owner}".endswith(f".{plan.original.name}")):
        raise AdoptError(f"{where}: `{owner}` may be another text than `{plan.original.name}`")
    names = [plan.variable, *([plan.class_name] if plan.fields else [])]
    taken = names_in(module.tree)
    local = [free_name(f"{name}_template", taken, "_") if name in taken else name for name in names]
    newline = "\r\n" if "\r\n" in text else "\n"
    start, end = module.span(node)
    before = text[module.lines.offset(node.lineno - 1, 0) : start]
    new = _rendered(plan, use, local, before, newline)
    if UNKNOWN in new:
        raise AdoptError(f"{where} doesn't show each value: {new}")
    new_module = _module(origin, file.path, source, output, files)
    pairs = zip(names, local, strict=True)
    imported = sorted(name if name == alias else f"{name} as {alias}" for name, alias in pairs)
    line = f"from {new_module} import {', '.join(imported)}{newline}"
    head = [*takewhile(_leads, module.tree.body)]
    comments = re.match(r"(?:#[^\n]*\n)*", text)
    import_at = len(comments[0] if comments else "")
    if head:
        import_at = module.lines.offset(head[-1].end_lineno or 0, 0)
    if not head or not isinstance(head[-1], ast.Import | ast.ImportFrom):
        line = newline + line if head else line + newline * 2
    after = f"{text[:import_at]}{line}{text[import_at:start]}{new}{text[end:]}"
    try:
        parse_module(after)
    except SyntaxError:
        raise AdoptError(f"{where}: rewrite it yourself, as {new}") from None
    return Rewritten(file.path, use.line, text, after)


def _rendered(plan: Plan, use: Use, names: Sequence[str], before: str, newline: str = "\n") -> str:
    """Return the expression that renders the prompt where a call fills in the source."""
    arguments = [f"{field.name}={_value(field, use)}" for field in plan.fields]
    head, tail = (f"{names[1]}(", ")") if arguments else ("", "")
    call = f"{names[0]}.render({head}{', '.join(arguments)}{tail})"
    if arguments and len(before) + len(call) > WIDTH:
        indent = newline + before[: len(before) - len(before.lstrip())]
        lines = "".join(f"{indent}{INDENT * 2}{one}," for one in arguments)
        call = f"{names[0]}.render({indent}{INDENT}{head}{lines}{indent}{INDENT}){indent})"
    if use.style is Style.MESSAGES:
        pair = '{"role": message.role.value, "content": message.text}'
        return f"[{pair} for message in {call}.messages]"
    return f"{call}.text"


def _value(field: Field, use: Use) -> str:
    """Return the expression of a field's value at a call."""
    if field.kind is Kind.REMAINDER or field.items is not None:
        return UNKNOWN
    if use.style in (Style.FSTRING, Style.MESSAGES):
        return field.source
    expressions = {source: source for source in use.arguments}
    if use.style is Style.REPLACE:
        holes = use.keywords.items()
        expressions = {re.sub(r"\W+", "_", hole).strip("_").lower(): new for hole, new in holes}
        expressions |= {new: new for _, new in holes}
    expressions |= use.keywords
    if field.kind is Kind.COMPUTED and field.source.startswith("'"):
        return field.source
    names = re.findall(r"[{(](\w+)", field.source)
    if field.kind is Kind.COMPUTED and len(names) == 1 and names[0] in expressions:
        # The source's own form: `{limit:.2f}`, `{user[name]}`, `%(limit)d`.
        if use.style is Style.FORMAT:
            return f"{one_line(field.source)}.format({names[0]}={expressions[names[0]]})"
        if use.style is Style.PERCENT:
            return f"{one_line(field.source)} % {{{one_line(names[0])}: {expressions[names[0]]}}}"
    return expressions.get(field.source, UNKNOWN)


def _leads(statement: ast.stmt) -> bool:
    """Return True for an import or a docstring."""
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Import | ast.ImportFrom)


def _module(origin: str | None, file: str, source: str, output: str, files: FileBackend) -> str:
    """Return how a file imports the new module; `AdoptError` where its imports don't say how."""
    here = PurePosixPath(file).parent.parts
    new = PurePosixPath(output).with_suffix("").parts
    old = PurePosixPath(source).with_suffix("").parts
    if origin is None:
        origin = "." if files.exists(str(PurePosixPath(*here, "__init__.py"))) else ""
    if origin.startswith("."):
        same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(here, new[:-1], strict=False))])
        parts, dots = new[same:], "." * (len(here) - same + 1)
    else:
        first = origin.partition(".")[0]
        root = old.index(first) if first in old else len(here)
        parts, dots = new[root:], ""
        if new[:root] != old[:root]:
            parts = ()
    if not parts or not all(part.isidentifier() for part in parts):
        raise AdoptError(f"{file} doesn't show how to import {output}")
    return dots + ".".join(parts)
