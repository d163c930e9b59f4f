"""Every command in a real Neovim with the real server, in a workspace as somebody might have it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foldline.ide.cost_texts import MINUS

from . import neovim_screen
from .neovim_process import Neovim, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.real

WORKSPACE = Path(__file__).parent / "vscode" / "fixtures" / "acme.txt"
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")
# Answers what is asked by choosing the item that begins as `choice` says, and typing `typed`.
ASKED = """
asked, choice, typed = {}, '', ''
vim.ui.select = function(items, options, chosen)
  local said = vim.tbl_map(options.format_item or tostring, items)
  table.insert(asked, { prompt = options.prompt, items = said })
  for index, item in ipairs(said) do
    if vim.startswith(item, choice) then
      return chosen(items[index], index)
    end
  end
  chosen(nil)
end
vim.ui.input = function(options, done)
  table.insert(asked, { prompt = options.prompt, items = { options.default } })
  done(typed)
end
require('foldline.trust').set(vim.fn.getcwd(), true)
"""
MADE_UP = "\u2039number\u203a"


def line_of(code: str) -> int:
    """The line of `triage.py` that begins with that code."""
    module = WORKSPACE.read_text(encoding="utf-8").split("#- prompts/triage.py\n")[1]
    lines = enumerate(module.split("\n"), 1)
    return next(number for number, line in lines if line.startswith(code))


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ten prompt modules, in a git repository."""
    folder = tmp_path_factory.mktemp("workspace") / "acme"
    for part in WORKSPACE.read_text(encoding="utf-8").split("#- ")[1:]:
        name, _, text = part.partition("\n")
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*GIT, *arguments], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, acme: Path) -> Iterator[Neovim]:
    with Neovim(tmp_path_factory.mktemp("home"), cwd=acme, init=ASKED) as nvim:
        yield nvim


@pytest.fixture
def nvim(shared: Neovim) -> Neovim:
    """The one Neovim, with nothing shown and nothing asked or notified."""
    shared.command("silent! tabonly | silent! only | enew! | silent! %bwipeout!")
    shared.lua("asked, notified, choice, typed = {}, {}, '', ''")
    shared.lua("vim.o.columns, vim.o.lines = 200, 40")
    return shared


def preview(nvim: Neovim, prompt: str) -> None:
    nvim.command(f"edit prompts/{prompt}.py")
    nvim.command("FoldlinePreview")
    nvim.wait("vim.bo.filetype == 'markdown' and bar():find(' tokens') ~= nil")


def chosen(nvim: Neovim, item: str) -> None:
    """What the next question is answered by."""
    nvim.lua(f"choice = {quoted(item)}")


def offered(nvim: Neovim) -> list[str]:
    """What the last question offered."""
    nvim.wait("#asked > 0")
    return nvim.strings("return asked[#asked].items")


def wait_for_text(nvim: Neovim, text: str) -> None:
    nvim.wait(f"vim.fn.search({quoted(text)}, 'nw') > 0")


COUNTS = "vim.deep_equal({{ counts.summarized, counts.sections }}, {{ {}, {} }})"


def wait_for_counts(nvim: Neovim, summarized: int, sections: int) -> None:
    nvim.lua("function counted() counts = require('foldline.preview').current().counts end")
    counts = COUNTS.format(summarized, sections)
    nvim.wait(f"counted() == nil and {counts}")


def test_folded_sections_say_what_they_cost_and_hide(nvim: Neovim) -> None:
    preview(nvim, "handbook")
    wait_for_counts(nvim, 20, 64)
    nvim.command("only | normal! zM")
    assert nvim.screen(90, 9) == (
        " handbook · 2,718 of 1,500 tokens (1,218 over)\n"
        + "".join(
            f"{f'## {heading} · +15 sections':<{90 - len(edge)}}{edge}\n"
            for heading, edge in (
                ("1. Onboarding", "11 tokens, 671 in all"),
                ("2. Security", "10 tokens, 650 in all"),
                ("3. Payments", "10 tokens, 650 in all"),
                ("4. Support", "10 tokens, 650 in all"),
            )
        )
        + "~\n~\n"
        + "foldline://prompts/handbook.py#handbook"
        + "1,1            All\n".rjust(52)
    )


def test_disabled_sections_are_not_counted(nvim: Neovim) -> None:
    preview(nvim, "triage")
    assert nvim.text("return bar()") == " triage · free_user · 281 of 1,500 tokens"
    wait_for_counts(nvim, 1, 4)
    nvim.command("FoldlineSet enterprise_user")
    wait_for_counts(nvim, 1, 6)
    assert nvim.text("return bar()").startswith(" triage · enterprise_user · ")


def test_a_parameter_set_is_chosen_by_name_or_from_a_list(nvim: Neovim) -> None:
    preview(nvim, "triage")
    assert nvim.strings("return vim.fn.getcompletion('FoldlineSet ', 'cmdline')") == [
        "free_user",
        "team_user",
        "enterprise_user",
        "none",
    ]
    nvim.command("FoldlineSet team_user")
    wait_for_text(nvim, "Grace")
    chosen(nvim, "free_user")
    nvim.command("FoldlineSet")
    sets = offered(nvim)
    wait_for_text(nvim, "Ada")
    line = line_of("def preview_team_user")
    assert sets[1] == f"team_user: preview_team_user(), line {line} of triage.py, in use"
    assert sets[3] == "none: no fixtures or files of values"


def test_a_value_is_changed_and_taken_back(nvim: Neovim) -> None:
    preview(nvim, "triage")
    chosen(nvim, "Customer.name")
    nvim.lua("typed = 'Zofia'")
    nvim.command("FoldlineParams")
    wait_for_text(nvim, "Zofia")
    asked = nvim.lua("return asked")
    assert isinstance(asked, list)
    line = line_of("def preview_free_user")
    assert asked[0]["items"][0] == (
        f"Customer.name: str = 'Ada' (preview_free_user(), line {line} of triage.py)"
    )
    assert asked[1] == {
        "prompt": "Customer.name: str (What to call them.) = ",
        "items": ["Ada"],
    }
    completed = "return vim.fn.getcompletion('FoldlineParams %s', 'cmdline')"
    assert nvim.strings(completed % "Customer.p") == ["Customer.plan", "Customer.priority"]
    assert nvim.strings(completed % "Customer.plan ") == ["free", "team", "enterprise"]
    nvim.command("FoldlineParams seats 12")
    wait_for_text(nvim, "Zofia.*12 seats")
    chosen(nvim, "enterprise")
    nvim.command("FoldlineParams Customer.plan")
    wait_for_text(nvim, "plan enterprise, 12 seats")
    chosen(nvim, "Take the typed value back")
    nvim.command("FoldlineParams Customer.plan")
    wait_for_text(nvim, "plan free, 12 seats")
    nvim.command("FoldlineParams!")
    wait_for_text(nvim, "Ada.*1 seats")
    nvim.command("FoldlineParams Customer.nmae Zofia")
    assert nvim.notified()[-1].startswith("foldline: there is no field Customer.nmae; there is ")


def test_made_up_values_are_marked(nvim: Neovim) -> None:
    preview(nvim, "unbound")
    assert "4 values made up" in nvim.text("return bar()")
    marked = nvim.strings(
        """
        local found = {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })) do
          local to = mark[4]
          if to.hl_group == 'FoldlineMadeUp' then
            local text = vim.api.nvim_buf_get_text(0, mark[2], mark[3], to.end_row, to.end_col, {})
            table.insert(found, text[1])
          end
        end
        return found
        """
    )
    assert marked == [MADE_UP, "0.0", "()", "False"]
    chosen(nvim, "no field")
    nvim.command("FoldlineParams")
    assert offered(nvim)[0] == f"Invoice.number: str = '{MADE_UP}' (made up)"
    nvim.command("FoldlineParams Invoice.number 17")
    wait_for_text(nvim, "Invoice 17")
    assert "3 values made up" in nvim.text("return bar()")


def test_a_chapter_is_closed_and_opened(nvim: Neovim) -> None:
    preview(nvim, "triage")
    wait_for_text(nvim, "Be kind")
    assert nvim.strings("return vim.fn.getcompletion('FoldlineChapters ', 'cmdline')") == [
        "legal",
        "tone",
    ]
    chosen(nvim, "Tone")
    nvim.command("FoldlineChapters")
    assert offered(nvim) == [
        "Legal (legal): stays closed, its `enabled` returned False",
        "Tone (tone): open",
    ]
    nvim.wait("vim.fn.search('Be kind', 'nw') == 0")
    nvim.command("FoldlineChapters tone")
    wait_for_text(nvim, "Be kind")
    nvim.command("FoldlineChapters legal")
    nvim.wait("#notified > 0")
    assert "stays closed: its `enabled` returned False" in nvim.notified()[0]


def test_a_summary_is_looked_into_without_opening_it(nvim: Neovim) -> None:
    preview(nvim, "triage")
    before = nvim.buffer()
    nvim.command("call search('Policies')")
    nvim.lua(
        "local float = vim.lsp.util.open_floating_preview\n"
        "vim.lsp.util.open_floating_preview = function(lines, syntax, how)\n"
        "  floated = how.title\n"
        "  return float(lines, syntax, how)\n"
        "end"
    )
    assert "Refunds within 30 days." in nvim.floating("vim.api.nvim_feedkeys('p', 'xt', false)")
    assert nvim.buffer() == before
    assert re.fullmatch(
        r" policies, \d+ of \d+ bytes, .* if opened.* ", nvim.text("return floated")
    )
    nvim.command("1")
    nvim.keys("p")
    assert nvim.notified() == ["foldline: this section is not summarized"]


def test_steps_are_listed_compared_and_taken_back(nvim: Neovim) -> None:
    preview(nvim, "triage")
    first = nvim.buffer()
    nvim.command("FoldlineOpen policies")
    wait_for_text(nvim, "Refunds within")
    opened = nvim.buffer()
    nvim.command("FoldlineSet team_user")
    wait_for_text(nvim, "Grace")
    chosen(nvim, "1. start")
    nvim.command("FoldlineHistory")
    assert offered(nvim) == [
        "3. changed the values (set team_user) (shown now)",
        "2. opened policies",
        "1. start",
    ]
    nvim.wait("vim.fn.tabpagenr('$') == 2 and vim.fn.line('$') > 3")
    sides = nvim.strings(
        "return vim.tbl_map(function(win)"
        " return table.concat(vim.fn.getbufline(vim.api.nvim_win_get_buf(win), 1, '$'), '\\n')"
        " .. (vim.wo[win].diff and '' or 'no diff') end, vim.api.nvim_tabpage_list_wins(0))"
    )
    assert sides[0].rstrip() == first.rstrip()
    assert "Grace" in sides[1]
    assert "Refunds within" in sides[1]
    nvim.keys("q")
    nvim.wait("vim.fn.tabpagenr('$') == 1")
    nvim.keys("u")
    nvim.wait("vim.fn.search('Grace', 'nw') == 0")
    assert nvim.buffer() == opened
    nvim.command("FoldlineReset")
    nvim.wait("vim.fn.search('Refunds within', 'nw') == 0")
    nvim.command("FoldlineUndo")
    wait_for_text(nvim, "Refunds within")


def test_the_text_is_compared_with_what_git_has(nvim: Neovim) -> None:
    preview(nvim, "triage")
    nvim.command("FoldlineDiff HEAD")
    nvim.wait("#notified > 0")
    assert nvim.notified() == [
        "foldline: HEAD and now have the same text. With the set `free_user`; not compared: "
        "team_user, enterprise_user."
    ]
    assert "HEAD~1" in nvim.strings("return vim.fn.getcompletion('FoldlineDiff HE', 'cmdline')")
    nvim.command("wincmd p | %s/Sort the message/Read the message/ | wincmd p")
    wait_for_text(nvim, "Read the message")
    nvim.command("FoldlineDiff HEAD")
    nvim.wait("vim.fn.tabpagenr('$') == 2 and vim.fn.line('$') > 3")
    assert "Read the message" in nvim.buffer()
    nvim.command("wincmd h")
    wait_for_text(nvim, "Sort the message")
    assert nvim.text("return bar()").startswith(" HEAD · triage · ")
    nvim.command("FoldlineDiff nowhere")
    nvim.wait("#notified > 2")
    assert "nowhere" in nvim.notified()[2]


def test_the_report_lists_sections_tools_values_and_the_interpreter(nvim: Neovim) -> None:
    preview(nvim, "triage")
    nvim.command("FoldlineTokens")
    nvim.wait("vim.fn.bufname():find('tokens') ~= nil")
    report = nvim.buffer()
    assert "triage: 281 of 1,500 tokens\n1 of 4 sections summarized, executed\n" in report
    opening = f"{MINUS}84 if opened (+14 text, {MINUS}98 tools)"
    assert f"      43           4. Policies (summarized, {opening})\n" in report
    assert "       0           3. Escalation (disabled)\n" in report
    assert "     158           tool open_sections\n" in report
    assert "values of the set free_user\n  Customer.name: str = 'Ada' (preview_free" in report
    assert "run by " in report
    assert ", chosen by " in report
    nvim.command("call search('Policies')")
    nvim.keys("<CR>")
    assert 'key="policies"' in nvim.text("return vim.fn.getline('.')")


def test_references_fill_the_quickfix_list_and_say_how_sure_they_are(nvim: Neovim) -> None:
    nvim.command("edit prompts/triage.py")
    nvim.wait("#vim.fn.getcompletion('FoldlineRefs Cust', 'cmdline') > 0")
    nvim.command("call search('class Customer') | normal! w")
    nvim.command("FoldlineRefs")
    nvim.wait("vim.bo.buftype == 'quickfix'")
    use = line_of("def preview_free_user")
    assert nvim.buffer().startswith(
        f"prompts/triage.py|{line_of('class Customer')} confirmed definition| class Customer:\n"
        f"prompts/triage.py|{use} confirmed read| def preview_free_user() -> Customer:\n"
    )
    types = nvim.strings("return vim.tbl_map(function(i) return i.type end, vim.fn.getqflist())")
    assert set(types) <= {"C", "P"}
    nvim.command("cnext")
    assert nvim.number("return vim.fn.line('.')") == use
    nvim.command("cclose | FoldlineRefs Nobody")
    nvim.wait("#notified > 0")
    assert nvim.notified()[0].startswith("foldline: no references of Nobody: no code mentions")


def test_a_symbol_is_shown_and_leads_to_its_source(nvim: Neovim) -> None:
    nvim.command("edit prompts/triage.py")
    nvim.wait("#vim.fn.getcompletion('FoldlineSymbol Customer.n', 'cmdline') == 1")
    nvim.command("FoldlineSymbol Customer")
    nvim.wait("vim.bo.buftype == 'nofile'")
    first, rest = nvim.buffer().split("\n", 1)
    assert first.startswith("prompts/triage.py:17-")
    assert rest.startswith("@dataclass(frozen=True)\nclass Customer:\n")
    nvim.command("call search('seats')")
    nvim.keys("<CR>")
    assert nvim.text("return vim.trim(vim.fn.getline('.'))") == "seats: int = 1"
    nvim.command("FoldlineSymbol Custmer")
    nvim.wait("#notified > 0")
    assert "did you mean" in nvim.notified()[0]


def test_a_context_is_packed_within_its_bytes_and_copied(nvim: Neovim) -> None:
    nvim.command("edit prompts/triage.py")
    nvim.command("2000FoldlineContext! who is paged on call")
    nvim.wait("#notified > 0 and vim.bo.buftype == 'nofile'")
    text = nvim.buffer()
    assert 0 < len(text.encode()) <= 2000
    assert nvim.text("return vim.fn.getreg('\"')") == f"{text}\n"
    assert nvim.notified()[0].endswith('bytes, copied to register "')
    nvim.command("1")
    nvim.keys("<CR>")
    assert nvim.text("return vim.fn.expand('%:e')") == "py"


def test_the_tree_leads_to_the_files(nvim: Neovim) -> None:
    nvim.command("edit prompts/triage.py")
    nvim.command("FoldlineTree")
    nvim.wait("vim.fn.bufname():find('tree') ~= nil")
    assert "prompts/  10 files, " in nvim.buffer()
    nvim.command("call search('refund.py')")
    nvim.keys("<CR>")
    assert nvim.text("return vim.fn.expand('%:.')") == "prompts/refund.py"


def test_the_stack_leads_to_the_sections(nvim: Neovim, acme: Path) -> None:
    (acme / "AGENTS.md").write_text("# Rules\nBe brief.\n\n## Tests\nRun them.\n")
    nvim.command("edit prompts/triage.py")
    nvim.command("FoldlineStack")
    nvim.wait("vim.fn.bufname():find('stack') ~= nil")
    shown = nvim.buffer()
    assert re.search(r"^Codex: ~?\d+ tokens in each session$", shown, re.MULTILINE)
    assert "GitHub Copilot: " in shown
    nvim.command("call search('1.1 Tests')")
    nvim.keys("<CR>")
    assert nvim.text("return vim.fn.expand('%:.')") == "AGENTS.md"
    assert nvim.number("return vim.fn.line('.')") == 4
    (acme / "AGENTS.md").unlink()


def test_the_outline_is_coloured_and_folds(nvim: Neovim) -> None:
    nvim.command("edit prompts/triage.py")
    nvim.command("FoldlineOutline")
    nvim.wait("vim.fn.bufname():find('outline') ~= nil")
    nvim.command("normal! zM")
    shown = nvim.number("return vim.fn.search('class Customer', 'w')")
    assert nvim.number(f"return vim.fn.foldclosed({shown + 1})") == shown
    colour = "return vim.fn.synIDattr(vim.fn.synID(%d, vim.fn.col('.'), 1), 'name')"
    assert nvim.text(colour % shown).startswith("python")
    # Commands about code are about its source.
    nvim.command("FoldlineSymbol Customer")
    nvim.wait("vim.fn.bufname():find('Customer') ~= nil")
    assert "class Customer:" in nvim.buffer()
    nvim.keys("q")
    nvim.command("wincmd p")
    nvim.wait("vim.fn.bufname():find('outline') ~= nil")
    nvim.keys("q")
    assert nvim.number("return #vim.api.nvim_list_wins()") == 1


def test_keys_can_be_listed_changed_and_left_out(nvim: Neovim) -> None:
    preview(nvim, "triage")
    listed = nvim.floating("vim.api.nvim_feedkeys('g?', 'xt', false)")
    assert "p     look into the summarized section without opening it" in listed
    nvim.keys("q")
    nvim.wait("vim.bo.filetype == 'python'")
    mine = "vim.g.foldline = { tokens = false, keys = { open = 'o', quit = false } }"
    nvim.lua(mine)
    preview(nvim, "triage")
    nvim.command("call search('Policies')")
    assert nvim.text("return vim.fn.maparg('q', 'n')") == ""
    nvim.keys("o")
    wait_for_text(nvim, "Refunds within")
    nvim.lua("vim.g.foldline = nil")


def test_plug_mappings_run_the_commands(nvim: Neovim) -> None:
    nvim.command("edit prompts/triage.py")
    nvim.keys("<Plug>(foldline-preview)")
    nvim.wait("vim.bo.filetype == 'markdown' and bar():find(' tokens') ~= nil")
    nvim.command("call search('Policies')")
    nvim.keys("<Plug>(foldline-open-here)")
    wait_for_text(nvim, "Refunds within")


def test_health_is_told_in_sentences(nvim: Neovim) -> None:
    preview(nvim, "triage")
    nvim.command("checkhealth foldline")
    report = nvim.buffer()
    assert "The folder is trusted: previews run its code." in report
    assert "Previews run in " in report
    assert "{" not in report


def test_the_guide_shows_what_is_on_the_screen(tmp_path: Path) -> None:
    found = neovim_screen.FENCE.search(neovim_screen.GUIDE.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == neovim_screen.screen(tmp_path), "python -m tests.editors.neovim_screen"


def test_two_revisions_are_compared(nvim: Neovim, acme: Path) -> None:
    preview(nvim, "triage")
    file = acme / "prompts" / "triage.py"
    before = file.read_text(encoding="utf-8")
    changed = before.replace("Sort the message", "Sift the message")
    file.write_text(changed, encoding="utf-8")
    subprocess.run([*GIT, "commit", "-qam", "Sift"], cwd=acme, check=True)
    nvim.command("FoldlineDiff HEAD~1..HEAD")
    nvim.wait("vim.fn.tabpagenr('$') == 2 and vim.fn.line('$') > 3")
    wait_for_text(nvim, "Sift the message")
    assert nvim.text("return bar()").startswith(" HEAD · triage · ")
    nvim.command("wincmd h")
    wait_for_text(nvim, "Sort the message")
    assert nvim.text("return bar()").startswith(" HEAD~1 · triage · ")
    file.write_text(before, encoding="utf-8")
    subprocess.run([*GIT, "commit", "-qam", "Sort"], cwd=acme, check=True)


def test_columns_of_references_count_bytes(nvim: Neovim, acme: Path) -> None:
    file = acme / "umlauts.py"
    file.write_text('def grüße():\n    return 1\n\nx = ("äöü", grüße())\n', encoding="utf-8")
    nvim.command("edit umlauts.py")
    nvim.wait("#vim.fn.getcompletion('FoldlineRefs gr', 'cmdline') > 0")
    nvim.command("FoldlineRefs grüße")
    nvim.wait("vim.bo.buftype == 'quickfix'")
    nvim.command("clast")
    assert nvim.text("return vim.fn.expand('<cword>')") == "grüße"
    assert nvim.text("return vim.fn.getline('.'):sub(vim.fn.col('.'))") == "grüße())"
    file.unlink()


def test_all_prompts_are_listed_with_their_costs(nvim: Neovim) -> None:
    nvim.command("edit prompts/triage.py")
    nvim.command("FoldlinePrompts")
    nvim.wait("vim.fn.bufname():find('//prompts$') ~= nil")
    shown = nvim.buffer()
    assert "prompts/triage.py\n  triage  ~" in shown
    assert " of 1,500 tokens\n    1. Task  ~" in shown
    assert "tokens, summarized" in shown
    nvim.command("call search('Policies')")
    nvim.keys("<CR>")
    assert nvim.text("return vim.fn.expand('%:t')") == "triage.py"
    assert nvim.number("return vim.fn.line('.')") > line_of("triage = ")


def test_a_section_is_opened_with_a_reason(nvim: Neovim) -> None:
    preview(nvim, "triage")
    nvim.lua("typed = 'A refund is asked for'")
    nvim.command("FoldlineOpen! policies")
    wait_for_text(nvim, "Refunds within")
    assert "Why: " in nvim.strings("return vim.tbl_map(function(a) return a.prompt end, asked)")
    nvim.command("FoldlineReset")


def test_all_sets_are_a_table_whose_numbers_lead_to_the_difference(nvim: Neovim) -> None:
    preview(nvim, "triage")
    nvim.command("FoldlineCompareSets")
    nvim.wait("vim.api.nvim_buf_get_name(0) == 'foldline://triage sets'")
    shown = nvim.strings("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
    heading, *rows = shown[: shown.index("")]
    assert heading.split() == ["free_user", "team_user", "enterprise_user"]
    assert rows[-1].startswith("Total")
    assert shown[-1].endswith("* not as in free_user")
    changed = [row for row in rows if row.endswith("*")]
    assert rows[-1] in changed
    assert len(changed) < len(rows)
    # The cursor on the number of the last set in the first line that differs.
    nvim.command(f"call cursor({rows.index(changed[0]) + 2}, 999)")
    nvim.lua("vim.cmd.normal(vim.keycode('<CR>'))")
    nvim.wait("vim.bo.syntax == 'diff'")
    text = nvim.text("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
    assert text.startswith("--- free_user\n+++ enterprise_user\n@@ ")
    nvim.command("close")
    same = next(number for number, row in enumerate(rows) if row not in changed)
    nvim.command(f"call cursor({same + 2}, 999)")
    nvim.lua("vim.cmd.normal(vim.keycode('<CR>'))")
    nvim.wait("#notified > 0")
    assert nvim.text("return notified[1]").endswith("with free_user and enterprise_user")
    nvim.command("normal! gg0")
    nvim.lua("vim.cmd.normal(vim.keycode('<CR>'))")
    nvim.wait("#notified > 1")
    assert "put the cursor on a number" in nvim.text("return notified[2]")


def test_sets_are_compared_with_the_one_that_is_named(nvim: Neovim) -> None:
    preview(nvim, "triage")
    nvim.command("FoldlineCompareSets team_user")
    nvim.wait("vim.api.nvim_buf_get_name(0) == 'foldline://triage sets'")
    shown = nvim.strings("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
    assert shown[-1].endswith("* not as in team_user")
    assert re.fullmatch(r"Task +\d+\* +\d+ +\d+\*", shown[1])
    nvim.command("close")
    nvim.command("FoldlineCompareSets nobody")
    nvim.wait("#notified > 0")
    assert "free_user: is rendered" in nvim.text("return notified[1]")


def test_a_prompt_is_rendered_once_with_another_set(nvim: Neovim) -> None:
    preview(nvim, "triage")
    nvim.command("FoldlineRender team_user")
    nvim.wait("vim.fn.bufname():find('triage with team_user') ~= nil")
    assert "**Grace**" in nvim.buffer()
    nvim.command("close")
    wait_for_text(nvim, "Ada")
    chosen(nvim, "enterprise_user")
    nvim.command("FoldlineRender")
    nvim.wait("vim.fn.bufname():find('triage with enterprise_user') ~= nil")
    assert "**Alan**" in nvim.buffer()


def test_a_second_preview_is_below_the_first_and_no_third_column(nvim: Neovim) -> None:
    preview(nvim, "triage")
    nvim.command("wincmd p | edit prompts/refund.py")
    nvim.command("FoldlinePreview")
    nvim.wait("bar():find('refund') ~= nil")
    layout = nvim.lua("return vim.fn.winlayout()")
    assert isinstance(layout, list)
    assert [one[0] for one in layout[1]] == ["leaf", "col"]
    assert nvim.lua("return vim.fn.winlayout()[2][2][2][2][2] == vim.api.nvim_get_current_win()")


def test_a_preview_is_opened_in_a_browser(nvim: Neovim) -> None:
    preview(nvim, "answer")
    nvim.lua("vim.ui.open = function(url) opened = url end")
    nvim.command("FoldlineBrowse")
    nvim.wait("opened ~= nil")
    assert nvim.text("return opened").startswith("http://127.0.0.1:")


def test_a_new_prompt_is_written_and_shown(nvim: Neovim, acme: Path) -> None:
    nvim.lua("typed = 'prompts/support.py'")
    nvim.command("FoldlineNew")
    nvim.wait("vim.bo.filetype == 'markdown' and bar():find(' tokens') ~= nil")
    assert nvim.text("return bar()").startswith(" support · ")
    nvim.command("FoldlineNew prompts/support.py")
    nvim.wait("#notified > 0")
    assert "exists, and is left alone" in nvim.notified()[0]
    (acme / "prompts" / "support.py").unlink()


def test_the_text_at_the_cursor_becomes_a_prompt(nvim: Neovim, acme: Path) -> None:
    nvim.command("edit prompts/legacy.py")
    # Nothing fills in `{name}` of the first line, so that the style is asked for.
    chosen(nvim, "format")
    nvim.command("FoldlineAdopt")
    nvim.wait("vim.fn.expand('%:t') == 'greeting_prompt.py'")
    assert "Hello ${name}, you are on ${plan}." in nvim.buffer()
    # Neovim's own way to show it ends in "Press ENTER".
    nvim.wait("#notified > 0")
    assert nvim.notified()[0].startswith("foldline: checked: ")
    assert "LSP[foldline]" not in nvim.text("return vim.fn.execute('messages')")
    nvim.command("silent! write")
    nvim.command("edit prompts/legacy.py")
    nvim.command("2")
    nvim.command("FoldlineAdopt")
    nvim.wait("vim.fn.expand('%:t') == 'welcome_prompt.py'")
    nvim.command("silent! write")
    for name in ("greeting", "welcome"):
        (acme / "prompts" / f"{name}_prompt.py").unlink()


def test_a_module_that_exists_is_opened_or_another_one_written(nvim: Neovim, acme: Path) -> None:
    module, other = acme / "prompts" / "welcome_prompt.py", acme / "prompts" / "other.py"
    module.write_text("mine = 1\n")
    nvim.command("edit prompts/legacy.py")
    chosen(nvim, "open ")
    nvim.command("FoldlineAdopt WELCOME")
    nvim.wait("vim.fn.expand('%:t') == 'welcome_prompt.py'")
    assert nvim.buffer() == "mine = 1"
    nvim.command("edit prompts/legacy.py")
    chosen(nvim, "write another")
    nvim.lua("typed = 'other.py'")
    nvim.command("FoldlineAdopt WELCOME")
    nvim.wait("vim.fn.expand('%:t') == 'other.py'")
    assert "PromptTemplate" in nvim.buffer()
    nvim.command("silent! write")
    assert module.read_text() == "mine = 1\n"
    module.unlink()
    other.unlink()


def test_the_texts_of_a_folder_are_offered(nvim: Neovim, acme: Path) -> None:
    nvim.command("edit prompts/legacy.py")
    chosen(nvim, "prompts/legacy.py:WELCOME")
    nvim.command("FoldlineAdopt prompts")
    nvim.wait("vim.fn.expand('%:t') == 'welcome_prompt.py'")
    assert "prompts/legacy.py:WELCOME  Jinja template, 52 characters, 2 fields" in offered(nvim)
    nvim.command("silent! write")
    (acme / "prompts" / "welcome_prompt.py").unlink()
