"""The library's own sentences in prompts, in one place, so that they can be replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from string import Template

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptValidationError, near_names


@FrozenDataclass(kw_only=True)
class Wording:
    """All sentences that the library adds to what a prompt's author writes.

    Replace them to speak the prompt's language, or to say something else:

    >>> german = Wording(background="**Hintergrund:** ${background}")
    >>> german.text("background", background="Es eilt.")
    '**Hintergrund:** Es eilt.'

    Pass a wording where a template is made (`PromptTemplate(wording=…)`) or bound
    (`bind(wording=…)`). `${name}` stands for a value and `$$` for a dollar sign, as in templates. A
    sentence has exactly the placeholders of its default, in any order.

    Messages for people (errors, diagnostics) aren't part of it, nor are the refusals that tell a
    model what is wrong with a call of a tool.

    Attributes:
        more_items: The note after a list that leaves some items out: `_left_out` is how many.
        no_items: The text of a list without items.
        summarized: The note below a summary. `tool` is the tool that shows the section, `key` the
            section's dotted key.
        summarized_with_subsections: The same where the section contains others; `subsections` are
            their keys.
        background: The background of a task.
        expansion_context: The instructions of a task once sections were opened.
        expansion_instructions: These instructions. `keys` are the sections', `reason` is the
            model's.
        open_sections: The description of the tool `open_sections`.
        open_sections_appended: The same where the opened text is appended as the tool's result.
        open_sections_keys: The description of its parameter `section_keys`.
        open_sections_reason: The description of its parameter `reason`.
        opened_tools: The line above the tools of opened sections, where `tool` calls them.
        opened_as_message: The result of opening sections whose text is the message that follows.
        sections_added: The line above sections that a conversation is sent later, unasked.
        sections_above: The result of an opening whose sections the beginning shows by now.
        call_tool: The description of the tool `call_tool`, which calls those of opened sections.
        call_tool_name: The description of its parameter `name`.
        call_tool_arguments: The description of its parameter `arguments`.
        read_section: The description of the tool `read_section`.
        read_section_key: The description of its parameter `section_key`.
        read_section_result: The message before what it reads.
        fitted: The line below a prompt of which sections were summarized or left out to `fit`.
        tool_example: An example in a tool's description; `call` has the arguments as JSON.
        tool_example_result: The same for an example with a result.

    Raises:
        PromptValidationError: A sentence is blank, lacks a placeholder or has an unknown one.
    """

    more_items: str = "… and ${_left_out} more"
    no_items: str = "None."
    summarized: str = (
        '[This section is summarized. To view full content, call `${tool}` with key "${key}".]'
    )
    summarized_with_subsections: str = (
        '[This section is summarized. Call `${tool}` with key "${key}" to view full content '
        "including subsections: ${subsections}.]"
    )
    background: str = "**Background:** ${background}"
    expansion_context: str = "**Expansion Context:** ${instructions}"
    expansion_instructions: str = (
        "Sections expanded: ${keys}. Reason: ${reason}. "
        "Continue with your task using the newly visible content."
    )
    open_sections: str = (
        "Open summarized sections of this prompt to see their full content and get their tools. "
        "The turn ends and starts again with the sections open."
    )
    open_sections_appended: str = (
        "Open summarized sections of this prompt. The result has their full content, and their "
        "tools can be called from then on."
    )
    open_sections_keys: str = (
        "Section keys to open. Each key identifies a summarized section. "
        "Use the keys shown in section summaries. Nested sections use "
        "dot notation (e.g., 'parent.child')."
    )
    open_sections_reason: str = (
        "Brief explanation of why these sections need to be expanded. "
        "Helps the caller understand the model's information needs."
    )
    opened_tools: str = "Tools of these sections, to be called with `${tool}`:"
    opened_as_message: str = "A message of the system that follows has their content."
    sections_added: str = "From here on, the prompt has these sections, too:"
    sections_above: str = "The beginning of the conversation shows the sections that are open now."
    call_tool: str = (
        "Call a tool of a section that was opened. The result of `open_sections` has the tools of "
        "the opened sections with their parameters."
    )
    call_tool_name: str = "The name of the tool."
    call_tool_arguments: str = "The arguments, an object as the tool's parameters describe it."
    read_section: str = (
        "Read the full content of a summarized section of this prompt. "
        "The section stays summarized."
    )
    read_section_key: str = (
        "The key of the summarized section to read, as shown in its summary. "
        "Nested sections use dot notation (e.g., 'parent.child')."
    )
    read_section_result: str = "The full content of section '${key}'."
    fitted: str = "[Shortened to fit: some sections are summarized or left out.]"
    tool_example: str = "Example: ${description} ${call}"
    tool_example_result: str = "Example: ${description} ${call} returns ${result}"

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name), str(field.default))

    def text(self, sentence: str, **values: str) -> str:
        """Return the sentence of that name with its placeholders filled in, verbatim."""
        form, names = _form(getattr(self, sentence))
        return form % tuple([values[name] for name in names])

    def note(self, tool: str, key: str, subsections: Sequence[str]) -> str:
        """Return the note below the summary of the section `key`, which `tool` shows."""
        if subsections:
            return self.text(
                "summarized_with_subsections",
                tool=tool,
                key=key,
                subsections=", ".join(subsections),
            )
        return self.text("summarized", tool=tool, key=key)


def _check(name: str, sentence: object, default: str) -> None:
    where = f"Wording: `{name}`"
    if not isinstance(sentence, str) or not sentence.strip():
        raise PromptValidationError(f"{where} must be a sentence, not {sentence!r}.")
    template = Template(sentence)
    if not template.is_valid():
        raise PromptValidationError(
            f"{where} has a `$` that doesn't start a placeholder; write `$$` for a dollar sign."
        )
    placeholders = Template(default).get_identifiers()
    written = template.get_identifiers()
    listed = ", ".join(f"`${{{known_name}}}`" for known_name in placeholders) or "none"
    for placeholder in written:
        if placeholder not in placeholders:
            near = near_names(placeholder, placeholders)
            hint = (
                f" Did you mean {' or '.join(f'`${{{item}}}`' for item in near)}?" if near else ""
            )
            raise PromptValidationError(
                f"{where} has no placeholder `${{{placeholder}}}`; its placeholders are {listed}."
                + hint,
                placeholder=placeholder,
                near=near,
            )
    for placeholder in placeholders:
        if placeholder not in written:
            raise PromptValidationError(
                f"{where} leaves out `${{{placeholder}}}`; its placeholders are {listed}.",
                placeholder=placeholder,
            )


@lru_cache(maxsize=1024)
def _form(sentence: str) -> tuple[str, tuple[str, ...]]:
    """Return the sentence for the operator `%`, and the names of its values in order.

    Each note of a render is a filled sentence, and a `Template` takes several times as long.
    """
    parts: list[str] = []
    names: list[str] = []
    at = 0
    for match in Template.pattern.finditer(sentence):
        parts.append(sentence[at : match.start()].replace("%", "%%"))
        name = match["named"] or match["braced"]
        parts.append("%s" if name else "$")
        names += [name] if name else []
        at = match.end()
    parts.append(sentence[at:].replace("%", "%%"))
    return "".join(parts), tuple(names)


ENGLISH = Wording()
"""The default."""
