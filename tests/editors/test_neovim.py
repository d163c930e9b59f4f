"""A real Neovim with the real server, as a user has them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .neovim_process import PLUGIN, Neovim

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.real

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
# Neovim asks for the lenses first, and then for the title of each.
LENSES_HAVE_TITLES = (
    "#vim.lsp.codelens.get(0) > 0 and vim.iter(vim.lsp.codelens.get(0))"
    ":all(function(lens) return lens.command ~= nil end)"
)
TRUST = "require('foldline.trust').set(vim.fn.getcwd(), true)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example workspace."""
    folder = tmp_path / "code_reviewer"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").touch()
    return folder


@pytest.fixture
def nvim(tmp_path: Path, project: Path) -> Iterator[Neovim]:
    """The example's prompt module, opened and served, in a folder that is trusted."""
    with start(tmp_path, project, "reviewer_prompt.py", init=TRUST) as process:
        yield process


def start(home: Path, project: Path, file: str, init: str = "") -> Neovim:
    nvim = Neovim(home, file, cwd=project, init=init)
    nvim.wait("#vim.lsp.get_clients({ name = 'foldline', bufnr = 0 }) == 1")
    return nvim


def preview(nvim: Neovim) -> None:
    """Shows the preview of the prompt that has its values, and is in it."""
    nvim.command("FoldlinePreview")
    nvim.wait("vim.bo.filetype == 'markdown'")


def test_a_preview_shows_what_the_model_sees_and_folds_its_sections(nvim: Neovim) -> None:
    preview(nvim)
    text = nvim.buffer()
    assert text.startswith("## 1. Review Guidance\n\nYou review auth, written in Python 3.11")
    assert "Review the authentication module for security vulnerabilities." in text
    assert '[This section is summarized. Call `open_sections` with key "reference-docs"' in text
    assert "Security Rules" not in text
    headings = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith("## ")]
    nvim.command("normal! zM")
    closed = nvim.strings(
        "return vim.tbl_filter(function(line) return vim.fn.foldclosed(line) == line end,"
        " vim.fn.range(1, vim.fn.line('$')))"
    )
    # Third-level headings are inside of folds that are closed.
    assert [int(line) for line in closed] == headings


def test_return_opens_the_summary_under_the_cursor_and_c_closes_it(nvim: Neovim) -> None:
    preview(nvim)
    before = nvim.buffer()
    nvim.command("call search('The rules that auth agreed on')")
    nvim.keys("<CR>")
    nvim.wait("vim.fn.search('Security Rules', 'nw') > 0")
    assert "hmac.compare_digest" in nvim.buffer()
    nvim.command("call search('Style')")
    nvim.keys("c")
    nvim.wait("vim.fn.search('Security Rules', 'nw') == 0")
    assert nvim.buffer() == before


def test_a_nested_section_opens_by_its_key(nvim: Neovim) -> None:
    # A server that is just starting may be too late for a completion.
    nvim.wait("#vim.fn.getcompletion('FoldlineOpen ', 'cmdline') > 0")
    keys = nvim.strings("return vim.fn.getcompletion('FoldlineOpen ', 'cmdline')")
    assert {"reference-docs", "workspace.history"} <= set(keys)
    assert "guidance" not in keys
    nvim.command("FoldlineOpen workspace.history")
    nvim.wait("vim.bo.filetype == 'markdown'")
    nvim.wait("vim.fn.search('They are lost at a restart', 'nw') > 0")
    nvim.command("FoldlineClose workspace.history")
    nvim.wait("vim.fn.search('They are lost at a restart', 'nw') == 0")


def test_a_wrong_key_is_answered_with_near_ones(nvim: Neovim) -> None:
    preview(nvim)
    nvim.command("FoldlineOpen reference-doc")
    nvim.wait("#notified > 0")
    assert "reference-docs" in nvim.notified()[0]


def test_typing_changes_the_preview_and_moves_no_cursor(nvim: Neovim, project: Path) -> None:
    on_disk = (project / "reviewer_prompt.py").read_text(encoding="utf-8")
    preview(nvim)
    nvim.command("call search('We\\|Background')")
    seen = nvim.text("return vim.fn.getline('.')")
    nvim.command("wincmd p")
    nvim.command("call search('Read the outline')")
    nvim.keys("OFirst of all:<CR>- look at the tree.<Esc>")
    at = nvim.lua("return vim.api.nvim_win_get_cursor(0)")
    nvim.lua("shown = vim.fn.bufnr('foldline://')")
    nvim.wait(
        "table.concat(vim.api.nvim_buf_get_lines(shown, 0, -1, false), ' ')"
        ":find('First of all: - look at the tree.', 1, true) ~= nil"
    )
    assert nvim.lua("return vim.api.nvim_win_get_cursor(0)") == at
    assert nvim.lua("return vim.bo.modified") is True
    assert (project / "reviewer_prompt.py").read_text(encoding="utf-8") == on_disk
    nvim.command("wincmd p")
    assert nvim.text("return vim.fn.getline('.')") == seen


MARKED = """
function marked(buf)
  local texts = {}
  local space = vim.api.nvim_get_namespaces()['foldline.trace']
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, { details = true })) do
    local at = mark[4]
    local lines = vim.api.nvim_buf_get_text(buf, mark[2], mark[3], at.end_row, at.end_col, {})
    table.insert(texts, table.concat(lines, '\\n'))
  end
  return table.concat(texts, '|')
end
"""


def eventually(nvim: Neovim, condition: str) -> None:
    """Wait in many requests: events of the cursor come between them."""
    for _ in range(1200):
        if nvim.lua(f"return vim.wait(50, function() return {condition} end, 5)"):
            return
    pytest.fail(f"never came true: {condition}; {nvim.text('return marked(0)')}")


def test_gd_goes_to_the_characters_of_a_word_and_marks_follow_the_cursor_both_ways(
    nvim: Neovim,
) -> None:
    nvim.lua(MARKED)
    nvim.lua("source = vim.api.nvim_get_current_buf()")
    preview(nvim)
    nvim.lua("shown = vim.api.nvim_get_current_buf()")
    # In the preview, what the cursor is on is marked in the source.
    nvim.command("call search('You review')")
    eventually(nvim, "marked(source) == 'Y'")
    nvim.keys("w")
    eventually(nvim, "marked(source) == 'r'")
    nvim.command("call search('auth')")
    eventually(nvim, "marked(source):find('${project}', 1, true) ~= nil")
    # A key goes there, even if `CursorMoved` fires only after it; and in the source, what comes
    # from the cursor's character is marked.
    nvim.keys("?review<CR>gd")
    eventually(nvim, "vim.api.nvim_get_current_buf() == source")
    assert nvim.text("return vim.fn.getline('.')").lstrip().startswith("You review ${project}")
    assert nvim.text("return vim.fn.expand('<cword>')") == "review"
    eventually(nvim, "marked(shown) == 'r'")
    nvim.keys("l")
    eventually(nvim, "marked(shown) == 'e'")
    nvim.command("call search('project')")
    eventually(nvim, "marked(shown):find('auth', 1, true) ~= nil")
    # While the text is edited, the mark stays on its character.
    nvim.command("call search('review', 'b')")
    nvim.keys("i\N{GRINNING FACE} now <Esc>w")
    eventually(nvim, "vim.fn.expand('<cword>') == 'review'")
    eventually(
        nvim, "table.concat(vim.api.nvim_buf_get_lines(shown, 0, -1, false)):find('now review')"
    )
    eventually(nvim, "marked(shown) == 'r'")
    nvim.command("wincmd p")
    nvim.command("call search('now')")
    nvim.keys("gd")
    eventually(nvim, "vim.api.nvim_get_current_buf() == source")
    assert nvim.text("return vim.fn.expand('<cword>')") == "now"


def test_a_syntax_error_keeps_the_last_good_text_below_a_banner(nvim: Neovim) -> None:
    preview(nvim)
    before = nvim.buffer()
    nvim.lua("shown = vim.api.nvim_get_current_win()")
    nvim.command("wincmd p")
    nvim.command("call search('^template =')")
    nvim.keys("A (<Esc>")
    nvim.wait("bar(shown):find(' · last good text') ~= nil")
    assert " · line 305: this isn't Python: " in nvim.text("return bar(shown)")
    nvim.keys("u")
    nvim.wait("bar(shown):find(' tokens') ~= nil")
    nvim.command("wincmd p")
    assert nvim.buffer() == before


def test_the_lens_above_a_prompt_previews_it(nvim: Neovim) -> None:
    nvim.command("call search('^reviewer =')")
    nvim.lua("vim.lsp.codelens.refresh({ bufnr = 0 })")
    nvim.wait(LENSES_HAVE_TITLES)
    nvim.lua("vim.lsp.codelens.run()")
    nvim.wait("vim.bo.filetype == 'markdown'")
    assert nvim.text("return vim.api.nvim_buf_get_name(0)").endswith("reviewer_prompt.py#reviewer")


def test_the_lens_above_a_folded_section_shows_it_opened(nvim: Neovim) -> None:
    nvim.command("call search('key=\"history\"')")
    nvim.lua("vim.lsp.codelens.refresh({ bufnr = 0 })")
    nvim.wait(LENSES_HAVE_TITLES)
    nvim.lua(
        """
        local section
        for _, lens in ipairs(vim.lsp.codelens.get(0)) do
          local argument = lens.command.arguments[1]
          if argument.section_keys and argument.section_keys[1] == 'workspace.history' then
            section = lens
          end
        end
        vim.api.nvim_win_set_cursor(0, { section.range.start.line + 1, 0 })
        vim.lsp.codelens.run()
        """
    )
    nvim.wait("vim.bo.filetype == 'markdown'")
    nvim.wait("vim.fn.search('They are lost at a restart', 'nw') > 0")


def test_the_settings_of_the_client_reach_the_server(tmp_path: Path, project: Path) -> None:
    off = "vim.lsp.config('foldline', { settings = { foldline = { code_lens = false } } })\n"
    with start(tmp_path, project, "reviewer_prompt.py", init=off) as nvim:
        nvim.lua(
            """
            function lenses()
              local client = vim.lsp.get_clients({ name = 'foldline' })[1]
              local params = { textDocument = vim.lsp.util.make_text_document_params(0) }
              return client:request_sync('textDocument/codeLens', params, 10000, 0).result
            end
            """
        )
        # With the default it has some, for as long as one asks.
        nvim.wait("#lenses() == 0")


def test_the_code_action_on_a_section_previews_it_opened(nvim: Neovim) -> None:
    nvim.command("call search('key=\"history\"')")
    nvim.lua(
        "vim.lsp.buf.code_action({ apply = true, filter = function(action)"
        " return vim.startswith(action.title, 'Open section 3.1') end })"
    )
    nvim.wait("vim.bo.filetype == 'markdown'")
    nvim.wait("vim.fn.search('They are lost at a restart', 'nw') > 0")
    nvim.command("wincmd p")
    nvim.lua(
        "vim.lsp.buf.code_action({ apply = true, filter = function(action)"
        " return vim.startswith(action.title, 'Close section 3.1') end })"
    )
    nvim.command("wincmd p")
    nvim.wait("vim.fn.search('They are lost at a restart', 'nw') == 0")


def test_the_code_action_for_the_tree_shows_it_as_a_document(nvim: Neovim) -> None:
    nvim.lua(
        "vim.lsp.buf.code_action({ apply = true, filter = function(action)"
        " return action.title:find('tree') ~= nil end })"
    )
    nvim.wait("vim.fn.expand('%:t') == 'tree.txt'")
    assert "reviewer_prompt.py" in nvim.buffer()


def test_a_killed_server_leaves_the_text_and_comes_back_with_the_file(nvim: Neovim) -> None:
    preview(nvim)
    nvim.command("call search('The rules that auth agreed on')")
    nvim.keys("<CR>")
    nvim.wait("vim.fn.search('Security Rules', 'nw') > 0")
    opened = nvim.buffer()
    nvim.lua("vim.lsp.get_clients({ name = 'foldline' })[1]:stop(true)")
    nvim.wait("bar():find('the server has stopped') ~= nil")
    assert nvim.buffer() == opened
    nvim.command("wincmd p | edit | wincmd p")
    nvim.wait("bar():find(' tokens') ~= nil and vim.fn.search('Security Rules', 'nw') > 0")
    assert nvim.buffer() == opened


def test_a_restart_says_what_it_restarted_and_the_preview_goes_on(nvim: Neovim) -> None:
    preview(nvim)
    before = nvim.buffer()
    nvim.command("FoldlineRestart")
    nvim.wait("#notified > 0")
    assert nvim.notified() == ["foldline: Restarted 1 preview worker"]
    nvim.command("FoldlineOpen reference-docs")
    nvim.wait("vim.fn.search('Security Rules', 'nw') > 0")
    assert nvim.buffer() != before


def test_the_outline_lists_the_file_and_leads_to_it(nvim: Neovim) -> None:
    nvim.command("FoldlineOutline")
    nvim.wait("vim.bo.buftype == 'nofile'")
    nvim.command("call search('class CodeReviewTask')")
    assert "class CodeReviewTask(Task)" in nvim.text("return vim.fn.getline('.')")
    assert "budget" not in nvim.buffer()
    nvim.keys("<CR>")
    assert "CodeReviewTask" in nvim.text(
        "return table.concat(vim.fn.getline(vim.fn.line('.'), vim.fn.line('.') + 1), ' ')"
    )
    assert nvim.text("return vim.fn.expand('%:t')") == "reviewer_prompt.py"


def test_a_prompt_is_a_document_that_follows_its_source(nvim: Neovim) -> None:
    address = "'foldline-prompt://' .. vim.api.nvim_buf_get_name(0) .. '/reviewer.md'"
    nvim.lua(f"vim.cmd.vsplit({{ vim.fn.fnameescape({address} .. '?open=workspace.history') }})")
    nvim.wait("vim.fn.search('sessions moved from the database', 'n') > 0")
    assert nvim.buffer().startswith("## 1. Review Guidance\n\nYou review auth, written in")
    assert nvim.text("return vim.bo.filetype") == "markdown"
    nvim.command("call search('roles became numbers')")
    place = "vim.inspect({ vim.fn.line('.'), vim.fn.line('w0') })"
    before = nvim.text(f"return {place}")
    nvim.command("wincmd p | %s/You review/You read/ | wincmd p")
    nvim.wait("vim.fn.getline(3):find('You read auth') ~= nil")
    assert nvim.text(f"return {place}") == before
    # Hidden it is not followed; shown again it is up to date.
    nvim.command("close | %s/You read/You study/")
    nvim.lua(f"vim.cmd.vsplit({{ vim.fn.fnameescape({address} .. '?open=workspace.history') }})")
    nvim.wait("vim.fn.getline(3):find('You study auth') ~= nil")


def test_a_document_of_no_prompt_says_what_there_is(nvim: Neovim) -> None:
    address = "'foldline-prompt://' .. vim.api.nvim_buf_get_name(0) .. '/reviewers.md'"
    nvim.lua(f"vim.cmd.edit({address})")
    nvim.wait("#notified > 0")
    assert "reviewer" in nvim.notified()[0]
    assert nvim.buffer() == ""


def test_a_command_given_at_the_start_waits_for_the_server(tmp_path: Path, project: Path) -> None:
    with Neovim(tmp_path, "reviewer_prompt.py", cwd=project, init=TRUST) as nvim:
        nvim.lua("vim.cmd.FoldlinePreview()")
        nvim.wait("vim.bo.filetype == 'markdown'")
        assert nvim.buffer().startswith("## 1. Review Guidance")
        assert nvim.notified() == []


def test_a_server_that_does_not_come_is_told_once(tmp_path: Path, project: Path) -> None:
    never = "vim.lsp.enable('foldline', false)\nvim.g.foldline = { start_ms = 50 }\n"
    with Neovim(tmp_path, "reviewer_prompt.py", cwd=project, init=never) as nvim:
        nvim.command("FoldlineOutline")
        nvim.wait("#notified > 0")
        assert nvim.notified() == ["foldline: no server is running here: see :checkhealth foldline"]
        nvim.command("enew | FoldlineOutline")
        nvim.wait("#notified > 1")


def test_the_help_is_found(nvim: Neovim) -> None:
    for tag in ("foldline", ":FoldlinePreview", ":FoldlineParams", "g:foldline"):
        nvim.command(f"help {tag}")
        assert nvim.text("return vim.fn.expand('%:t')") == "foldline.txt"
        nvim.command("close")


def test_the_tags_are_those_of_the_help(tmp_path: Path) -> None:
    help_of = PLUGIN / "doc"
    shutil.copy(help_of / "foldline.txt", tmp_path)
    with Neovim(tmp_path / "home") as nvim:
        nvim.command(f"helptags {tmp_path}")
    made = (tmp_path / "tags").read_text(encoding="utf-8")
    assert (help_of / "tags").read_text(encoding="utf-8") == made


def test_health_finds_nothing_wrong(nvim: Neovim) -> None:
    nvim.command("checkhealth foldline")
    report = nvim.buffer()
    assert "foldline 0." in report
    assert "the server answers" in report
    assert "ERROR" not in report
    assert "WARNING" not in report


def test_nothing_of_an_untrusted_folder_is_executed(tmp_path: Path, project: Path) -> None:
    proof = tmp_path / "executed"
    module = project / "reviewer_prompt.py"
    source = module.read_text(encoding="utf-8")
    start_of_imports = source.index("from dataclasses")
    module.write_text(
        f"{source[:start_of_imports]}import pathlib\npathlib.Path({str(proof)!r}).touch()\n"
        f"{source[start_of_imports:]}",
        encoding="utf-8",
    )
    asked = (
        "questions = {}\n"
        "vim.ui.select = function(items, options, chosen)\n"
        "  table.insert(questions, options.prompt)\n"
        "  chosen(items[2])\n"
        "end\n"
    )
    with start(tmp_path, project, "reviewer_prompt.py", init=asked) as nvim:
        nvim.command("FoldlinePreview")
        nvim.wait("vim.bo.filetype == 'markdown'")
        assert "source only (run :FoldlineTrust to execute)" in nvim.text("return bar()")
        assert nvim.buffer().startswith("## 1. Review Guidance\n\nYou review auth, ")
        nvim.command("FoldlineOpen reference-docs")
        nvim.wait("vim.fn.search('Security Rules', 'nw') > 0")
        nvim.command("wincmd p")
        assert len(nvim.strings("return questions")) == 1
        nvim.lua("vim.lsp.codelens.refresh({ bufnr = 0 })")
        nvim.wait(LENSES_HAVE_TITLES)
        nvim.command("FoldlineOutline")
        nvim.wait("vim.bo.buftype == 'nofile'")
        nvim.command("close | checkhealth foldline | close")
        assert not proof.exists()
        # The module does write the file, once it may.
        nvim.command("FoldlineTrust | FoldlinePreview")
        nvim.wait("bar():find(' tokens') ~= nil")
        assert proof.exists()
        nvim.command("FoldlineTrust!")
        nvim.wait("bar():find('source only') ~= nil")


def test_instruction_files_of_a_repository_in_go_have_previews_and_others_no_server(
    tmp_path: Path,
) -> None:
    """No trust is asked for: nothing of the repository is run."""
    project = tmp_path / "service"
    (project / ".git").mkdir(parents=True)
    rule = ".cursor/rules/style.mdc"
    data = "It lives in `data/`, one file for each year. " * 20
    files = {
        "go.mod": "module example.com/app\n",
        "AGENTS.md": f"# Rules\n\n## Data\n<!-- fold: where data lives -->\n{data}\n\n## Empty\n",
        "README.md": "# App\n",
        rule: "---\nalwaysApply: true\n---\n# Style\nBe brief.\n",
    }
    for path, text in files.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    with start(tmp_path, project, "AGENTS.md") as nvim:
        nvim.wait("#vim.diagnostic.get(0) == 1")
        nvim.command("lua vim.lsp.codelens.refresh({ bufnr = 0 })")
        nvim.wait(LENSES_HAVE_TITLES)
        nvim.command("FoldlinePreview")
        nvim.wait("vim.fn.search('Folded: where data lives', 'nw') > 0")
        assert "one file for each year" not in nvim.buffer()
        nvim.command("FoldlineOpen rules.data")
        nvim.wait("vim.fn.search('one file for each year', 'nw') > 0")
        nvim.command(f"tabedit {rule}")
        nvim.wait("#vim.lsp.get_clients({ name = 'foldline', bufnr = 0 }) == 1")
        nvim.command("tabedit README.md")
        nvim.wait("vim.bo.filetype == 'markdown'")
        assert nvim.strings("return vim.tbl_keys(vim.lsp.get_clients({ bufnr = 0 }))") == []
