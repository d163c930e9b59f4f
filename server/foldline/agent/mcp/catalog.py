"""The prompts of a workspace, from their source alone: nothing is executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Literal, NamedTuple, get_args, get_origin

from foldline.agent.folders import Folder, Folders
from foldline.agent.mcp.prompt_needs import prompt_paths
from foldline.ide.analysis.model import StaticPrompt, StaticSection
from foldline.ide.analysis.module_analysis import ModuleAnalysis, prompt_values
from foldline.ide.analysis.section_tree import in_template, sections_with_paths
from foldline.ide.analysis.values import (
    TEXT_KINDS,
    Dataclass,
    InstanceValue,
    Items,
    Nothing,
    SectionValue,
    TemplateValue,
)
from foldline.prompts.forms import composition
from foldline.prompts.forms.fields import union_members
from foldline.records import record

SCALARS: Mapping[object, str] = {str: "str", int: "int", float: "float", bool: "bool"}
SEQUENCES = (tuple, list, set, frozenset, Sequence, Iterable)


@record
class Parameter:
    """A field of a params dataclass that can be set by a text.

    Attributes:
        name: The field's name, or `Type.field` if two types have a field of that name.
        kind: `str`, `int`, `float`, `bool`, or `list` for texts separated by commas; empty if no
            text can give it.
        required: Neither the type nor the prompt's author provides a value.
    """

    name: str
    type_name: str
    field: str
    kind: str
    annotation: str
    default: str | None
    description: str
    required: bool


@record
class CatalogPrompt:
    """One prompt of a workspace, with a unique name."""

    name: str
    folder: Folder
    file: Path
    prompt: StaticPrompt
    fields: tuple[Parameter, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The fields that are arguments."""
        return tuple(one for one in self.fields if one.kind)

    @property
    def path(self) -> str:
        """The file's path, as agents write it."""
        return self.folder.shown(self.file.relative_to(self.folder.root).as_posix())

    @property
    def summarized(self) -> tuple[str, ...]:
        """Keys of the sections that aren't shown in full, as far as known."""
        return tuple(".".join(section.path) for section in summarized_sections(self.prompt))


def find_prompts(folders: Folders) -> tuple[CatalogPrompt, ...]:
    """Return the prompts of all folders, sorted by name. Blocks while files are read.

    A prompt's name is `ns/key`. If several have the same, the first bound one keeps it, else the
    first; the others append their variable, or their file if that isn't unique.
    """
    matching = [
        (folder, path, prompt, facts)
        for folder in folders.folders
        for path, prompt, facts in prompts_of(folder)
    ]
    matching.sort(key=lambda entry: not entry[2].bound)
    names: dict[str, CatalogPrompt] = {}
    for folder, path, prompt, facts in matching:
        plain = f"{prompt.ns}/{prompt.key}".strip("/") or prompt.name
        candidates = (plain, f"{plain}#{prompt.name}", f"{folder.shown(path)}#{prompt.name}")
        name = next(candidate for candidate in candidates if candidate not in names)
        names[name] = CatalogPrompt(name, folder, folder.root / path, prompt, facts.parameters)
    return tuple(sorted(names.values(), key=lambda prompt: prompt.name))


def summarized_sections(prompt: StaticPrompt) -> Iterator[StaticSection]:
    return (section for section in prompt.walk() if section.visibility.value != "FULL")


def prompts_of(folder: Folder) -> Iterator[tuple[str, StaticPrompt, Facts]]:
    project = folder.project
    project.look_at_disk()
    for path in prompt_paths(folder):
        analysis = project.analysis(str(folder.root / path))
        if analysis is None:
            continue
        with project.lock:
            facts = _facts(analysis)
            for prompt in analysis.module.prompts:
                yield path, prompt, facts.get(prompt.name, Facts((), False))


class Facts(NamedTuple):
    parameters: tuple[Parameter, ...]
    declares_tools: bool


def _facts(analysis: ModuleAnalysis) -> Mapping[str, Facts]:
    """Return the parameters of each prompt and if it declares tools, by its variable."""
    facts: dict[str, Facts] = {}
    for statement in analysis.statements:
        values = prompt_values(statement, analysis.scope, analysis.evaluator)
        for _, name, value in values:
            template, own = value.template, value.section_params
            bound = [item.value for item in value.bound]
            types = {value.dataclass.name for value in bound if isinstance(value, InstanceValue)}
            # An unknown bound value may be of any type.
            needed = len(types) == len(bound) and own.complete
            facts[name.id] = Facts(
                tuple(_of_template(template, types, own.arguments, needed=needed)),
                any(map(_declares_tools, in_template(template))),
            )
    return facts


def _declares_tools(section: SectionValue) -> bool:
    argument = section.arguments.get("tools")
    if argument is None:
        # A class of the workspace may declare tools.
        return section.opaque or section.kind not in (*TEXT_KINDS, "chapter")
    items = argument.value
    return not (isinstance(items, Nothing) or (isinstance(items, Items) and items == Items(())))


def _of_template(
    template: TemplateValue, bound: set[str], own: Collection[str], *, needed: bool
) -> Iterator[Parameter]:
    """Yield the parameters, except for those of sections that have `own`, by dotted key."""
    kinds: dict[str, Dataclass] = {}
    bound_keys = set(bound)
    for placed in sections_with_paths(template):
        section = placed.section
        if section.kind != "chapter" and ".".join(placed.path) in own:
            continue
        if isinstance(section.params, Dataclass) and section.params.name:
            kinds.setdefault(section.params.name, section.params)
            if "default_params" in section.arguments:
                bound_keys.add(section.params.name)
    fields = [
        (kind, field)
        for kind in kinds.values()
        for field in kind.fields
        # The agent loop sets the instructions.
        if field.init and not (kind.task and field.id == "expansion_instructions")
    ]
    counts = Counter(field.id for _, field in fields)
    for kind, field in fields:
        form = field.type.form
        annotation = field.annotation if form is None else composition.hint_text(form.hint)
        text_kind = kind_of(field.type.hint)
        yield Parameter(
            name=field.id if counts[field.id] == 1 else f"{kind.name}.{field.id}",
            type_name=kind.name,
            field=field.id,
            kind=text_kind or "",
            annotation=annotation,
            default=field.default,
            description=field.description,
            required=needed and not field.has_default and kind.name not in bound_keys,
        )


def kind_of(hint: object) -> str | None:
    """Return the `kind` of a parameter of that type; None if a text can't represent it."""
    members = [member for member in union_members(hint) if member not in (None, NoneType)]
    kind = members[0] if len(members) == 1 else None
    if kind in SCALARS:
        return SCALARS[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "str" if all(isinstance(value, str) for value in arguments) else None
    is_list = origin in SEQUENCES and arguments[1:] in ((), (Ellipsis,))
    return "list" if is_list and kind_of(arguments[0]) == "str" else None
