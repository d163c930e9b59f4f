"""Writes the reference pages of `foldline.prompts` from its docstrings, when the site is built.

The sources are read, not imported.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PROMPTS = ROOT / "prompts" / "foldline" / "prompts"
PLUGINS = ROOT / "plugins" / "foldline" / "plugins"
BACKENDS = ROOT / "backends" / "foldline" / "backends"
AGENT = ROOT / "server" / "foldline" / "agent"
REFERENCE = ROOT / "docs" / "reference"

# Modules that users meet, in the order in which they do; the others are how it works inside.
MODULES = (
    "template",
    "prompt",
    "sections.markdown",
    "sections.each",
    "sections.examples",
    "forms.forms",
    "cache.stability",
    "cache.cache_plan",
    "files",
    "sections.section",
    "sections.task",
    "sections.chapter",
    "visibility",
    "rendered",
    "roles",
    "forms.segments",
    "layout.blocks",
    "layout.layout",
    "disclosure.disclosure",
    "disclosure.retry",
    "tool",
    "output.structured_output",
    "output.parsing",
    "forms.values",
    "output.schema",
    "expansion",
    "sections.intent",
    "descriptor",
    "overrides.overrides",
    "overrides.overrides_store",
    "cache.tokens",
    "forms.tags",
    "wording",
    "context",
    "cache.prices",
    "deadline",
    "dataclasses",
    "errors",
    "testing",
    "pytest_plugin",
    "runtime.options",
    "adapters.disclosure",
    "disclosure.opening",
    "disclosure.sent",
    "runtime.conversation",
    "runtime.session",
    "bus",
    "runtime.events",
    "runtime.dispatch",
    "runtime.response",
    "adapters.protocol",
    "adapters.base",
    "adapters.openai",
    "adapters.openai_responses",
    "adapters.anthropic",
    "adapters.sdk",
    "adapters.schemas",
    "adapters.scripted",
    "adapters.transcript",
)
STORES = (
    "store",
    "records",
    "sqlite_store",
    "postgres_store",
    "outbox",
    "postgres_overrides",
    "otel",
)
"""Those of the plugin `foldline.plugins.stores`."""

CODE = (
    (BACKENDS, "file_access"),
    (BACKENDS, "async_access"),
    (AGENT, "tools"),
    (AGENT, "instructions"),
    (AGENT, "pipeline"),
)
"""Modules that read code, and the tools for agents."""

HEAD = """\
# Reference

The public names of `foldline.prompts`, of its stores, and of what reads code, by module;
[prompts](../prompts.md) and [code](../language-servers.md) show how to use them.
"""
CONTENTS = """
```{toctree}
:hidden:
:glob:

*
```
"""

Definition: TypeAlias = ast.ClassDef | ast.FunctionDef
Method: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SECTION = re.compile(r"^(Args|Raises|Returns|Yields):\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_ITEM = re.compile(r"^ {4}(\S[^:\n]*): ", re.MULTILINE)


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with its text."""
    lines = [HEAD]
    modules = [(PROMPTS, name) for name in MODULES] + [(PLUGINS, f"stores.{n}") for n in STORES]
    for package, name in [*modules, *CODE]:
        source = package / f"{name.replace('.', '/')}.py"
        tree = ast.parse(source.read_text(encoding="utf-8"))
        first = (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " ")
        file = f"{package.name}.{name}.md" if (package, name) in CODE else f"{name}.md"
        lines.append(f"- [`foldline.{package.name}.{name}`]({file}): {first}")
        yield REFERENCE / file, page(package, name, tree)
    yield REFERENCE / "README.md", "\n".join([*lines, CONTENTS])


def page(package: Path, name: str, tree: ast.Module) -> str:
    """One module: what it exports, in that order."""
    parts = [f"# foldline.{package.name}.{name}", prose(ast.get_docstring(tree) or "")]
    definitions: dict[str, Definition] = {
        node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))
    }
    values = dict(documented(tree.body))
    for exported in exports(package, name, tree):
        definition = definitions.get(exported)
        if isinstance(definition, ast.ClassDef):
            parts += of_class(definition)
        elif definition is not None:
            parts += of_function(definition, "##", exported)
        elif exported in values:
            parts += [f"## {exported}", prose(values[exported])]
    return "\n\n".join(part for part in parts if part) + "\n"


def exports(package: Path, name: str, tree: ast.Module) -> list[str]:
    """The public names of a module: its `__all__`, or what packages export of it."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    folder, _, module = name.rpartition(".")
    tables = [(package, name), (package / folder, module)]
    tables += [(PROMPTS / other, f".{name}") for other in ("runtime", "adapters")]
    return sorted({exported for at, key in tables for exported in tables_of(at).get(key, ())})


@functools.cache
def tables_of(package: Path) -> dict[str, tuple[str, ...]]:
    """The names that a package exports, by module."""
    source = package / "__init__.py"
    text = source.read_text(encoding="utf-8") if source.exists() else ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "exports":
            table: dict[str, tuple[str, ...]] = ast.literal_eval(node.args[1])
            return table
    return {}


def of_class(node: ast.ClassDef) -> list[str]:
    """A class with its fields, attributes and public methods."""
    bases = [ast.unparse(base) for base in node.bases]
    parts = [f"## {node.name}"]
    if bases:
        parts.append(f"Inherits from {', '.join(f'`{base}`' for base in bases)}.")
    parts.append(prose(ast.get_docstring(node) or ""))
    if is_constructed(node):
        parts.insert(1, call(node.name, keywords_of(node)))
    fields = [
        f"- `{attribute(item)}`"
        for item in node.body
        if isinstance(item, ast.AnnAssign) and is_attribute(item)
    ]
    notes = dict(documented(node.body))
    fields = [
        f"{line}: {flat(notes[name])}" if (name := field_name(line)) in notes else line
        for line in fields
    ]
    if fields:
        parts.append("\n".join(["**Attributes:**\n", *fields]))
    members = [
        f"- `{name}`: {flat(text)}" if text else f"- `{name}`"
        for name, text in enum_members(node, notes)
    ]
    if members:
        parts.append("\n".join(members))
    for item in methods_of(node):
        if item.name == "__init__":
            parts.insert(1, signature(item, node.name))
        elif not item.name.startswith("_"):
            parts += of_function(item, "###", f"{node.name}.{item.name}")
    return parts


def methods_of(node: ast.ClassDef) -> Iterator[Method]:
    """The methods of a class of what reads code with those of its base; of others, its own.

    One that another class's method makes, as a coroutine, is that method.
    """
    for item in node.body:
        if isinstance(item, Method):
            yield item
        elif isinstance(item, ast.Assign) and isinstance(item.value, ast.Call):
            made = item.value.args[:1]
            if ast.unparse(item.value.func) == "_as_coroutine" and isinstance(
                made[0], ast.Attribute
            ):
                method = access_methods()[made[0].attr]
                yield ast.AsyncFunctionDef(**{**vars(method), "decorator_list": []})
    if node.name == "SmartFileAccess":
        yield from access_methods(inherited=True).values()


@functools.cache
def access_methods(*, inherited: bool = False) -> dict[str, Method]:
    """The methods by which code is read, by name."""
    files = (
        ["references/navigation.py"]
        if inherited
        else ["references/navigation.py", "file_access.py"]
    )
    return {
        item.name: item
        for file in files
        for node in ast.parse((BACKENDS / file).read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name in ("CodeNavigation", "SmartFileAccess")
        for item in node.body
        if isinstance(item, Method) and item.name != "__init__"
    }


def of_function(node: Method, marks: str, name: str) -> list[str]:
    """A function, method or property; a property has no call signature."""
    text = ast.get_docstring(node)
    if text is None:
        return []
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    if decorators & {"property"}:
        returns = "" if node.returns is None else f": {ast.unparse(node.returns)}"
        return [f"{marks} {name}", f"`{node.name}{returns}`", prose(text)]
    return [f"{marks} {name}", signature(node, node.name), prose(text)]


def signature(node: Method, name: str) -> str:
    """The call as Python code, one argument a line if it is long."""
    arguments = ast.unparse(node.args)
    for first in ("self", "cls"):
        arguments = arguments.removeprefix(first).removeprefix(", ")
    returns = "" if node.returns is None or node.name == "__init__" else ast.unparse(node.returns)
    waits = "waits" in map(ast.unparse, node.decorator_list)
    before = "await " * (isinstance(node, ast.AsyncFunctionDef) and not waits)
    return call(f"{before}{name}", arguments, f" -> {returns}" if returns else "")


def call(name: str, arguments: str, arrow: str = "") -> str:
    line = f"{name}({arguments}){arrow}"
    if len(line) > 96:
        split = ",\n    ".join(top_level(arguments))
        line = f"{name}(\n    {split},\n){arrow}"
    return f"```python\n{line}\n```"


def is_constructed(node: ast.ClassDef) -> bool:
    """True for a class whose constructor is made from its fields."""
    return any(ast.unparse(decorator) == "with_constructor" for decorator in node.decorator_list)


@functools.cache
def constructed() -> dict[str, ast.ClassDef]:
    """The classes whose constructors are made from their fields, by name."""
    return {
        node.name: node
        for source in sorted(PROMPTS.rglob("*.py"))
        for node in ast.parse(source.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and is_constructed(node)
    }


def keywords_of(node: ast.ClassDef) -> str:
    """The arguments of such a constructor: those without a default first."""
    needed, others = [], []
    for name, item in fields_of(node).items():
        default = default_of(item)
        written = f"{name}: {ast.unparse(form_of(item.annotation, 0))}"
        if default is None:
            needed.append(written)
        elif not is_fixed(item):
            others.append(f"{written} = {ast.unparse(default)}")
    return ", ".join(["*", *needed, *others])


def fields_of(node: ast.ClassDef) -> dict[str, ast.AnnAssign]:
    """The fields of a class and its bases, by name."""
    fields: dict[str, ast.AnnAssign] = {}
    for base in node.bases:
        above = constructed().get(ast.unparse(base).partition("[")[0])
        fields |= fields_of(above) if above else {}
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and "ClassVar" not in ast.unparse(item.annotation):
            fields[ast.unparse(item.target)] = item
    return fields


def attribute(item: ast.AnnAssign) -> str:
    """A field as its objects have it."""
    default = default_of(item)
    value = "" if default is None else f" = {ast.unparse(default)}"
    return f"{ast.unparse(item.target)}: {ast.unparse(form_of(item.annotation, 1))}{value}"


def is_attribute(item: ast.AnnAssign) -> bool:
    hidden = ast.unparse(item.annotation).startswith("InitVar[")
    return not hidden and not ast.unparse(item.target).startswith("_")


def form_of(annotation: ast.expr, kept: int) -> ast.expr:
    """The type that an argument is given as, or kept as."""
    if isinstance(annotation, ast.Subscript):
        if ast.unparse(annotation.value) == "Argument" and isinstance(annotation.slice, ast.Tuple):
            return annotation.slice.elts[kept]
        if ast.unparse(annotation.value) == "InitVar":
            return annotation.slice
    return annotation


def default_of(item: ast.AnnAssign) -> ast.expr | None:
    """The default of a field; None if it has none."""
    if isinstance(item.value, ast.Call) and ast.unparse(item.value.func) == "argument":
        return next(word.value for word in item.value.keywords if word.arg == "default")
    return item.value


def is_fixed(item: ast.AnnAssign) -> bool:
    """True for a field that the constructor doesn't take."""
    return isinstance(item.value, ast.Call) and "init=False" in ast.unparse(item.value)


def top_level(arguments: str) -> list[str]:
    """The arguments, parted at the commas that are inside no bracket."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(arguments):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(arguments[start:place].strip())
            start = place + 1
    return [*parts, arguments[start:].strip()]


def documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Assignments that are followed by a string which describes them."""
    for node, after in itertools.pairwise(body):
        if (
            isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            text = textwrap.dedent(after.value.value)
            if isinstance(node, ast.AnnAssign):
                yield ast.unparse(node.target), text
            elif isinstance(node, ast.Assign):
                yield ast.unparse(node.targets[0]), text


def enum_members(node: ast.ClassDef, notes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The members of an enum with their descriptions."""
    if not any("Enum" in ast.unparse(base) for base in node.bases):
        return
    for item in node.body:
        if isinstance(item, ast.Assign):
            name = ast.unparse(item.targets[0])
            yield name, notes.get(name, "")


def field_name(line: str) -> str:
    return line.removeprefix("- `").partition(":")[0]


def flat(text: str) -> str:
    return " ".join(text.split())


def prose(text: str) -> str:
    """A docstring as Markdown: sections as lists, examples and drawings as code."""
    text = _SECTION.sub(lambda match: listed(match[1], match[2]), text + "\n")
    return "\n\n".join(block(part) for part in re.split(r"\n{2,}", text.strip()))


def listed(title: str, body: str) -> str:
    """A section of a docstring as a list."""
    items = _ITEM.split(f"\n{body}".rstrip())
    if len(items) < 3:
        return f"**{title}:** {flat(body)}\n\n"
    pairs = zip(items[1::2], items[2::2], strict=True)
    return f"**{title}:**\n\n" + "\n".join(f"- `{n}`: {flat(t)}" for n, t in pairs) + "\n\n"


def block(part: str) -> str:
    if part.startswith(">>>"):
        return f"```pycon\n{part}\n```"
    if "──" in part or part.startswith("    "):
        return f"```text\n{textwrap.dedent(part)}\n```"
    return part


def main() -> None:
    """Write the pages that have changed, and remove those whose module is gone."""
    REFERENCE.mkdir(parents=True, exist_ok=True)
    wanted = dict(pages())
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in set(REFERENCE.glob("*.md")) - wanted.keys():
        path.unlink()
