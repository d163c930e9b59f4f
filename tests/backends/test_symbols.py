"""From a name to one definition, and its source within a budget."""

import pickle
import random
import re

import pytest

from foldline.backends import AmbiguousSymbolError, SymbolNotFoundError, errors
from foldline.backends.formatting.budget import SYMBOL_BUDGET, SYMBOL_MATCHES, DefaultBudget
from foldline.backends.text import format_symbol

from .outlines import access_to

SHOP = '''# The shop's clock.
# It ticks.
@decorated
class Clock:
    """Ticks."""

    def tick(self): ...

    @property
    def hands(self): ...

    @hands.setter
    def hands(self, value): ...

class Watch(Clock):
    def tick(self): ...

def tock(): ...
'''


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Clock", 3),
        ("Clock.tick", 7),
        ("Watch.tick", 16),
        ("tick[2]", 16),
        ("Clock.hands[1]", 9),
        ("hands[2]", 12),
        (" tock ", 18),
    ],
)
def test_a_name_finds_one_symbol(name: str, line: int) -> None:
    assert access_to({"a.py": SHOP}).read_symbol("a.py", name).line == line


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("tick", ("Clock.tick", "Watch.tick")),
        ("hands", ("Clock.hands[1]", "Clock.hands[2]")),
        ("Clock.hands", ("Clock.hands[1]", "Clock.hands[2]")),
    ],
)
def test_an_ambiguous_name_lists_names_that_each_find_one(
    name: str, candidates: tuple[str, ...]
) -> None:
    access = access_to({"a.py": SHOP})
    with pytest.raises(AmbiguousSymbolError) as caught:
        access.read_symbol("a.py", name)
    assert caught.value.candidates == candidates
    found = [access.read_symbol("a.py", candidate).line for candidate in candidates]
    assert len(set(found)) == len(candidates)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("clock", "Clock"),
        ("TICK", "Clock.tick"),
        ("tik", "Clock.tick"),
        ("Clok.tick", "Clock.tick"),
        ("toc", "tock"),
        ("tick[3]", "Clock.tick"),
    ],
)
def test_a_miss_names_what_is_near(name: str, near: str) -> None:
    with pytest.raises(SymbolNotFoundError) as caught:
        access_to({"a.py": SHOP}).read_symbol("a.py", name)
    assert near in caught.value.near


def test_comments_above_belong_to_a_symbol_but_not_the_first_line_of_a_script() -> None:
    detail = access_to({"a.py": SHOP}).read_symbol("a.py", "Clock")
    assert detail.body.startswith("# The shop's clock.\n# It ticks.\n@decorated\n")
    assert (detail.body_line, detail.line) == (1, 3)
    script = access_to({"a.py": "#!/usr/bin/python\ndef f(): ...\n"}).read_symbol("a.py", "f")
    assert script.body == "def f(): ..."


LONG = "class Long:\n" + "".join(
    f"    def method_{n}(self, argument):\n        return {'x' * 30!r}\n\n" for n in range(1000)
)


def test_a_long_class_shows_its_outline_first_and_its_source_by_cursor() -> None:
    access = access_to({"a.py": LONG})
    first = access.read_symbol("a.py", "Long", budget=2200)
    assert "method_0" in first.body
    assert len(format_symbol(first).encode()) <= 2200
    assert first.char_count == len(LONG.rstrip())
    lines: list[str] = []
    cursor = first.cursor
    assert cursor is not None
    while cursor is not None:
        page = access.read_symbol("a.py", "Long", budget=40_000, cursor=cursor)
        assert len(format_symbol(page).encode()) <= 40_000
        lines += page.body.split("\n")
        cursor = page.cursor
    assert "\n".join(lines) == LONG.rstrip()


def test_a_long_function_goes_on_where_it_stopped() -> None:
    source = "def f():\n" + "    x = 1\n" * 500
    access = access_to({"a.py": source})
    page = access.read_symbol("a.py", "f", budget=600)
    assert page.cursor is not None
    rest = access.read_symbol("a.py", "f", cursor=page.cursor)
    assert page.body + "\n" + rest.body == source.rstrip()


def test_every_error_survives_a_process_boundary() -> None:
    made: list[errors.BackendError] = [
        errors.MissingPathError("a", ["b"]),
        errors.OutsideWorkspaceError("a"),
        errors.IgnoredPathError("a", "*.a", ".gitignore"),
        errors.BinaryFileError("a", 1),
        errors.FileTooLargeError("a", 2, 1),
        errors.SymbolNotFoundError("a", "b", ["c"]),
        errors.AmbiguousSymbolError("a", "b", ["c", "d"]),
        errors.InvalidArgumentError("a", "b"),
    ]
    for error in made:
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), copy.__dict__) == (type(error), str(error), error.__dict__)


def test_errors_are_what_python_callers_expect() -> None:
    assert issubclass(errors.MissingPathError, FileNotFoundError)
    assert issubclass(errors.OutsideWorkspaceError, PermissionError)
    assert issubclass(errors.SymbolNotFoundError, LookupError)
    assert issubclass(errors.InvalidArgumentError, ValueError)
    assert (
        str(errors.MissingPathError("a", ["b"])) == "a: no such file or folder; did you mean 'b'?"
    )


COMMENTED = {
    "a.ts": (
        "/**\n * Mounts one thing on another.\n *\n"
        + "".join(f" * Line {n} of what it says.\n" for n in range(40))
        + " */\nexport function mount(at: string) {\n"
        + "".join(f"  step{n}(at);\n" for n in range(30))
        + "}"
    ),
    "a.py": (
        'def mount(at):\n    """Mounts one thing on another.\n\n'
        + "".join(f"    Line {n} of what it says.\n" for n in range(40))
        + '    """\n'
        + "".join(f"    step{n}(at)\n" for n in range(30)).rstrip()
    ),
}


@pytest.mark.parametrize("path", sorted(COMMENTED))
def test_of_a_function_with_a_long_comment_the_code_comes_first(path: str) -> None:
    source = COMMENTED[path]
    access = access_to({path: source})
    page = access.read_symbol(path, "mount", budget=1_000)
    text = format_symbol(page)
    assert 800 < len(text.encode()) <= 1_000
    assert "Mounts one thing on another." in page.body
    assert "step29(at)" in page.body
    assert "Line 39" not in page.body
    said = re.search(r"cursor (symbol@[\w.]+) for the rest \((\d+) lines, budget (\d+)\)", text)
    assert said is not None
    rest = access.read_symbol(path, "mount", budget=int(said[3]), cursor=said[1])
    assert rest.cursor is None
    assert rest.body.count("\n") + 1 == int(said[2])
    assert len(format_symbol(rest).encode()) == int(said[3])
    assert sorted([*page.body.split("\n"), *rest.body.split("\n")]) == sorted(
        [*source.split("\n"), *(line for line in page.body.split("\n") if line.strip() == "…")]
    )


def test_a_short_comment_stays_where_it_is() -> None:
    source = "// One.\n// Two.\n// Three.\nfunction f() {\n" + "  x()\n" * 200 + "}"
    page = access_to({"a.js": source}).read_symbol("a.js", "f", budget=500)
    assert source.startswith(page.body)


def test_a_budget_that_is_asked_for_shows_the_outline_and_then_source() -> None:
    source = "class A:\n    def small(self): ...\n    def large(self):\n" + "        x = 1\n" * 400
    access = access_to({"a.py": source})
    outlined = access.read_symbol("a.py", "A", budget=DefaultBudget(2_000))
    assert outlined.cursor is not None
    assert outlined.cursor.startswith("symbol@0.")
    page = access.read_symbol("a.py", "A", budget=2_000)
    assert 1_600 < len(format_symbol(page).encode()) <= 2_000
    outline, _, shown = page.body.partition("\nclass A:\n")
    assert "small(self)" in outline
    rest = access.read_symbol("a.py", "A", cursor=page.cursor)
    assert f"class A:\n{shown}\n{rest.body}" == source.rstrip()


def test_a_function_with_functions_inside_shows_source_too() -> None:
    source = "def f():\n    def g():\n" + "        x = 1\n" * 400 + "    return g\n"
    page = access_to({"a.py": source}).read_symbol("a.py", "f", budget=DefaultBudget(2_000))
    assert "\n  2-402 def g()\ndef f():\n    def g():\n        x = 1\n" in page.body
    assert 1_600 < len(format_symbol(page).encode()) <= 2_000


STEPS = "def run(\n    first,\n    second,\n):\n" + "".join(
    f"    step_{n} = first + {n}\n" + ("    total = price * discount\n" if n == 150 else "")
    for n in range(300)
)


def test_of_a_long_function_a_question_shows_the_head_and_what_matches() -> None:
    access = access_to({"a.py": STEPS})
    page = access.read_symbol("a.py", "run", budget=600, query="the discount of the price")
    assert page.body.startswith("def run(\n    first,\n    second,\n):\n    …\n")
    assert "total = price * discount" in page.body
    assert len(format_symbol(page).encode()) <= 600
    (note,) = page.notes
    assert note.startswith("lines 1-4, 1")
    assert note.endswith(f" of 1-305: what matches; cursor {page.cursor} for all")
    assert len(format_symbol(page).encode()) > 500
    assert access.read_symbol("a.py", "run", cursor=page.cursor).body == STEPS.rstrip()


def test_of_a_very_long_function_a_question_shows_no_more_than_what_matches() -> None:
    access = access_to({"a.py": STEPS})
    page = access.read_symbol("a.py", "run", budget=SYMBOL_BUDGET, query="the discount")
    assert page.body.split("\n")[4:] == [
        "    …", "    step_149 = first + 149", "    step_150 = first + 150",
        "    total = price * discount", "    step_151 = first + 151", "    step_152 = first + 152",
    ]  # fmt: skip


@pytest.mark.parametrize("count", [60, pytest.param(1_500, marks=pytest.mark.slow)])
def test_a_question_keeps_each_line_with_one_of_its_words_or_counts_it(count: int) -> None:
    words = ["503", "open", "tcp", "limit", "x2", "grüßt"]
    joined = ["{}", "a_{}", "{}_b", "send({}, 1)", '"k":{},', "c.{}()", "# in {} so"]
    for seed in range(count):
        chance = random.Random(seed)
        lines = ["def run():"] + [
            "    " + chance.choice(joined).format(chance.choice([*words, *["none"] * 20]))
            for _ in range(chance.randrange(60, 300))
        ]
        lines.append("    return")
        asked = chance.sample(words, 2)
        budget = chance.choice([SYMBOL_BUDGET, 400, 700, 1500])
        access = access_to({"a.py": "\n".join(lines)})
        page = access.read_symbol("a.py", "run", budget=budget, query=" ".join(asked))
        assert len(format_symbol(page).encode()) <= budget
        matching = [
            line
            for line in lines
            if set(asked) & {*re.split(r"\W+|_", line), *re.findall(r"\w+", line)}
        ]
        if not page.cursor or not matching:
            continue
        (note,) = page.notes
        left = re.search(r"what matches but for (\d+) more lines?;", note)
        shown = [line for line in page.body.split("\n") if line in set(matching)]
        assert len(matching) - len(shown) == int(left[1] if left else 0), (seed, asked)
        # Some are left out only where they don't all have room.
        room = SYMBOL_MATCHES if budget == SYMBOL_BUDGET else budget
        alone = sum(len(f"{line}\n    …\n".encode()) for line in matching)
        assert not left or alone > room - 300, (seed, asked)


def test_a_question_about_something_else_shows_the_beginning() -> None:
    page = access_to({"a.py": STEPS}).read_symbol("a.py", "run", budget=600, query="zebra")
    assert page.body == "\n".join(STEPS.split("\n")[: page.body.count("\n") + 1])


def test_of_a_long_class_a_question_shows_the_members_that_match() -> None:
    source = LONG + "    def discount(self, price): ...\n"
    page = access_to({"a.py": source}).read_symbol("a.py", "Long", budget=2200, query="discount")
    found, others, *_ = page.body.split("\n")[1:]
    assert found == "  3002 def discount(price)"
    assert others.startswith("  method_0 method_1 ")
    assert page.body.endswith("\n(left out: some names)")


def test_several_symbols_share_a_budget() -> None:
    access = access_to({"a.py": STEPS + "\ndef small(): ...\n"})
    found = access.read_symbols("a.py", ["run", "small", "gone"], budget=1_000)
    run, small = found
    assert (small.body, small.cursor) == ("def small(): ...", None)
    assert run.cursor is not None
    text = format_symbol(found)
    assert 900 < len(text) <= 1_000
    assert text.endswith("\n\n(a.py has no symbol 'gone'; its outline lists what it has)")
    assert len(access.read_symbols("a.py", ["run", "small"])) == 2
    with pytest.raises(SymbolNotFoundError):
        access.read_symbols("a.py", ["gone", "away"])


def test_symbols_without_room_are_named() -> None:
    access = access_to({"a.py": STEPS + "def b(): ...\ndef c(): ...\n"})
    found = access.read_symbols("a.py", ["run", "b", "c"], budget=400)
    assert [one.name for one in found] == ["run"]
    assert found.reason == "no room for b, c: ask for them in another call"
    assert len(format_symbol(found)) <= 400


INNER = {
    "a.py": '''def mount(at):
    # Mounts what is asked for,
    # and says so,
    # in so many words that a fold of several lines is worth its note,
    # each of which says little of what it does, and why at all.
    one(at)
    text = """
    # Of a string,
    # each line is shown.
    """
    def inner():
        """Summary of it.

        The rest of it.
        """
        return text
    return inner''',
    "a.ts": """function mount(at) {
  // Mounts what is asked for,
  // and says so,
  // in so many words that a fold of several lines is worth its note,
  // each of which says little of what it does, and why at all.
  one(at)
  const text = `
  // Of a string,
  // each line is shown.
  `
  /**
   * Summary of it.
   * The rest of it, which is nothing that anybody must know.
   */
  this.#at = text
  this.#each(at)
  this.#other(at)
}""",
}


@pytest.mark.parametrize("path", sorted(INNER))
def test_comments_inside_are_folded_from_the_second_line_on(path: str) -> None:
    access = access_to({path: INNER[path]})
    page = access.read_symbol(path, "mount", budget=SYMBOL_BUDGET)
    text = format_symbol(page)
    assert "Mounts what is asked for, …+3\n" in text
    assert re.search(r"Summary of it\. …\+\d\n", text)
    assert "each line is shown." in text
    assert "The rest" not in text
    # Each line that is shown has its number still.
    number, lines = 0, INNER[path].split("\n")
    for line in page.body.split("\n"):
        shown, _, folded = line.partition(" …+")
        assert shown == lines[number]
        number += 1 + int(folded or 0)
    assert number == len(lines)
    whole = access.read_symbol(path, "mount", budget=SYMBOL_BUDGET, cursor=page.cursor)
    assert whole.body == INNER[path]
    assert access.read_symbol(path, "mount", budget=3_000).body == INNER[path]
    assert access.read_symbol(path, "mount").body == INNER[path]


def test_comments_that_save_little_are_shown() -> None:
    for second in ("Two.", "Two " * 30):
        source = f"def f():\n    # One.\n    # {second.strip()}\n    return 1"
        page = access_to({"a.py": source}).read_symbol("a.py", "f", budget=SYMBOL_BUDGET)
        assert (page.body, page.cursor) == (source, None)


def test_a_page_of_the_default_budget_that_nearly_ends_ends() -> None:
    for lines, cursor in ((136, False), (191, True)):
        source = "def f():\n" + "\n".join(f"    step_number_{n:03}(a)" for n in range(lines))
        access = access_to({"a.py": source})
        page = access.read_symbol("a.py", "f", budget=SYMBOL_BUDGET)
        assert (page.cursor is not None) == cursor
        assert access.read_symbol("a.py", "f", budget=3_000).cursor is not None
        if page.cursor:
            rest = access.read_symbol("a.py", "f", budget=DefaultBudget(1_500), cursor=page.cursor)
            assert rest.cursor is None
            assert len(format_symbol(rest)) > 1_500
