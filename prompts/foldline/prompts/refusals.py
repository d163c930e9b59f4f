"""Sentences that say why a prompt is refused, the same at run time and in checks of its source.

A value is given as it should be shown: its `repr` at run time, its code in an editor.
"""

from __future__ import annotations

from collections.abc import Iterable

DISCLOSURES = ("auto", "open")
"""The values of a template's `disclosure`."""

NONE_IN_SECTIONS = (
    "None is not a section. Leave a section out with its `enabled`, or with "
    "`*([section] if … else [])`."
)

UNSPECIALISED_TOOL = "`Tool[Params, Result](…)`, with None for a tool without parameters."

QUOTED_TYPE = "give the class itself, not its name in quotes; define it above."

NO_OUTPUT = "the output must be a dataclass, a Pydantic model, or `list[…]` of one."

NO_CHAPTER_TEXT = (
    "has no text of its own; open it with `template.expand_chapters(…)` and render that."
)

UNDECLARED_OUTPUT = (
    "The prompt declares no structured output; specialise its template: PromptTemplate[Output](…)."
)

NO_TEXT_ITEMS = "Texts show by their field's type: `Annotated[tuple[str, ...], bullets]`."

UNTRUSTED_EXAMPLES = "the examples are Untrusted, and a model follows them: give your own."

NO_DESCRIPTION = "`description` must tell the model what the tool does."


def not_a_string(what: str, kind: str) -> str:
    """A template or summary of another type, named `kind`."""
    return f"`{what}` must be a string, not {kind}."


def not_callable(what: str, shown: str) -> str:
    """An argument that is called, such as `enabled`."""
    also = " or a SectionVisibility" if what == "visibility" else ""
    return f"`{what}` must be a callable{also}, not {shown}."


def not_a_list(what: str, shown: str) -> str:
    """Sections, tools or keywords that aren't in a list."""
    return f"{what} are given as a list or tuple, not {shown}."


def not_a_section(shown: str) -> str:
    """An item of a list of sections."""
    return (
        f"{shown} is not a section. A text is the `template` of a MarkdownSection; prompts are not "
        "nested: reuse their sections as `children`."
    )


def not_a_tool(shown: str) -> str:
    """An item of a list of tools."""
    return f"{shown} is not a Tool."


def not_a_chapter(shown: str) -> str:
    """An item of a template's `chapters`."""
    return f"`chapters` takes chapters, not {shown}; sections belong in `sections`."


def not_a_template(shown: str) -> str:
    """The argument of `Prompt(…)`, of a type named `shown`."""
    return f"Prompt(…) wraps a PromptTemplate, not {shown}."


def not_evaluable(shown: str) -> str:
    """The first argument of `evaluate`."""
    return f"evaluate() takes a Prompt, a PromptTemplate or a RenderedPrompt, not {shown}."


def not_a_disclosure(shown: str) -> str:
    """A template's `disclosure`."""
    return f"`disclosure` is {' or '.join(map(repr, DISCLOSURES))}, not {shown}."


def wrong_role(shown: str) -> str:
    """The `role` of a section."""
    return f"`role` is 'system', 'developer' or 'user', not {shown}."


def untrusted_beside(placeholder: str) -> str:
    """Untrusted text in a fence that shares a line with other text."""
    return f"The fence of the untrusted `${{{placeholder}}}` needs its own line after a blank one."


def untrusted_role(placeholder: str, role: str) -> str:
    """Untrusted text in a section whose message has authority."""
    return f"The untrusted `${{{placeholder}}}` is in a message of the {role}, not of the user."


def untrusted_computed(field: str) -> str:
    """A text that a section computes, perhaps from an untrusted value."""
    return f"A computed text may have the untrusted `{field}`: name in `computed_from` what it has."


def hidden_argument(name: str) -> str:
    """A type argument of a class named `name` that says which of its fields may be shown."""
    return f"`Untrusted`, an Image or a File is hidden in `{name}[…]`: write a subclass of that."


def nested_role(key: str, role: str, around: str) -> str:
    """A section with another role than the one that it is in."""
    return (
        f"Section {key} has the role {role}, but is in one with the role {around}. Only a "
        "top-level section has a role of its own: leave it out."
    )


def role_among_others(key: str, role: str, others: str) -> str:
    """A section with another role than the list that it is in, such as `system=`."""
    return (
        f"Section {key} has the role {role}, but is among those with the role {others}; declare "
        "one of them."
    )


def no_policy(shown: str, policies: Iterable[str]) -> str:
    """A name that no policy of expanding chapters has."""
    names = " and ".join(map(repr, policies))
    return f"There is no expansion policy {shown}; the policies are {names}."


def wrong_default(expected: str, given: str) -> str:
    """`default_params` of another type than the section's."""
    return f"`default_params` must be an instance of {expected}, not {given}."


def not_a_params_type(shown: str) -> str:
    """A section's type argument that isn't a dataclass."""
    return (
        f"{shown} is not a dataclass; specialise the section with a dataclass or Pydantic model, "
        "or with None if it has no parameters."
    )


def not_a_tool_params_type(shown: str) -> str:
    """A tool's type argument that isn't a dataclass."""
    return f"the parameters must be a dataclass, a Pydantic model or None, not {shown}."


def not_specialised(name: str, base: str | None) -> str:
    """A section class without type arguments; `base` is the type that its parameters need."""
    if base is not None:
        return f"write `{name}[{base}](…)`, or give a subclass of {base}."
    return f"write `{name}[Params](…)`, or `{name}[None](…)` if it has none."


def not_based_on(name: str, base: str, shown: str) -> str:
    """The parameters of a section class that needs another base class."""
    return f"{name} takes {base} or a subclass of it, not {shown}."


def computed_field(owner: str, field: str, section: str) -> str:
    """A field with the name of a placeholder that the section computes."""
    return f"{owner} has a field {field!r}, which {section} computes itself; rename the field."


def tool_name_rule(shown: str) -> str:
    """A tool's name of an invalid form."""
    return f"Tool name {shown} must be 1 to 64 characters of a-z, 0-9, `_` and `-`."


def same_tool_name(name: str, first: str, second: str) -> str:
    """Two tools of one prompt with one name, and the keys of their sections."""
    where = f"the section {first}" if first == second else f"the sections {first} and {second}"
    return f"Two tools have the name {name}, in {where}; rename one."


def not_bindable(shown: str, name: str = "Params", fields: Iterable[str] = ("field",)) -> str:
    """A bound value that isn't an instance of a dataclass, and what to make an instance of."""
    call = f"{name}({', '.join(f'{field}=…' for field in fields)})"
    return f"Only instances of dataclasses can be bound, not {shown}: write `bind({call})`."


def subclass_bound(name: str, base: str) -> str:
    """A bound instance of a subclass of what sections take."""
    return (
        f"{name} is a subclass of {base}, and sections take instances of their own type: bind a "
        f"{base}, or specialise the sections with {name}."
    )


def override_needs_path(shown: str, path: str) -> str:
    """A key of `visibility_overrides` that isn't a tuple."""
    return f"The visibility override for {shown} needs a path, a tuple of keys: write {path}."


def override_needs_visibility(path: str, shown: str) -> str:
    """A value of `visibility_overrides` that isn't a visibility."""
    return (
        f"The visibility override for {path} is {shown}; give SectionVisibility.FULL or "
        "SectionVisibility.SUMMARY."
    )


def no_summary(key: str) -> str:
    """A section that is to be summarized, and can't be."""
    return (
        f"Section {key} has no `summary` text, so it cannot have the visibility SUMMARY; give it "
        "one, or leave it FULL."
    )


def immutable(name: str) -> str:
    """An assignment to an argument of a section."""
    return f"can't be changed: `clone({name}=…)` returns a copy with another value."
