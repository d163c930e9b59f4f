"""Files of a workspace are opened by one function: everything else that opens is listed here."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = (ROOT / "backends", ROOT / "server", ROOT / "plugins")
NAMES = {"open", "read_text", "read_bytes", "open_code", "load_source"}

# (module, call): why it opens no file of a workspace, or may.
ALLOWED = {
    ("backends/files/reader.py", "os.open"): "the one function",
    ("backends/lsp/guard.py", "os.open"): "os.devnull",
    ("backends/lsp/guard.py", "open"): "/proc",
    ("backends/outlines/syntax.py", "_STATM.read_bytes"): "/proc",
    ("backends/files/local.py", "_MOUNTS.read_text"): "/proc",
    ("ide/standard_streams.py", "Path(os.devnull).open"): "os.devnull",
    ("agent/cli.py", "os.open"): "os.devnull",
    ("backends/outlines/parsing_workers.py", "Path(os.devnull).open"): "os.devnull",
    ("backends/outlines/parsing_workers.py", "_STATM.read_bytes"): "/proc",
    ("plugins/stores/outbox.py", "self._reserve.open"): "a file that it makes",
    ("ide/entry_points.py", "file.read_text"): "entry points of what is installed",
    ("backends/ranking/learned.py", "FILE.read_bytes"): "our own weights",
    ("agent/targets.py", "path.open"): "a file that it makes",
    ("agent/preview_run.py", "out.open"): "a file that it makes",
    ("server/page/saved.py", "(FILES / name).read_text"): "our own page",
    ("server/page/saved.py", "(FILES / 'saved.html').read_text"): "our own page",
    ("server/page/saved.py", "read_text"): "the one function",
    ("plugins/adopt/sandbox.py", "json.load"): "standard input",
    ("agent/check.py", "page.read_text"): "our own page about a diagnostic",
    ("ide/render/worker/_foldline_worker.py", "os.open"): "os.devnull",
    ("ide/render/worker/_foldline_supervisor.py", "entry.read_bytes"): "/proc",
    (
        "ide/render/worker/_foldline_supervisor.py",
        "Path(f'/proc/self/task/{os.getpid()}/children').read_text",
    ): "/proc",
    # The same names for other things.
    ("backends/files/reader.py", "read_text"): "the one function",
    ("backends/files/reader.py", "read_bytes"): "the one function",
    ("backends/files/ignore.py", "read_text"): "the one function",
    ("backends/files/repository.py", "read_text"): "the one function",
    ("backends/files/ignore.py", "read_bytes"): "the one function",
    ("backends/files/git_index.py", "read_bytes"): "the one function",
    ("backends/index/family.py", "read_text"): "the one function",
    ("agent/install/files.py", "read_bytes"): "the one function",
    ("backends/jedi/worker.py", "read_bytes"): "the one function",
    ("ide/analysis/prompt_files.py", "read_bytes"): "the one function",
    ("ide/analysis/project.py", "read_text"): "the one function",
    ("ide/analysis/modules.py", "read_text"): "the one function",
    ("ide/analysis/project.py", "super().open"): "takes a buffer",
    ("agent/preview_session.py", "read_text"): "the one function",
    ("plugins/adopt/adoption.py", "read_text"): "the one function",
    ("ide/render/revisions.py", "read_bytes"): "the one function",
    ("ide/render/values.py", "read_text"): "the one function",
    ("plugins/adopt/adoption.py", "read_bytes"): "the one function",
    ("plugins/adopt/command.py", "read_text"): "the one function",
    ("ide/instructions/document.py", "read_text"): "the one function",
    ("ide/instructions/features.py", "read_text"): "the one function",
    ("plugins/instructions/folding.py", "read_bytes"): "the one function",
    ("plugins/instructions/folding.py", "read_text"): "the one function",
    ("plugins/remote/transport.py", "read_text"): "the one function",
    ("agent/install/verb.py", "PLUGIN.read_text"): "our own plugin",
    ("ide/workspace.py", "modules.open"): "takes a buffer",
    ("server/commands/prompt_serve.py", "previews.open"): "begins a preview",
    ("ide/prompts/actions.py", "workspace.previews.open"): "begins a preview",
}


def opening_calls(source: str) -> Iterator[str]:
    """The calls in a source that open a file, or may, as they are written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            name = function.id if isinstance(function, ast.Name) else name
            if name in NAMES or ast.unparse(function) in {"tomllib.load", "json.load"}:
                yield ast.unparse(function)


def found_calls() -> set[tuple[str, str]]:
    modules = [file for folder in SOURCES for file in folder.rglob("*.py")]
    assert len(modules) > 200
    return {
        (file.as_posix().rpartition("/foldline/")[2], call)
        for file in modules
        for call in opening_calls(file.read_text(encoding="utf-8"))
    }


def test_nothing_but_the_one_function_opens_files() -> None:
    assert found_calls() - ALLOWED.keys() == set()


def test_the_list_of_exceptions_has_none_too_many() -> None:
    assert ALLOWED.keys() - found_calls() == set()


def test_ways_to_open_a_file_are_seen() -> None:
    source = "open(a); io.open(a); os.open(a, 0); a.open(); a.b().read_text(); json.load(x)"
    assert len(list(opening_calls(source))) == 6
