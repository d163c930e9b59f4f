"""Random prompts of each style show the same text after they are adopted, for random values."""

from __future__ import annotations

import string
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldline.plugins.adopt import proof, sandbox
from foldline.plugins.adopt.adoption import adopt, read
from foldline.plugins.adopt.model import AdoptError, JinjaOptions, Style

from .here import prove_here, rendered_here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.plugins.adopt.adoption import Adoption

SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

WORDS = st.sampled_from(
    [
        "Answer briefly.",
        "It costs $5 or $$6.",
        "Write {json} and [list].",
        "",
        "  - an indented item",
        "- an item",
        "# Heading",
        "## Deeper",
        "### Deepest #",
        "# One\u2028line",
        "## One\x0cline",
        "#No heading",
        "```",
        "# within a fence?",
        "a \\ backslash and \"quotes\" '''",
        '"""',
        "trailing blanks  ",
        "\ttab",
        "   ",
        "naïve 漢字 🙂",
        "Title",
        "=====",
    ]
)
NAMES = ("name", "city", "tone")
VALUES = st.sampled_from(["", "Ada", "two\nlines", "${name}", "{tone}", "# no heading", "$", " x "])
LINES = st.lists(st.tuples(WORDS, st.sampled_from(["", *NAMES])), min_size=1, max_size=14)


def is_shown(adoption: Adoption, values: Mapping[str, object], original: str) -> bool:
    """True if the new prompt shows the text, but for blanks and empty lines between sections."""
    plan = adoption.plan
    given = {field.name: values[field.source] for field in plan.fields}
    rendered = rendered_here(plan, adoption.text, given)
    texts = [message[1:] for message in sandbox.messages_of(rendered)]
    return proof.differences(original, *texts[0]) is not None and not texts[1:]


def is_flat(adoption: Adoption) -> bool:
    """True if no value stands on an indented line, whose indentation further lines get."""
    return not any("indented line" in note for note in adoption.plan.notes)


@SLOW
@given(LINES, st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)), st.data())
def test_strings_f_strings_and_templates(
    lines: list[tuple[str, str]], values: dict[str, str], data: st.DataObject
) -> None:
    style = data.draw(st.sampled_from([Style.TEXT, Style.FSTRING, Style.FORMAT, Style.TEMPLATE]))
    source = data.draw(st.sampled_from(["Begin.\n", "\n    Begin.\n", "  Begin."]))
    for words, name in lines:
        if style in (Style.FSTRING, Style.FORMAT):
            literal = words.replace("{", "{{").replace("}", "}}")
            source += literal + (f"{{{name}}}" if name else "") + "\n"
        elif style is Style.TEMPLATE:
            source += words.replace("$", "$$") + (f"${{{name}}}" if name else "") + "\n"
        else:
            source += words + "\n"
    if style is Style.FSTRING:
        # Before Python 3.12 an f-string's expressions have no backslashes; these have names alone.
        constant = "f" + repr(source)
        module = f"def build(name: str, city: str, tone: str) -> str:\n    return {constant}\n"
        original = eval(constant, dict(values))
        names: dict[str, object] = {"name": "build"}
    elif style is Style.TEMPLATE:
        module = f"from string import Template\nPROMPT = Template({source!r})\n"
        original = string.Template(source).substitute(values)
        names = {"name": "PROMPT"}
    elif style is Style.FORMAT:
        module = f"PROMPT = {source!r}\nprint(PROMPT.format(name=1))\n".replace("name=1", "**x")
        original = source.format(**values)
        names = {"name": "PROMPT"}
    else:
        module, original, names = source, source, {}
    is_python = style is not Style.TEXT
    adoption = adopt(
        read(Path("p.py" if is_python else "p.txt"), module, style=style, **names)  # type: ignore[arg-type]
    )
    proven = prove_here(adoption.plan, adoption.text)
    assert proven.is_same, proven
    # What was changed has been said, and the rest is the same.
    if not adoption.plan.original.notes and is_flat(adoption):
        assert is_shown(adoption, values, original), (original, adoption.text)


TESTS = (
    "vip",
    "not vip",
    "count > 3",
    "tone == 'formal'",
    "user.plan in ['a', 'b']",
    "vip and not docs",
    "docs | length > 1",
    "city is defined",
    "(vip or count < 2) and city",
)
EXPRESSIONS = (
    "name",
    "user.plan",
    "count",
    "city | upper",
    "name or 'you'",
    "tags | join(', ')",
    "city | default('here', true)",
    "docs[0].title if docs else '-'",
)


def jinja_lines(depth: int, in_loop: bool = False) -> st.SearchStrategy[str]:
    expressions = EXPRESSIONS + (("doc.title", "doc.text | title", "loop.index") if in_loop else ())
    text = st.one_of(
        WORDS,
        st.sampled_from(expressions).map(lambda inner: f"Value: {{{{ {inner} }}}}"),
        st.sampled_from(expressions).map(lambda inner: f"{{{{ {inner} }}}} is it."),
        st.sampled_from(TESTS).map(lambda test: f"In {{% if {test} %}}one{{% endif %}} line"),
        st.just("{# a comment #}"),
        st.just("{% raw %}{{ raw }}{% endraw %}"),
        st.just("{% for tag in tags %}{{ tag }}{% if not loop.last %}, {% endif %}{% endfor %}"),
    ).map(lambda line: f"{line}\n")
    if depth == 0:
        return text
    inner = st.lists(jinja_lines(depth - 1, in_loop), max_size=4).map("".join)
    items = st.lists(jinja_lines(depth - 1, in_loop=True), max_size=3).map("".join)
    ends = st.sampled_from(["\n", "", "\n\n"])
    dash = st.sampled_from(["", "", "-"])
    condition = st.tuples(st.sampled_from(TESTS), inner, inner, ends, ends, dash).map(
        lambda parts: (
            f"{{% if {parts[0]} %}}{parts[3]}{parts[1]}{{%{parts[5]} else %}}{parts[3]}"
            f"{parts[2]}{{% endif {parts[5]}%}}{parts[4]}"
        )
    )
    gate = st.tuples(st.sampled_from(TESTS), inner, ends, ends).map(
        lambda parts: f"{{% if {parts[0]} %}}{parts[2]}{parts[1]}{{% endif %}}{parts[3]}"
    )
    loop = st.tuples(items, ends, ends, dash).map(
        lambda parts: (
            f"{{%{parts[3]} for doc in docs %}}{parts[1]}{parts[0]}{{% endfor %}}{parts[2]}"
        )
    )
    return st.one_of(text, text, condition, gate, loop)


JINJA = st.lists(jinja_lines(2), min_size=1, max_size=7).map(
    lambda lines: "".join(["Begin.\n", *lines])
)


@SLOW
@given(JINJA, st.booleans(), st.booleans())
def test_jinja_templates(source: str, trim_blocks: bool, lstrip_blocks: bool) -> None:
    options = JinjaOptions(trim_blocks, lstrip_blocks)
    adoption = adopt(read(Path("p.j2"), source, options=options))
    proven = prove_here(adoption.plan, adoption.text)
    assert proven.is_same, (proven, adoption.text)


def escaped(words: str, *marks: str) -> str:
    for mark in marks:
        words = words.replace(mark, mark * 2)
    return words


def f_string(lines: list[tuple[str, str]]) -> str:
    parts = [escaped(words, "{", "}") + (f"{{{name}}}" if name else "") for words, name in lines]
    return "f" + repr("\n".join(parts))


def text_of_lines(lines: list[tuple[str, str]], before: str, after: str, *marks: str) -> str:
    return "\n".join(
        escaped(words, *marks) + (f"{before}{name}{after}" if name else "") for words, name in lines
    )


FILLED = "name=name, city=city, tone=tone"
HEAD = "def build(name: str, city: str, tone: str) -> str:\n"
MAKERS: dict[str, Callable[[list[tuple[str, str]]], str]] = {
    "PROMPT format": lambda lines: (
        f"PROMPT = {text_of_lines(lines, '{', '}', '{', '}')!r}\n"
        f"{HEAD}    return PROMPT.format({FILLED})\n"
    ),
    "PROMPT percent": lambda lines: (
        f"PROMPT = {text_of_lines(lines, '%(', ')s', '%')!r}\n"
        f"{HEAD}    return PROMPT % {{'name': name, 'city': city, 'tone': tone}}\n"
    ),
    "PROMPT replace": lambda lines: (
        f"PROMPT = {text_of_lines(lines, '<<', '>>')!r}\n{HEAD}    return PROMPT"
        ".replace('<<name>>', name).replace('<<city>>', city).replace('<<tone>>', tone)\n"
    ),
    "build format": lambda lines: (
        f"{HEAD}    return {text_of_lines(lines, '{', '}', '{', '}')!r}.format({FILLED})\n"
    ),
    "build f-string": lambda lines: f"{HEAD}    return {f_string(lines)}\n",
    "build stripped": lambda lines: f"{HEAD}    return ({f_string(lines)}).strip()\n",
    "build added": lambda lines: (
        f"{HEAD}    text = {f_string(lines[:1])}\n"
        + "".join(f"    text += '\\n'\n    text += {f_string([line])}\n" for line in lines[1:])
        + "    return text\n"
    ),
    "build joined": lambda lines: (
        f"{HEAD}    return '\\n'.join([{', '.join(f_string([line]) for line in lines)}])\n"
    ),
}


@SLOW
@given(
    st.sampled_from(sorted(MAKERS)),
    LINES,
    st.fixed_dictionaries(dict.fromkeys(NAMES, st.sampled_from(["Ada", "", "{x}", "a b", "$5"]))),
)
def test_modules_of_many_shapes(
    maker: str, lines: list[tuple[str, str]], values: dict[str, str]
) -> None:
    lines = [("Begin.", ""), *lines]
    module = MAKERS[maker](lines)
    scope: dict[str, Any] = {}
    exec(compile(module, "shape.py", "exec", dont_inherit=True), scope)
    made = scope["build"](**values)
    name = "build.text" if "text +=" in module else maker.split(maxsplit=1)[0]
    try:
        adoption = adopt(read(Path("shape.py"), module, name=name))
    except AdoptError as error:
        # Nothing is adopted silently: braces that nothing fills in are asked about.
        if not error.styles:
            raise
        return
    proven = prove_here(adoption.plan, adoption.text)
    assert proven.is_same, proven
    if is_flat(adoption) and not adoption.plan.original.notes:
        given_values = {field.source: values.get(field.name, "") for field in adoption.plan.fields}
        assert is_shown(adoption, given_values, made), (made, adoption.text)
