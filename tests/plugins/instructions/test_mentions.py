"""What Markdown names, and what the names mean: one thing of the repository, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foldline.backends import SmartFileAccess
from foldline.backends.parsers.markdown import read_markdown
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.mentions import Mention, mentions, mentions_of
from foldline.plugins.instructions.targets import Targets

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.snapshot import Snapshot

FILES = {
    "src/shop/cart.py": '''\
class Cart:
    """What a customer wants."""

    limit = 3

    def total(self) -> int: ...


def open_cart(name: str) -> Cart: ...


class Basket(Cart): ...
''',
    "src/shop/api.py": "def check(): ...\n",
    "src/other/api.py": "def check(): ...\n",
    "tests/test_cart.py": "def make_cart(): ...\n\n\ndef test_total(): ...\n",
    "tests/AGENTS.md": "",
    "web/other.ts": "let workerManager = null;\n",
    "docs/a.md": "",
    "package.json": '{"scripts": {\n  "build": "tsc -p .",\n  "start": "node ."\n}}\n',
    "web/package.json": '{\n  "scripts": {\n    "build": "vite build"\n  }\n}\n',
    "pyproject.toml": (
        '[project.scripts]\nshop = "shop.cli:main"\n\n[tool.poe.tasks]\nlint = "ruff check"\n\n'
        '[tool.poe.tasks.all]\nsequence = ["lint"]\n'
    ),
    "Makefile": "A := 1\ntest fast:\n\tpytest -q\n",
    "justfile": "deploy stage:\n  ./deploy {{stage}}\n",
    "Taskfile.yml": "tasks:\n  gen:\n    cmds: [buf]\n",
    "mise.toml": '[tasks."test:ci"]\nrun = "go test"\n',
    "mise-tasks/lint/_default": "#!/bin/sh\n",
    "mise-tasks/lint/go.sh": "#!/bin/sh\n",
}


@pytest.fixture
def access(tmp_path: Path) -> SmartFileAccess:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return SmartFileAccess.for_workspace(tmp_path, patience=None)


def names(text: str) -> list[str]:
    return [f"{one.kind} {one.name}" for one in mentions(read_markdown(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See `src/shop/`, `cart.py:12` and [it](docs/a.md#top).", "src/shop/ cart.py docs/a.md"),
        ("Import @docs/a.md, not `@docs/b.md` or me@docs.py.", "docs/a.md"),
        ("`tests/test_cart.py::test_total` and `Makefile`", "tests/test_cart.py Makefile"),
        ("`https://a.b/c`, `--flag/x`, `/review`, `~/.config/x`, [x](mailto:a@b.py), [y](#z)", ""),
        ("`*.py`, `src/**/*.{ts,tsx}` and `src/{name}.py`, `name.*`", "*.py src/**/*.{ts,tsx}"),
        ("`Cart.total`, `open_cart(name)`, `Vec::push`, `MAX_SIZE`, `readFile`, `Cart`", ""),
        ("Say `done`, `ok`, `TODO`, `true`, `a b`, `x = 1`, `Cart?`", ""),
        ("```py\nnpm run build\n```\nand <code>src/a.py</code>", ""),
        ("`/api/*` is an address, `/src/*.py` isn't.", "/src/*.py"),
        ("Run `go test ./lib/x/... -v`, `ruff check src`.", "./lib/x"),
        (
            "```sh\n$ pytest tests/a.py::test_b && bash run.sh -o @a/b /tmp/x\n```",
            "tests/a.py run.sh",
        ),
        (
            "See src/a.py, (./b/c.ts:3) and .github/x.yml; and/or https://a.b/c/d.py.",
            ".github/x.yml ./b/c.ts src/a.py",
        ),
        ("```py\n# lib/a.py\nimport a.b\n```", "lib/a.py"),
        ("`settings.json` of VS Code, your `a.toml`, Go's `go.mod`, `b.toml` is ours", "b.toml"),
        (
            "```\napp/\n├── lib/       # code\n│   ├── a.py\n│   └── b/c.py\n└── README.md\n```",
            "app/lib app/lib/a.py app/lib/b/c.py app/README.md",
        ),
        ("```\nshop (Go)\n├── lib/\n└── ...\n```", "lib"),
        ("```\n.\n|-- lib\n|   `-- a.py\n```", "lib lib/a.py"),
    ],
)
def test_paths_and_globs_are_told_from_other_code(text: str, expected: str) -> None:
    found = [one.name for one in mentions(read_markdown(text)) if one.kind in ("path", "glob")]
    assert sorted(found) == sorted(expected.split())


def test_a_symbol_is_written_as_one() -> None:
    assert names(
        "`Cart.total`, `open_cart(name)`, `Vec::push`, `MAX_SIZE`, `readFile`, `Cart`"
    ) == [
        f"symbol {name}"
        for name in ("Cart.total", "open_cart", "Vec::push", "MAX_SIZE", "readFile", "Cart")
    ]
    assert names("Say `done`, `ok`, `TODO`, `true`, `a b`, `x = 1`, `Cart?`") == []


def test_commands_stand_in_spans_and_in_lines_of_shells() -> None:
    text = "Run `npm run build`.\n\n```sh\n$ uv run poe lint && make test\nmise run test:ci\n```\n"
    assert names(text) == [
        "command npm run build",
        "command uv run poe lint",
        "command make test",
        "command mise run test:ci",
    ]


def resolved(access: SmartFileAccess, text: str, path: str = "AGENTS.md") -> list[str | None]:
    targets = Targets(access, path)
    every = [targets.of(one) for one in mentions(read_markdown(text))]
    return [None if one is None else f"{one.path}:{one.line}" for one in every]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`src/shop/cart.py`", "src/shop/cart.py:0"),
        ("`cart.py:6`", "src/shop/cart.py:6"),
        ("`shop/`", "src/shop:0"),
        ("`api.py`", None),  # Two are called so.
        ("`./shop/cart.py`", None),
        ("`*.toml`", ":0"),
        ("`src/**/cart.py`", "src/shop/cart.py:0"),
        ("`workerManager`", None),  # A module's own.
        ("`lib/*.py`", None),
        ("`Cart`", "src/shop/cart.py:1"),
        ("`Cart.total()`", "src/shop/cart.py:6"),
        ("`Basket.total`", "src/shop/cart.py:6"),
        ("`cart.open_cart`", "src/shop/cart.py:9"),
        ("`open_cart(name)`", "src/shop/cart.py:9"),
        ("`Open_cart`", None),
        ("`total()`", None),  # A member, of any class.
        ("`check()`", None),  # Two are called so.
        ("`shop.cart`", "src/shop/cart.py:0"),
        ("`make_cart()`", None),  # It helps tests.
        ("`test_total`", "tests/test_cart.py:4"),
        ("`os.path.join()`", None),
    ],
)
def test_a_name_means_one_thing_or_nothing(
    access: SmartFileAccess, text: str, expected: str | None
) -> None:
    assert resolved(access, text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected", "written"),
    [
        ("`npm run build`", "package.json:2", '"build": "tsc -p .",'),
        ("`npm start`", "package.json:3", '"start": "node ."'),
        ("`poe lint`", "pyproject.toml:5", 'lint = "ruff check"'),
        ("`uv run poe all`", "pyproject.toml:7", '[tool.poe.tasks.all]\nsequence = ["lint"]'),
        ("`uv run shop`", "pyproject.toml:2", 'shop = "shop.cli:main"'),
        ("`make fast`", "Makefile:2", "test fast:\n\tpytest -q"),
        ("`just deploy`", "justfile:1", "deploy stage:\n  ./deploy {{stage}}"),
        ("`task gen`", "Taskfile.yml:2", "gen:\n  cmds: [buf]"),
        ("`mise run test:ci`", "mise.toml:1", '[tasks."test:ci"]\nrun = "go test"'),
        ("`mise run lint`", "mise-tasks/lint/_default:0", ""),
        ("`mise run lint:go`", "mise-tasks/lint/go.sh:0", ""),
    ],
)
def test_a_command_shows_what_it_runs(
    access: SmartFileAccess, text: str, expected: str, written: str
) -> None:
    (mention,) = mentions(read_markdown(text))
    target = Targets(access, "AGENTS.md").of(mention)
    assert target is not None
    assert f"{target.path}:{target.line}" == expected
    assert target.about.partition("\n```")[0].partition("\n")[2] == written


def test_what_is_near_a_file_comes_first(access: SmartFileAccess) -> None:
    assert resolved(access, "`npm run build`", "web/AGENTS.md") == ["web/package.json:3"]
    assert resolved(access, "`npm run build`", "docs/AGENTS.md") == ["package.json:2"]
    assert resolved(access, "`make_cart()`", "tests/AGENTS.md") == ["tests/test_cart.py:1"]
    assert resolved(access, "`test_cart.py`", "tests/AGENTS.md") == ["tests/test_cart.py:0"]


def test_a_name_follows_the_files(access: SmartFileAccess, tmp_path: Path) -> None:
    assert resolved(access, "`open_cart()`") == ["src/shop/cart.py:9"]
    (tmp_path / "src/shop/cart.py").write_text("\n\ndef open_cart(): ...\n", encoding="utf-8")
    assert resolved(access, "`open_cart()`") == ["src/shop/cart.py:3"]
    (tmp_path / "src/shop/cart.py").unlink()
    assert resolved(access, "`open_cart()`") == [None]


def test_a_glob_with_many_braces_is_answered_at_once(access: SmartFileAccess) -> None:
    assert resolved(access, f"`src/{'{a,b}' * 35}*.py`") == [None]


def test_prompts_name_things_as_instructions_do(tmp_path: Path) -> None:
    text = (
        "from foldline.prompts import MarkdownSection, PromptTemplate\n\n"
        "PROMPT = PromptTemplate(\n    name='p',\n    sections=[\n"
        "        MarkdownSection(\n            title='Data', key='data',\n"
        "            template='é \\n`src/shop/cart.py` and `${x}`',\n"
        "            summary='See `Cart.total`.',\n        ),\n    ],\n)\n"
    )
    (tmp_path / "p.py").write_text(text, encoding="utf-8")
    workspace = Workspace.at(tmp_path)

    def query(snapshot: Snapshot) -> list[tuple[Mention, str]]:
        analysis = snapshot.analysis
        return [(one, text[place.start : place.end]) for one, place in mentions_of(analysis)]

    found = workspace.with_snapshot((tmp_path / "p.py").as_uri(), query)
    assert found is not None
    assert [(one.kind, written) for one, written in found] == [
        ("path", "src/shop/cart.py"),
        ("symbol", "Cart.total"),
    ]


def test_long_runs_that_nothing_closes_name_nothing() -> None:
    # In time that grows with their square, these take hours.
    quotes = " ".join("`" * count for count in range(1_200, 0, -1))
    assert names(f"{quotes}\n\n[a]({'b' * 500_000}\n\n`src/a.py`\n") == ["path src/a.py"]
