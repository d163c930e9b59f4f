"""Hostile sources in all grammars: every one is answered about, in its own lines, at some cost."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.errors import BinaryFileError, SymbolError
from foldline.backends.files.memory import MemoryFileBackend
from foldline.backends.parsers.language_tables import LANGUAGES

from .conftest import TIME_LIMIT, seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.backends.models import SymbolInfo

pytestmark = pytest.mark.real

FIXED_SEEDS = 8
EXAMPLES = 100
LONGEST = 8000
EXTENSIONS = sorted(language.extensions[0] for language in LANGUAGES if language.extensions)
BREAKS = ("\n", "\r\n", "\r", "\f", "\v", "\u0085", "\u2028", "\0", "\ufeff", "\t", "\\\n")
SIGNS = (*"()[]{}<>=+-*/|&!?:;,.#@$%^~`'\"\\", '"""', "```", "<!--", "<<", "=>", "->", "${")
WORDS = (
    *("a", "e", "é", "日本", "😀", "1", "0x", "def f():", "class A:", "function f()", "fn f()"),
    *("struct S", "enum E", "interface I", "import a", "if a", "else", "return", "end", "do", "|"),
    *("type A =", "let a =", "template<", "#define A", "module M", "- ", "? ", "# a", "[a]", "a:"),
)
PIECES = (*BREAKS, *SIGNS, *WORDS, " ", "\n    ", "\n\n")
REAL = Path(__file__).read_text(encoding="utf-8")


@st.composite
def repeated(draw: st.DrawFn) -> str:
    """A few tokens over and over: what makes a parser explode."""
    unit = "".join(draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5)))
    return (unit * LONGEST)[: draw(st.integers(1, LONGEST))]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A file that somebody wrote, with pieces put in, taken out and doubled."""
    text = REAL[:LONGEST]
    for _ in range(draw(st.integers(1, 10))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 200)))
        text = text[:start] + draw(st.sampled_from((*PIECES, text[start:end] * 2))) + text[end:]
    return text


mixed = st.lists(st.sampled_from(PIECES), max_size=200).map("".join)
sources = repeated() | mutated() | mixed


def check(extension: str, text: str) -> None:
    """Ask all about one source; assert that the answers are about its lines."""
    path = f"a{extension}"
    backend = ASTFileAnalysisBackend(MemoryFileBackend({path: text}))
    lines = len(text.splitlines()) + 1
    try:
        outline = backend.get_outline(path)
    except BinaryFileError:
        return
    for symbol in list(flat(outline.symbols))[:20]:
        assert 1 <= symbol.line <= symbol.name_line <= symbol.line_end <= lines
        try:
            found = backend.read_symbol(path, symbol.name)
        except SymbolError:
            continue  # Ambiguous, or a name that can't be asked for.
        assert found is None or 1 <= found.line <= found.line_end <= lines
    for name in ("a", "é"):
        for reference in backend.find_references(name):
            assert 1 <= reference.line <= lines
            assert name in reference.context


def flat(symbols: tuple[SymbolInfo, ...]) -> Iterator[SymbolInfo]:
    for symbol in symbols:
        yield symbol
        yield from flat(symbol.children)


def run(number: int, last: str) -> None:
    """Check the sources of one seed; before each, write to the file `last` what it is."""

    @seed(number)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(extension=st.sampled_from(EXTENSIONS), text=sources)
    def checked(extension: str, text: str) -> None:
        Path(last).write_text(f"{extension}\n{text}", encoding="utf-8")
        check(extension, text)

    checked()


@pytest.mark.timeout(TIME_LIMIT)
@pytest.mark.parametrize("fixed", [1, pytest.param(FIXED_SEEDS, marks=pytest.mark.slow)])
def test_every_source_is_answered_about(fixed: int, tmp_path: Path) -> None:
    last = tmp_path / "last-source"
    for number in seeds(fixed):
        # A parser that dies takes this process along; `last-source` then tells of what.
        done = subprocess.run(
            [sys.executable, "-m", __name__, str(number), str(last)],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIME_LIMIT,
        )
        what = f"seed {number}, the last source {last.read_text(encoding='utf-8')[:2000]!r}"
        assert done.returncode == 0, f"{what}: {done.stderr[-4000:]}"


def limit_memory() -> None:
    """Let this process have 2 GiB, so that a source that takes more fails here."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


if __name__ == "__main__":
    faulthandler.enable()
    limit_memory()
    run(int(sys.argv[1]), sys.argv[2])
