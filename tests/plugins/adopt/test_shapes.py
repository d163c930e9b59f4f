"""The shapes that prompts have in code and files: adopted right, or refused with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.fixtures import cases, files

from foldline.plugins.adopt.adoption import adopt, module_of, prompts_in, read, report
from foldline.plugins.adopt.model import AdoptError, Style

from .here import prove_here, rendered_here

SHAPES = cases(Path(__file__).with_name("shapes.txt"))


@pytest.mark.parametrize("target", SHAPES)
def test_a_shape_is_read_as_it_is_meant(target: str) -> None:
    """Each field `x` of the messages is `<x>`."""
    file, _, name = target.partition(":")
    source, meant = files(SHAPES[target])
    if "refused" in meant:
        with pytest.raises(AdoptError, match=re.escape(meant["refused"].rstrip())):
            adopt(read(Path(file), source, name=name or None))
        return
    adoption = adopt(read(Path(file), source, name=name or None))
    rendered = rendered_here(
        adoption.plan,
        adoption.text,
        {field.name: f"<{field.name}>" for field in adoption.plan.fields},
    )
    expected = meant["messages"].removesuffix("\n").split("\n---\n")
    assert [message.text.strip() for message in rendered.messages] == expected
    assert prove_here(adoption.plan, adoption.text).is_same


def test_a_style_counts_for_the_messages_of_a_module() -> None:
    text = "m = [{'role': 'system', 'content': 'You help {who}: {{}}'}]\n"
    assert adopt(read(Path("p.py"), text, name="m")).plan.fields == []
    adoption = adopt(read(Path("p.py"), text, name="m", style=Style.FORMAT))
    assert [field.name for field in adoption.plan.fields] == ["who"]
    assert 'template="You help ${who}: {}"' in adoption.text


@pytest.mark.parametrize(
    ("text", "call", "raised"),
    [
        (
            'a {t}\n{"name": "x"}',
            "P.format(t=t)",
            "`format` raises KeyError: '\"name\"'; is the JSON",
        ),
        ('a {t}\n{"name": "x"}', "P.format_map(t)", "`format` raises KeyError: '\"name\"'; is the"),
        ('a {t} {\n "name": "x"}', "P.format(t=t)", "`format` raises KeyError: '\\n \"name\"'"),
        ("a {t} {1; 2; 3}", "P.format(t=t)", "`format` raises KeyError: '1; 2; 3'"),
        ("a {t} {}", "P.format(t=t)", "`format` raises IndexError: "),
        ("a {} {0}", "P.format(t)", "`format` raises ValueError: cannot switch from"),
        ('a {t} {"k": "tea", "n": 2}', "P.from_template(P)", "`format` raises KeyError: '\"k\"'"),
        ('a {t} {"k": 2}', "C.from_messages([('system', P)])", "`format` raises KeyError: '\"k\"'"),
        ("a %(t)s, 5% y", "P % {'t': t}", "`%` raises TypeError: not enough arguments"),
        ("a %(t)s %(n(o))s", "P % {'t': t}", "`%` raises LookupError: a placeholder in it isn't"),
        (
            "a $t for $5",
            "string.Template(P).substitute(t=t)",
            "`substitute` raises ValueError: Inv",
        ),
        ("a $t for $5", "string.Template(P).safe_substitute(t=t)", ""),
        ("a {t.name} {t[0]} {t!r:>9} {n:.2f} {{x}}", "P.format(t=t, n=1)", ""),
        ("a {0} {1:>9} {2.real}", "P.format(t, n, o)", ""),
        ("a {} {:>9}", "P.format(*t)", ""),
        ("a {first name} {t}", "P.format(**t)", ""),
        ("a %s %05d %%", "P % (t, n)", ""),
        ("a %(t)s %(t)05.1f %(t)s", "P % {'t': t}", ""),
        # Nothing of the source is looked up or carried out.
        ("{t.__class__.__init__.__globals__} {t:>{n}} {t:9999999999}", "P.format(t=t, n=1)", ""),
        ("a %(t)9999999999s", "P % {'t': t}", ""),
    ],
)
def test_the_source_is_filled_in_by_its_own_means(text: str, call: str, raised: str) -> None:
    source = f"import string\nP = {text!r}\ndef f(t, n, o):\n    return {call}\n"
    adoption = adopt(read(Path("p.py"), source, name="P"))
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.failure[: len(raised) + 17] == (raised and f"the source's own {raised}")
    assert proof.is_same is not bool(raised)


def test_front_matter_is_left_out_in_each_style() -> None:
    text = "---\nmodel: x\n---\nsystem:\nBe {how}.\n"
    adoption = adopt(read(Path("a.prompty"), text, style=Style.FORMAT))
    assert [section.text for section in adoption.plan.sections] == ["Be ${how}."]
    assert "model" not in adoption.text


def test_what_a_template_defines_stays_in_the_module() -> None:
    source = (
        "{% macro doc(d) %}<{{ d }}>{% endmacro %}{% set n = docs | length %}\n"
        "There are {{ n }}.\n{% for d in docs %}\n{{ doc(d) }}\n{% endfor %}\n"
    )
    adoption = adopt(read(Path("p.j2"), source))
    assert "#     {% set n = docs | length %}{{ n }}" in adoption.text
    assert "#     {% macro doc(d) %}<{{ d }}>{% endmacro %}{{ doc(d) }}" in adoption.text
    assert not adoption.is_whole
    assert prove_here(adoption.plan, adoption.text).is_same


@pytest.mark.parametrize(
    ("text", "but"),
    [
        ("You are a bot that answers in verse, always.", set()),
        ("You are a bot that answers in verse.\n", {"line breaks and blanks at its ends"}),
        ("You are a bot. \n\n# A\n\nIn verse, always.", {"blanks at the ends of lines"}),
        ("# A\nYou are a bot that answers in verse.", {"blank lines where sections meet"}),
        (
            "\n    You are a bot.\n    In verse, always.",
            {"line breaks and blanks at its ends", "the indentation that all lines share"},
        ),
    ],
)
def test_what_differs_is_said_and_nothing_else(text: str, but: set[str]) -> None:
    adoption = adopt(read(Path("p.py"), f"P = {text!r}", name="P"))
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.is_same
    assert set(proof.but) == but


def test_tags_bold_lines_and_rulers_are_headings() -> None:
    text = (
        "You are a clerk.\n\n<role>\nHelp.\n</role>\n\nThen this.\n\n**Output format:**\nBrief.\n\n"
        "~~~NOTES~~~\nFine.\n<a>x</a>\n<one>\nx\n</one>\n</the_rules>\nBe kind.\n"
    )
    adoption = adopt(read(Path("p.txt"), text))
    assert [section.title for section in adoption.plan.sections] == [
        *("Task", "Role", "More", "Output format", "NOTES", "One", "End of The rules"),
    ]
    assert prove_here(adoption.plan, adoption.text).is_same


def test_front_matter_is_left_out_whatever_the_style() -> None:
    text = "---\nmodel: x\n---\nYou answer <<inst>> in {detail}.\n"
    with pytest.raises(AdoptError, match="looks like a placeholder"):
        adopt(read(Path("p.md"), text))
    adoption = adopt(read(Path("p.md"), text, style=Style.TEXT))
    assert [section.text for section in adoption.plan.sections] == [
        "You answer <<inst>> in {detail}."
    ]


def test_a_message_with_parts_is_left_out_and_named() -> None:
    source = (
        "def f(q, url):\n    m = [{'role': 'system', 'content': 'Be brief.'},\n"
        "        {'role': 'user', 'content': [{'type': 'text', 'text': q}, url]}]\n    return m\n"
    )
    adoption = adopt(read(Path("p.py"), source, name="f.m"))
    assert "message of the role 'user with parts, such as images'" in adoption.plan.original.lost[0]
    assert not adoption.is_whole


def test_a_template_that_is_elsewhere_has_to_be_filled_in() -> None:
    source = (
        "from .texts import SYSTEM\n"
        "p = ChatPromptTemplate.from_messages([('system', SYSTEM), ('human', '{q}')])\n"
    )
    adoption = adopt(read(Path("p.py"), source, name="p"))
    assert adoption.plan.original.notes == ("`SYSTEM` is a template: give its text, filled in",)


def test_a_prompt_is_never_called_like_a_builtin(tmp_path: Path) -> None:
    (tmp_path / "bool.j2").write_text("{% if a %}\n# A\nX {{ a }}\n{% endif %}\n")
    assert adopt(read(tmp_path / "bool.j2")).plan.variable == "bool_prompt"


def test_a_field_with_another_name_says_what_it_stands_for(tmp_path: Path) -> None:
    (tmp_path / "a.j2").write_text("X {{ _q }} {{ q or 'none' }}\n")
    text = adopt(read(tmp_path / "a.j2")).text
    assert "    # Stands for: _q\n    q: str\n" in text
    assert "    # Stands for: q\n    q_2: " in text


def test_a_call_in_two_places_is_said_to_be_one_field(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(q):\n    return f'You: {g()} and {g()} for {q}.'\n")
    (line,) = [line for line in report(adopt(read(tmp_path / "a.py", name="f"))) if "g()" in line]
    assert line == "  compute   g = g(), once for all its places"


def test_aliases_of_yaml_are_read_once(tmp_path: Path) -> None:
    lines = ["a: &a ['You are a bot that helps {who}.', x]"]
    for before, name in zip("abcdefghijklm", "bcdefghijklmn", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    path = tmp_path / "prompts.yaml"
    path.write_text("\n".join(lines))
    assert [one.name for one in prompts_in(path, module_of(path, path.read_text()))][:1] == ["a[0]"]


def test_a_dotprompt_with_a_history_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.prompt").write_text('{{role "system"}}\nYou help.\n{{history}}\n')
    with pytest.raises(AdoptError, match="Handlebars"):
        read(tmp_path / "a.prompt")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.txt", "You are a bot.\r\n\r\n# Rules\r\nBe brief."),
        ("a.prompty", "---\r\nname: x\r\n---\r\nsystem:\r\nYou are a bot.\r\n# Rules\r\nBe brief."),
        ("a.json", '{"a": "You are a bot that answers.\\r\\n# Rules\\r\\nBe brief."}'),
        ("a.py", "A = 'You are a bot that answers.\\r\\n# Rules\\r\\nBe brief.'\n"),
    ],
)
def test_line_breaks_of_windows_are_told(file: str, text: str) -> None:
    adoption = adopt(read(Path(file), text))
    assert [section.title for section in adoption.plan.walk()] == ["Task", "Rules"]
    assert any("line breaks are `\\r\\n`" in line for line in report(adoption))
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.is_same
    assert proof.but[0] == "line breaks, which are `\\r\\n` in the source"
    assert "blanks at the ends of lines" not in proof.but


def test_dictionaries_in_dictionaries_have_prompts() -> None:
    text = (
        "P = {'a': {'system': 'You help {who} with all things.'}, 'b': {'system': 'Sell {it}.'}}\n"
        "def go(x):\n    return P['a']['system'].format(who=x)\n"
    )
    adoption = adopt(read(Path("p.py"), text, name="P.a.system"))
    assert [field.name for field in adoption.plan.fields] == ["who"]
    assert [use.source for use in adoption.plan.original.uses] == ["P['a']['system'].format(who=x)"]


def test_loops_over_a_list_that_name_its_items_differently_are_two_lists() -> None:
    text = (
        "Docs:\n{% for doc in docs %}\n- {{ doc.title }}\n{% endfor %}\n# Again\n"
        "{% for d in docs %}\n- {{ d.text }}\n{% endfor %}\n# Third\n"
        "{% for doc in docs %}\n* {{ doc.text }}\n{% endfor %}\n"
    )
    adoption = adopt(read(Path("p.j2"), text))
    assert [(field.name, field.type) for field in adoption.plan.fields] == [
        ("docs", "tuple[Doc, ...]"),
        ("docs_2", "tuple[D, ...]"),
    ]
    assert adoption.is_whole
    assert prove_here(adoption.plan, adoption.text).is_same


def test_blanks_on_an_empty_line_of_a_template_are_compared() -> None:
    adoption = adopt(read(Path("p.j2"), "You help {{ who }}.\n    \nBe brief."))
    assert "blanks at the ends of lines" in prove_here(adoption.plan, adoption.text).but


def test_a_long_chain_of_variables_ends() -> None:
    lines = ["a0 = 'You help {who} with all things.'"]
    lines += [f"a{number + 1} = a{number}" for number in range(2_000)]
    source = "\n".join([*lines, "print(a2000.format(who=1))"])
    with pytest.raises(AdoptError, match="looks like a placeholder"):
        read(Path("p.py"), source, name="a0")


def test_what_changes_an_attribute_changes_no_variable() -> None:
    source = (
        "text = 'You are a cook.'\nclass A:\n    def f(self, q):\n        self.text += q\n"
        "        m = [{'role': 'system', 'content': text}, {'role': 'user', 'content': q}]\n"
        "        return m\n"
    )
    adoption = adopt(read(Path("p.py"), source, name="A.f.m"))
    assert [field.name for field in adoption.plan.fields] == ["q"]


_LIST = "def f(q, h):\n    m = [{'role': 'system', 'content': 'Be brief.'}]\n"
_ASKED = "{'role': 'user', 'content': q}"


@pytest.mark.parametrize(
    "change",
    [f"m.append({_ASKED})", f"m += [{_ASKED}]", f"m.extend([{_ASKED}])"],
)
def test_a_message_that_is_added_to_a_list_is_read_into_it(change: str) -> None:
    adoption = adopt(read(Path("p.py"), f"{_LIST}    {change}\n    return m\n", name="f.m"))
    assert [message.role for message in adoption.plan.original.messages] == ["system", "user"]
    assert adoption.is_whole
    assert prove_here(adoption.plan, adoption.text).is_same


@pytest.mark.parametrize(
    "change",
    [
        f"m.insert(0, {_ASKED})",
        "m.extend(h)",
        "m += h",
        "m.append(h)",
        f"if q:\n        m.append({_ASKED})",
        f"g(m)\n    m.append({_ASKED})",
        f"def g():\n        m.append({_ASKED})",
    ],
)
def test_what_else_is_added_to_a_list_of_messages_is_left_out(change: str) -> None:
    adoption = adopt(read(Path("p.py"), f"{_LIST}    {change}\n    return m\n", name="f.m"))
    assert len(adoption.plan.original.lost) == 1
    assert not adoption.is_whole


@pytest.mark.parametrize(
    "change",
    [
        *("m[0]['content'] += q", "m[0] = h", "m[0]['content'] = q", "del m[0]", "m.pop()"),
        *("m = m + h", "m[0].update(content=q)", "m, n = h, 1", "m[:0] = h"),
    ],
)
def test_a_list_of_messages_that_changes_is_refused(change: str) -> None:
    with pytest.raises(AdoptError, match="built step by step: `m` is changed again in line 3"):
        read(Path("p.py"), f"{_LIST}    {change}\n    return m\n", name="f.m")


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("P.replace('NAME', n).replace('TOPIC', g)", ""),
        ("P.replace('NAME', n, 1).replace('TOPIC', g)", ""),
        ("P.replace(H, n).replace('TOPIC', g)", ""),
        ("P.replace(n, g)", "`P.replace(n, g)` replaces a part that isn't known: say how"),
        ("P.replace('NAME', n).replace(g, n)", "replaces a part that isn't known: say how"),
        ("P.replace('it', n, 1)", "'it' is 2 times in the text"),
    ],
)
def test_a_replace_of_any_part_is_read_or_asked_about(calls: str, expected: str) -> None:
    source = f"H = 'NAME'\nP = 'You tell NAME it of TOPIC, it.'\ndef f(n, g):\n    return {calls}\n"
    if expected:
        with pytest.raises(AdoptError) as refused:
            read(Path("p.py"), source, name="P")
        assert expected in str(refused.value)
        return
    adoption = adopt(read(Path("p.py"), source, name="P"))
    assert [field.name for field in adoption.plan.fields] == ["name", "topic"]
    assert prove_here(adoption.plan, adoption.text).is_same


@pytest.mark.parametrize("source", ["P = {}\n", "f(prompt={})\n"])
def test_double_braces_in_code_that_no_call_fills_in_are_asked_about(source: str) -> None:
    source = source.format("'Say {{answer}} as it is written here, always.'")
    with pytest.raises(AdoptError, match=r"\{\{answer\}\} looks like a placeholder") as refused:
        read(Path("p.py"), source)
    assert {Style.JINJA, Style.TEXT, Style.FORMAT} <= {*refused.value.styles}
    assert adopt(read(Path("p.py"), source, style=Style.TEXT)).plan.fields == []


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("def f(name=None):\n    name = name or 'you'\n    return f'You help {name}.'", "f", None),
        ("def f(name='you'):\n    return f'You help {name} now.'", "f", "'you'"),
        ("name = 'x'\nP = 'You help {name}.'\ng(P.format(name=user.name))", "P", None),
        ("def f(name='x'):\n    return 'You help {name}.'.format(name=user.name)", "f", None),
        ("def f(name='x'):\n    return 'You help {name}.'.format(name=name)", "f", "'x'"),
        ("name = 'x'\nP = f'You help {name}.'", "P", "'x'"),
        ("name = 'x'\ndef f(name):\n    return f'You help {name}.'", "f", None),
        ("name = 'x'\ndef f():\n    return f'You help {name}.'", "f", "'x'"),
    ],
)
def test_a_default_is_that_of_the_variable_that_the_text_reads(
    source: str, name: str, expected: str | None
) -> None:
    (field,) = adopt(read(Path("p.py"), source, name=name)).plan.fields
    found = None if field.default is None else field.default.replace('"', "'")
    assert (field.name, field.type, found) == ("name", "str", expected)


@pytest.mark.parametrize(
    ("code", "call", "is_known"),
    [
        ("from textwrap import dedent", "dedent", True),
        ("import textwrap as t", "t.dedent", True),
        ("from inspect import cleandoc", "cleandoc", True),
        ("from .own import dedent", "dedent", False),
        ("def dedent(text):\n    return text.upper()", "dedent", False),
        ("from textwrap import dedent\ndef dedent(text):\n    return text", "dedent", False),
        ("import own", "own.cleandoc", False),
    ],
)
def test_a_function_is_dedent_if_its_import_says_so(code: str, call: str, is_known: bool) -> None:
    source = f"{code}\ndef f(q):\n    return {call}(f'You help {{q}}.')\n"
    if is_known:
        assert adopt(read(Path("p.py"), source, name="f")).is_whole
        return
    with pytest.raises(AdoptError, match="has no text that adopting can read"):
        read(Path("p.py"), source, name="f")


@pytest.mark.parametrize(
    "change",
    [
        *("P, n = P + x, 1", "if (P := P + x):\n    pass", "for P in x:\n    pass"),
        "def f():\n    global P\n    P = P + x",
        "class A:\n    def f(self):\n        global P\n        P += x",
        *("with x as P:\n    pass", "[*P] = x", "del P"),
    ],
)
def test_a_variable_that_changes_in_any_way_is_refused(change: str) -> None:
    source = f"P = 'You are a bot that answers in verse.'\n{change}\n"
    with pytest.raises(AdoptError, match="built step by step: `P` is changed again in line 2"):
        read(Path("p.py"), source, name="P")


def test_a_variable_of_a_comprehension_is_its_own() -> None:
    source = "P = 'You are a bot that answers in verse.'\nq = [P for P in x]\n"
    assert adopt(read(Path("p.py"), source, name="P")).is_whole


def test_a_function_above_a_variable_may_change_it() -> None:
    change = "def f():\n    global P\n    P += x\n"
    with pytest.raises(AdoptError, match="`P` is changed again in line 1"):
        read(Path("p.py"), f"{change}P = 'You are a bot that answers in verse.'\n", name="P")


_TEXTS = [f"You are a bot that answers in verse, always {number}." for number in range(3)]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (
            f"def f():\n    a = [g(prompt={_TEXTS[0]!r}), g(prompt={_TEXTS[1]!r})]\n"
            f"    g(prompt={_TEXTS[2]!r})\n",
            ["f.prompt", "f.prompt_2", "f.prompt_3"],
        ),
        (f"g(prompt={_TEXTS[0]!r}); g(prompt={_TEXTS[1]!r})\n", ["prompt", "prompt_2"]),
        (f"A, B = {_TEXTS[0]!r}, {_TEXTS[1]!r}\n", ["A", "B"]),
        (f"class A:\n    def __init__(self):\n        self.q = {_TEXTS[0]!r}\n", ["A.q"]),
    ],
)
def test_each_text_has_a_name(source: str, names: list[str]) -> None:
    file = Path("p.py")
    found = prompts_in(file, module_of(file, source))
    assert sorted(one.name for one in found if one.is_likely) == names
    for name, text in zip(names, _TEXTS, strict=False):
        assert adopt(read(file, source, name=name)).plan.sections[0].text == text


def test_messages_with_a_history_behind_them_are_read_without_it() -> None:
    source = f"def f(q, h):\n    g(messages=[{_ASKED}] + h)\n"
    adoption = adopt(read(Path("p.py"), source, name="f.messages"))
    assert [field.name for field in adoption.plan.fields] == ["q"]
    assert "your code sends it beside it\nh" in adoption.plan.original.lost[0]


def test_an_attribute_is_filled_in_by_its_class_and_changes_at_one_place() -> None:
    source = (
        "class A:\n    def __init__(self, who):\n        self.q = 'You help {who} now.'\n"
        "    def f(self, who):\n        return self.q.format(who=who)\n"
    )
    adoption = adopt(read(Path("p.py"), source, name="A.q"))
    assert [field.name for field in adoption.plan.fields] == ["who"]
    with pytest.raises(AdoptError, match=r"`self\.q` is changed again in line 7"):
        read(Path("p.py"), f"{source}    def g(self):\n        self.q += 'x'\n", name="A.q")


def test_a_mapping_in_a_variable_fills_in_a_text() -> None:
    source = "P = 'Ask %(a)s for %(b)d.'\ndef f(d):\n    return P % d\n"
    adoption = adopt(read(Path("p.py"), source, name="P"))
    assert [field.name for field in adoption.plan.fields] == ["a", "b"]
    assert prove_here(adoption.plan, adoption.text).is_same
    with pytest.raises(AdoptError, match="`d` is the mapping and one of its keys"):
        read(Path("p.py"), source.replace("%(a)", "%(d)"), name="P")


@pytest.mark.parametrize("form", ["%.*f", "%*d", "%-*.*f"])
def test_a_width_from_a_value_is_refused(form: str) -> None:
    source = f"P = 'Ask {form} now.'\ndef f(d, e):\n    return P % (d, e)\n"
    with pytest.raises(AdoptError, match="gets its width from a value"):
        read(Path("p.py"), source, name="P")
