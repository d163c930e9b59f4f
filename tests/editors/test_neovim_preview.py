"""The preview in a real Neovim, with a server that says exactly what a test wants it to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .neovim_process import Neovim, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = pytest.mark.real

SCRIPTED = f"dofile({quoted(str(Path(__file__).parent / 'neovim_scripted_server.lua'))})\n"
SELECT = """
questions = {}
vim.ui.select = function(items, options, chosen)
  table.insert(questions, options.prompt)
  chosen(items[choice])
end
"""


@pytest.fixture
def nvim(tmp_path: Path) -> Iterator[Neovim]:
    with start(tmp_path, "choice = 1") as process:
        yield process


def start(home: Path, init: str = "") -> Neovim:
    """A Neovim in which `home/project/review.py` is open and the scripted server attached."""
    project = home / "project"
    project.mkdir(exist_ok=True)
    (project / "pyproject.toml").touch()
    (project / "review.py").write_text("first\nsecond\nthird\n", encoding="utf-8")
    nvim = Neovim(home, "review.py", cwd=project, init=SCRIPTED + SELECT + init)
    nvim.wait("#vim.lsp.get_clients({ name = 'foldline', bufnr = 0 }) == 1")
    nvim.lua("uri = vim.uri_from_bufnr(0)")
    return nvim


def block(
    key: str,
    text: str,
    *,
    visibility: str = "FULL",
    opened: bool = False,
    line: int | None = None,
    uri: str = "",
) -> dict[str, object]:
    path = key.split(".")
    where = {"line": line, "character": 0}
    location = None if line is None else {"uri": uri, "range": {"start": where, "end": where}}
    return {
        "id": "/".join(path),
        "path": path,
        "key": key,
        "number": "1",
        "title": path[-1],
        "depth": len(path) - 1,
        "visibility": visibility,
        "enabled": True,
        "opened": opened,
        "text": text,
        "segments": [],
        "location": location,
    }


def update(
    uri: str,
    blocks: Sequence[dict[str, object]],
    *,
    order: Sequence[str] | None = None,
    stale: dict[str, object] | None = None,
    session: str = "one",
) -> str:
    return json.dumps(
        {
            "sessionId": session,
            "uri": uri,
            "name": "review",
            "version": 1,
            "fidelity": "executed",
            "order": [item["id"] for item in blocks] if order is None else order,
            "blocks": blocks,
            "tools": [],
            "stale": stale,
        }
    )


def answer(nvim: Neovim, command: str, result: str) -> None:
    said = '{"result": ' + result + "}"
    nvim.lua(f"answers[{quoted(command)}] = {quoted(said)}")


def refuse(nvim: Neovim, command: str, kind: str, message: str) -> None:
    error = {"code": -32803, "message": message, "data": {"kind": kind}}
    nvim.lua(f"answers[{quoted(command)}] = {quoted(json.dumps({'err': error}))}")


def push(nvim: Neovim, text: str) -> None:
    nvim.lua(f"push({quoted(text)})")


def list_one(nvim: Neovim) -> str:
    """Makes the file hold one prompt; returns the file's address."""
    uri = nvim.text("return uri")
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    prompt = {"uri": uri, "name": "review", "ns": "n", "key": "k", "range": where, "sections": []}
    answer(nvim, "prompt.list", json.dumps([prompt]))
    return uri


def preview(nvim: Neovim, *blocks: dict[str, object]) -> str:
    """Shows a preview of the blocks and is in it; returns the file's address."""
    uri = list_one(nvim)
    answer(nvim, "prompt.preview", update(uri, blocks))
    nvim.command("FoldlinePreview")
    nvim.wait("vim.bo.filetype == 'markdown'")
    return uri


TASK = block("task", "## 1. Task\n\nReview it.\n\n")
GUIDE = block("guide", "## 2. Guide\n\nIn short.\n\n", visibility="SUMMARY")
NOTES = block("notes", "## 3. Notes\n\nThe end.")


def test_a_preview_is_the_text_of_its_blocks_in_a_markdown_split(nvim: Neovim) -> None:
    preview(nvim, TASK, GUIDE, NOTES)
    assert nvim.buffer() == "".join(str(note["text"]) for note in (TASK, GUIDE, NOTES))
    assert nvim.lua("return { vim.bo.modifiable, vim.bo.buftype }") == [False, "nofile"]
    assert nvim.number("return #vim.api.nvim_list_wins()") == 2


def test_every_section_is_a_fold(nvim: Neovim) -> None:
    child = block("notes.deep", "### 3.1 Deep\n\nDeeper.\n")
    preview(nvim, TASK, block("notes", "## 3. Notes\n\n"), child)
    nvim.command("normal! zM")
    assert nvim.lua("return { vim.fn.foldclosed(1), vim.fn.foldclosedend(1) }") == [1, 4]
    nvim.command("normal! zR")
    assert nvim.lua("return { vim.fn.foldlevel(5), vim.fn.foldlevel(7) }") == [1, 2]
    nvim.command("7foldclose")
    assert nvim.lua("return { vim.fn.foldclosed(7), vim.fn.foldclosedend(7) }") == [7, 9]


def test_return_on_a_summary_opens_it_and_c_closes_it(nvim: Neovim) -> None:
    uri = preview(nvim, TASK, GUIDE, NOTES)
    opened = block("guide", "## 2. Guide\n\nAt length.\n\n", opened=True)
    order = ["task", "guide", "notes"]
    answer(nvim, "prompt.openSections", update(uri, [opened], order=order))
    nvim.command("5")
    nvim.keys("<CR>")
    nvim.wait("vim.fn.getline(7) == 'At length.'")
    (argument,) = arguments(nvim, "prompt.openSections")
    assert argument == {"sessionId": "one", "section_keys": ["guide"]}
    answer(nvim, "prompt.closeSections", update(uri, [GUIDE], order=order))
    nvim.keys("c")
    nvim.wait("vim.fn.getline(7) == 'In short.'")
    (argument,) = arguments(nvim, "prompt.closeSections")
    assert argument == {"sessionId": "one", "section_keys": ["guide"]}


def test_c_inside_a_child_closes_the_section_around_it_that_was_opened(nvim: Neovim) -> None:
    outer = block("guide", "## 2. Guide\n\n", opened=True)
    inner = block("guide.deep", "### 2.1 Deep\n\nDeeper.\n")
    uri = preview(nvim, TASK, outer, inner)
    answer(nvim, "prompt.closeSections", update(uri, [TASK, GUIDE]))
    nvim.command("$")
    nvim.keys("c")
    nvim.wait("#asked_for('prompt.closeSections') == 1")
    (argument,) = arguments(nvim, "prompt.closeSections")
    assert argument["section_keys"] == ["guide"]


def test_an_update_leaves_the_cursor_on_its_text(nvim: Neovim) -> None:
    uri = preview(nvim, TASK, GUIDE, NOTES)
    nvim.command("call cursor(11, 4)")
    longer = block("task", "## 1. Task\n\nOne.\nTwo.\nThree.\n\n")
    push(nvim, update(uri, [longer], order=["task", "guide", "notes"]))
    nvim.wait("vim.fn.getline(3) == 'One.'")
    assert nvim.lua("return { vim.fn.getline('.'), vim.fn.col('.') }") == ["The end.", 4]


def test_an_update_leaves_the_view_of_an_unfocused_preview(nvim: Neovim) -> None:
    lines = "\n".join(f"line {number}" for number in range(200))
    uri = preview(nvim, TASK, block("long", f"## Long\n\n{lines}\n"))
    nvim.command("120 | normal! zt")
    nvim.command("wincmd p")
    longer = block("task", "## 1. Task\n\nOne.\nTwo.\nThree.\n\n")
    push(nvim, update(uri, [longer], order=["task", "long"]))
    nvim.command("wincmd p")
    nvim.wait("vim.fn.getline(3) == 'One.'")
    top = "return { vim.fn.getline('w0'), vim.fn.getline('.') }"
    assert nvim.lua(top) == ["line 113", "line 113"]


def test_a_fold_that_was_closed_stays_closed(nvim: Neovim) -> None:
    uri = preview(nvim, TASK, GUIDE, NOTES)
    nvim.command("5foldclose")
    longer = block("task", "## 1. Task\n\nOne.\nTwo.\n\n")
    ended = block("notes", "## 3. Notes\n\nThe very end.")
    push(nvim, update(uri, [longer, ended], order=["task", "guide", "notes"]))
    nvim.wait("vim.fn.getline(3) == 'One.'")
    closed = "return { vim.fn.foldclosed(1), vim.fn.foldclosed(6), vim.fn.foldclosed(10) }"
    assert nvim.lua(closed) == [-1, 6, -1]


def test_a_failed_render_keeps_the_text_below_a_banner(nvim: Neovim) -> None:
    uri = preview(nvim, TASK)
    stale = {"kind": "exception", "message": "100% broken", "file": "/a/review.py", "line": 7}
    push(nvim, update(uri, [], order=["task"], stale=stale))
    nvim.wait("bar():find('broken') ~= nil")
    parts = ("review.py:7: 100% broken", "last good text", "g! goes there")
    assert nvim.text("return bar()") == " · ".join((" review", *parts))
    assert nvim.buffer() == "## 1. Task\n\nReview it.\n"
    push(nvim, update(uri, [], order=["task"]))
    nvim.wait("bar():find('broken') == nil")


def with_facts(text: str, **facts: object) -> str:
    return json.dumps({**json.loads(text), **facts})


def tokens(text: int, tools: int = 0, output: int = 0) -> dict[str, object]:
    total = text + tools + output
    counted = {"text": text, "tools": tools, "output": output, "total": total}
    words = [f"{total:,} tokens", f"Tools: {tools} tokens", f"Output schema: {output} tokens"]
    return {**counted, "encoding": "o200k", "exact": True, "words": words}


def test_the_bar_says_what_it_costs_what_is_cached_and_what_it_does(nvim: Neovim) -> None:
    uri = preview(nvim, TASK)
    assert nvim.text("return bar()") == " review"
    told = {
        "tokens": tokens(1412, 105, 245),
        "budget": {"limit": 1500, "unit": "tokens", "used": 1762, "over": 262}
        | {"words": "1,762 of 1,500 tokens (262 over)", "largest": []},
        "kept": {"tools": True, "cached": 405, "words": "405 tokens reusable from cache"},
        "cache": {"sentence": "Can be cached: 90 tokens", "cached": 90, "breakpoints": []}
        | {"stages": []},
        "effects": [{"line": 5, "message": "opened a connection"}],
        "generated": ["Task.name"],
        "parameter_set": "polish",
        "interpreter": {"path": "/a/python", "reason": "r", "python": "3.12.1"}
        | {"mismatch": "built for 3.13"},
    }
    push(nvim, with_facts(update(uri, [], order=["task"]), **told))
    nvim.lua("vim.o.columns = 600 vim.cmd.wincmd('=')")
    bar = " · ".join(
        [
            " review",
            "polish",
            "1,762 of 1,500 tokens (262 over)",
            "1 value made up",
            "line 5 opened a connection",
            "built for 3.13",
        ]
    )
    nvim.wait(f"bar() == {quoted(bar)}")
    # What has no room is left out; what is left is whole.
    nvim.lua("vim.o.columns = 110 vim.cmd.wincmd('=')")
    assert nvim.text("return bar()") == " review · polish · 1,762 of 1,500 tokens (262 over)"
    # A key shows the rest.
    assert nvim.floating("vim.api.nvim_feedkeys('K', 'x', false)").split("\n")[:5] == [
        "1,762 tokens",
        "Tools: 105 tokens",
        "Output schema: 245 tokens",
        "0 of 1 sections summarized",
        "After the last change: 405 tokens reusable from cache",
    ]


def test_the_bar_says_an_error_before_anything_else(nvim: Neovim) -> None:
    uri = preview(nvim, TASK)
    module = uri.removeprefix("file://")
    message = "review.py:85: SyntaxError: invalid syntax (review.py, line 85)"
    stale: dict[str, object] = {"kind": "exception", "message": message, "file": module, "line": 85}
    push(nvim, update(uri, [], order=["task"], stale=stale))
    nvim.lua("vim.o.columns = 60 vim.cmd.wincmd('=')")
    nvim.wait("bar():find('line 85') ~= nil")
    assert nvim.text("return bar()") == " review · line 85: SyntaxErr…"
    other = {**stale, "file": "/elsewhere/rules.py"}
    push(nvim, update(uri, [], order=["task"], stale=other))
    nvim.lua("vim.o.columns = 110 vim.cmd.wincmd('=')")
    nvim.wait("bar() == ' review · rules.py:85: SyntaxError: invalid syntax'")


ROLES = """
local found = {}
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })) do
  if mark[4].virt_text_pos == 'right_align' then
    table.insert(found, { mark[2] + 1, mark[4].virt_text[1][1] })
  end
end
return found
"""


def test_the_parts_of_a_prompt_say_the_role_that_they_have(nvim: Neovim) -> None:
    uri = preview(nvim, TASK)
    assert nvim.lua(ROLES) == [], "one message of the user needs no name"
    rules = {**block("rules", "## 1. Rules\n\nBe kind.\n\n"), "role": "system"}
    more = {**block("rules.more", "### 1.1. More\n\nAlways.\n\n"), "role": "system"}
    push(nvim, update(uri, [rules, more], order=["rules", "rules/more", "task"]))
    nvim.wait("vim.fn.getline(1) == '## 1. Rules'")
    assert nvim.lua(ROLES) == [[1, "system message"], [9, "user message"]]


def test_the_cache_plan_is_shown_as_a_list(nvim: Neovim) -> None:
    uri = preview(nvim, TASK)
    assert nvim.floating("vim.cmd.FoldlineCachePlan()").split("\n") == [
        "0 of 1 sections summarized",
        "",
        "Nothing is known of what a cache can keep.",
    ]
    kept = "Cache breakpoint here: stays the same in every request of a deployment"
    stages = [
        {"first": "tools", "last": "task", "tokens": 90, "why": "stable: task (name)"}
        | {"change": 95, "breakpoint": kept},
        {"first": "task", "last": "task", "tokens": 5, "why": "per request: task (request)"}
        | {"change": 5, "breakpoint": None},
    ]
    plan = {"sentence": "cacheable: 90 tokens", "stages": stages}
    push(nvim, with_facts(update(uri, [], order=["task"]), cache=plan))
    nvim.wait("require('foldline.preview').current().cache ~= nil")
    assert nvim.floating("vim.api.nvim_feedkeys('K', 'x', false)").split("\n")[2:] == [
        "cacheable: 90 tokens",
        "",
        "tools … task: 90 tokens, stable: task (name); re-read if changed: 95",
        f"── {kept}",
        "task: 5 tokens, per request: task (request); re-read if changed: 5",
    ]


def test_a_section_that_is_not_rendered_is_named_in_the_bar(nvim: Neovim) -> None:
    uri = preview(nvim, TASK)
    failed = {**TASK, "error": {"message": "review.py:7: KeyError", "line": 7}}
    push(nvim, update(uri, [failed]))
    nvim.wait("bar() == ' review · line 7: KeyError · task is not rendered · g! goes there'")
    nvim.keys("g!")
    assert nvim.text("return vim.fn.expand('%:t')") == "review.py"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("untrusted", "source only (run :FoldlineTrust to execute)"),
        ("exception", "review · no · source only"),
    ],
)
def test_what_the_source_alone_shows_is_said_to_be_that(
    nvim: Neovim, kind: str, words: str
) -> None:
    uri = list_one(nvim)
    stale: dict[str, object] = {"kind": kind, "message": "no", "file": None, "line": None}
    answer(nvim, "prompt.preview", with_facts(update(uri, [TASK], stale=stale), fidelity="static"))
    nvim.command("FoldlinePreview")
    nvim.wait("vim.bo.filetype == 'markdown'")
    assert nvim.buffer() == "## 1. Task\n\nReview it.\n"
    assert words in nvim.text("return bar()")


def test_a_prompt_that_never_rendered_has_a_banner_until_it_does(nvim: Neovim) -> None:
    uri = list_one(nvim)
    stale = {"kind": "exception", "message": "broken", "file": "/a/review.py", "line": 7}
    answer(nvim, "prompt.preview", update(uri, [], stale=stale))
    nvim.command("FoldlinePreview")
    nvim.wait("vim.bo.filetype == 'markdown'")
    assert " review · review.py:7: broken · no text yet · g! goes there" in nvim.text(
        "return bar()"
    )
    push(nvim, update(uri, [TASK]))
    nvim.wait("bar():find('broken') == nil")
    assert nvim.buffer() == "## 1. Task\n\nReview it.\n"


def test_a_server_that_comes_back_to_a_broken_file_leaves_the_text_and_what_is_open(
    nvim: Neovim,
) -> None:
    opened = block("guide", "## 2. Guide\n\nAt length.\n", opened=True)
    uri = preview(nvim, TASK, opened)
    nvim.lua("vim.lsp.get_clients({ name = 'foldline' })[1]:stop(true)")
    nvim.wait("bar():find('stopped') ~= nil")
    broken = update(uri, [], stale={"kind": "exception", "message": "broken"}, session="two")
    answer(nvim, "prompt.preview", broken)
    answer(nvim, "prompt.openSections", update(uri, [TASK, opened], session="two"))
    nvim.command("wincmd p | edit")
    nvim.command("wincmd p")
    nvim.wait("bar():find('broken') ~= nil")
    assert "At length." in nvim.buffer()
    push(nvim, update(uri, [TASK, GUIDE], session="two"))
    nvim.wait("#asked_for('prompt.openSections') == 1")
    nvim.wait("bar() == ' review'")
    assert "At length." in nvim.buffer()


def test_an_update_of_another_session_changes_nothing(nvim: Neovim) -> None:
    uri = preview(nvim, TASK)
    before = nvim.buffer()
    push(nvim, update(uri, [block("task", "other")], session="another"))
    push(nvim, update(uri, [], order=["task"], stale={"kind": "x", "message": "seen"}))
    nvim.wait("bar():find('seen') ~= nil")
    assert nvim.buffer() == before


def place(uri: str, line: int, start: int, end: int) -> dict[str, object]:
    ends = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"what": "there", "location": {"uri": uri, "range": ends}}


def origin(*places: dict[str, object], exact: bool = True) -> str:
    return json.dumps({"words": "It is there", "exact": exact, "places": places})


HERE = "return { vim.fn.expand('%:t'), vim.fn.line('.'), vim.fn.col('.') }"


def test_gd_goes_to_the_source_of_the_character_in_the_window_that_shows_it(nvim: Neovim) -> None:
    uri = nvim.text("return uri")
    answer(nvim, "prompt.origin", origin(place(uri, 2, 3, 4)))
    preview(nvim, block("task", "## 1. Task\n\n\U0001f600 is\n"))
    nvim.keys("Gw")
    nvim.keys("gd")
    nvim.wait("vim.fn.expand('%:t') == 'review.py'")
    assert nvim.lua(HERE) == ["review.py", 3, 4]
    assert nvim.lua("return #vim.api.nvim_list_wins()") == 2
    asked = nvim.lua("return asked_for('prompt.origin')")
    assert isinstance(asked, list)
    # An emoji is two units of UTF-16.
    assert asked[-1] == {"sessionId": "one", "section_key": "task", "offset": 15}
    assert nvim.notified() == []


def test_gd_from_the_only_window_keeps_the_preview(nvim: Neovim) -> None:
    answer(nvim, "prompt.origin", origin(place(nvim.text("return uri"), 1, 0, 1)))
    preview(nvim, block("task", "## 1. Task\n"))
    nvim.command("only")
    nvim.keys("gd")
    nvim.wait("#vim.api.nvim_list_wins() == 2")
    assert nvim.lua(HERE) == ["review.py", 2, 1]


def test_gd_says_the_further_places_and_a_count_goes_to_one(nvim: Neovim) -> None:
    uri = nvim.text("return uri")
    answer(nvim, "prompt.origin", origin(place(uri, 0, 0, 1), place(uri, 2, 1, 2)))
    preview(nvim, block("task", "## 1. Task\n"))
    nvim.keys("2gd")
    nvim.wait("vim.fn.expand('%:t') == 'review.py'")
    assert nvim.lua(HERE) == ["review.py", 3, 2]
    assert nvim.notified() == ["foldline: It is there"]


def test_gd_says_when_the_source_is_not_known(nvim: Neovim) -> None:
    answer(nvim, "prompt.origin", origin(exact=False))
    preview(nvim, TASK)
    nvim.keys("gd")
    nvim.wait("#notified > 0")
    assert nvim.notified() == ["foldline: It is there"]


def test_closing_the_preview_tells_the_server(nvim: Neovim) -> None:
    preview(nvim, TASK)
    nvim.command("close")
    assert arguments(nvim, "prompt.closePreview") == [{"sessionId": "one"}]


def test_a_closed_preview_can_be_shown_again(nvim: Neovim) -> None:
    preview(nvim, TASK)
    nvim.command("close | FoldlinePreview")
    nvim.wait("vim.bo.filetype == 'markdown'")
    assert nvim.buffer() == "## 1. Task\n\nReview it.\n"
    assert len(arguments(nvim, "prompt.preview")) == 2


def test_the_same_prompt_is_not_previewed_twice(nvim: Neovim) -> None:
    preview(nvim, TASK)
    nvim.command("wincmd p")
    nvim.command("FoldlinePreview review")
    nvim.wait("vim.bo.filetype == 'markdown'")
    assert nvim.number("return #vim.api.nvim_list_wins()") == 2
    assert len(arguments(nvim, "prompt.preview")) == 1


def test_a_preview_whose_server_is_gone_says_so_and_comes_back_with_it(nvim: Neovim) -> None:
    opened = block("guide", "## 2. Guide\n\nAt length.\n", opened=True)
    uri = preview(nvim, TASK, opened)
    nvim.lua("vim.lsp.get_clients({ name = 'foldline' })[1]:stop(true)")
    nvim.wait("bar():find('stopped') ~= nil")
    assert "At length." in nvim.buffer()
    answer(nvim, "prompt.preview", update(uri, [TASK, GUIDE], session="two"))
    answer(nvim, "prompt.openSections", update(uri, [TASK, opened], session="two"))
    nvim.command("wincmd p | edit")
    nvim.wait("#asked_for('prompt.openSections') == 1")
    nvim.command("wincmd p")
    nvim.wait("bar() == ' review'")
    (argument,) = arguments(nvim, "prompt.openSections")
    assert argument == {"sessionId": "two", "section_keys": ["guide"]}


def test_open_completes_and_names_what_can_be_opened(nvim: Neovim) -> None:
    uri = preview(nvim, TASK, GUIDE, block("guild", "## 4. Guild\n", visibility="SUMMARY"))
    completed = "return vim.fn.getcompletion('FoldlineOpen gu', 'cmdline')"
    assert nvim.strings(completed) == ["guide", "guild"]
    assert nvim.strings("return vim.fn.getcompletion('FoldlineClose ', 'cmdline')") == []
    nvim.command("wincmd p")
    answer(nvim, "prompt.openSections", update(uri, [TASK]))
    nvim.command("FoldlineOpen guild")
    nvim.wait("#asked_for('prompt.openSections') == 1")
    (argument,) = arguments(nvim, "prompt.openSections")
    assert argument["section_keys"] == ["guild"]


def test_open_without_a_key_asks_which(nvim: Neovim) -> None:
    uri = preview(nvim, TASK, GUIDE)
    answer(nvim, "prompt.openSections", update(uri, [TASK]))
    nvim.command("FoldlineOpen")
    nvim.wait("#asked_for('prompt.openSections') == 1")
    assert nvim.strings("return questions")[-1] == "Open which section?"


def test_open_without_a_preview_shows_it_first(nvim: Neovim) -> None:
    uri = list_one(nvim)
    answer(nvim, "prompt.preview", update(uri, [TASK, GUIDE]))
    answer(nvim, "prompt.openSections", update(uri, [TASK]))
    nvim.command("FoldlineOpen guide")
    nvim.wait("#asked_for('prompt.openSections') == 1")
    assert nvim.text("return vim.bo.filetype") == "markdown"


def test_a_refusal_of_the_server_is_shown(nvim: Neovim) -> None:
    preview(nvim, TASK)
    refuse(nvim, "prompt.openSections", "no_section", "no section 'x'; near: task")
    nvim.command("FoldlineOpen x")
    nvim.wait("#notified > 0")
    assert nvim.notified() == ["foldline: no section 'x'; near: task"]


def test_the_outline_leads_to_the_source(nvim: Neovim) -> None:
    outline = "review.py python, 3 lines\n2-3 class Review\n  3 def run(self)"
    answer(nvim, "code.outline", json.dumps({"text": outline}))
    nvim.command("FoldlineOutline")
    nvim.wait("vim.bo.buftype == 'nofile'")
    assert nvim.buffer() == outline
    nvim.command("3")
    nvim.keys("<CR>")
    assert nvim.lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }") == ["review.py", 3]
    nvim.command("FoldlineOutline")
    nvim.wait("vim.bo.buftype == 'nofile'")
    assert nvim.number("return #vim.api.nvim_list_wins()") == 2


def test_the_lens_shows_the_prompt_it_stands_on(nvim: Neovim) -> None:
    uri = nvim.text("return uri")
    answer(nvim, "prompt.preview", update(uri, [TASK]))
    lens = {
        "title": "Preview",
        "command": "foldline.preview",
        "arguments": [{"uri": uri, "name": "review"}],
    }
    nvim.lua(f"vim.lsp.get_clients()[1]:exec_cmd(vim.json.decode({quoted(json.dumps(lens))}))")
    nvim.wait("vim.bo.filetype == 'markdown'")
    assert arguments(nvim, "prompt.preview") == [{"uri": uri, "name": "review"}]


def test_trust_is_asked_once_and_remembered(tmp_path: Path) -> None:
    with start(tmp_path, "choice = 1") as nvim:
        assert trusted_at_start(nvim) is False
        preview(nvim, TASK)
        nvim.command("wincmd p | FoldlinePreview")
        assert len(nvim.strings("return questions")) == 1
        assert arguments(nvim, "foldline/didChangeTrust") == [{"trusted": True}]
    with start(tmp_path, "choice = 1") as nvim:
        assert trusted_at_start(nvim) is True
        preview(nvim, TASK)
        assert nvim.strings("return questions") == []


def test_a_refused_trust_is_remembered_and_can_be_changed(tmp_path: Path) -> None:
    with start(tmp_path, "choice = 2") as nvim:
        uri = list_one(nvim)
        refuse(nvim, "prompt.preview", "untrusted", "no")
        nvim.command("FoldlinePreview")
        nvim.wait("#notified > 0")
        assert nvim.notified() == [
            "foldline: this folder is not trusted, so nothing of it is run: :FoldlineTrust"
        ]
        nvim.command("FoldlinePreview")
        nvim.wait("#notified > 1")
        assert len(nvim.strings("return questions")) == 1
        answer(nvim, "prompt.preview", update(uri, [TASK]))
        nvim.command("FoldlineTrust")
        assert arguments(nvim, "foldline/didChangeTrust")[-1] == {"trusted": True}
        nvim.command("FoldlineTrust!")
        assert arguments(nvim, "foldline/didChangeTrust")[-1] == {"trusted": False}


def test_a_question_turned_away_is_asked_again(tmp_path: Path) -> None:
    with start(tmp_path, "choice = 3") as nvim:
        preview(nvim, TASK)
        nvim.command("close | FoldlinePreview")
        nvim.wait("#questions == 2")
        assert arguments(nvim, "foldline/didChangeTrust") == []


def test_the_answer_for_a_folder_holds_below_it_and_not_beside_it(tmp_path: Path) -> None:
    for folder in ("a/b", "ab"):
        (tmp_path / folder).mkdir(parents=True)
    with start(tmp_path) as nvim:
        trust = f"require('foldline.trust').%s({quoted(str(tmp_path))} .. '/%s'%s)"
        nvim.lua(trust % ("set", "a", ", true"))
        decided = [
            nvim.lua("return " + trust % ("decision", folder, "")) for folder in ("a/b", "ab", "")
        ]
        assert decided == [True, None, None]
        nvim.lua(trust % ("set", "a/b", ", false"))
        assert nvim.lua("return " + trust % ("decision", "a/b", "")) is False


def test_a_damaged_trust_file_trusts_nothing(tmp_path: Path) -> None:
    store = tmp_path / "data" / "nvim" / "foldline" / "trust.json"
    store.parent.mkdir(parents=True)
    store.write_text('{"folders": "all"}', encoding="utf-8")
    with start(tmp_path) as nvim:
        assert trusted_at_start(nvim) is False
        nvim.command("checkhealth foldline")
        assert f"{store} is not a list of folders" in nvim.buffer()


def test_a_file_of_no_project_is_at_home_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    with Neovim(tmp_path, "alone/module.py", init=SCRIPTED) as nvim:
        nvim.wait("#vim.lsp.get_clients({ name = 'foldline', bufnr = 0 }) == 1")
        root = "return vim.lsp.get_clients({ name = 'foldline', bufnr = 0 })[1].root_dir"
        assert nvim.text(root) == str(tmp_path / "alone")
        nvim.command("enew | setfiletype python")
        nvim.wait("#vim.lsp.get_clients({ name = 'foldline', bufnr = 0 }) == 1")
        assert nvim.text(root) == str(tmp_path)


def test_nothing_is_loaded_and_no_key_is_taken_before_a_command_is_used(tmp_path: Path) -> None:
    with Neovim(tmp_path) as nvim:
        assert (
            nvim.strings(
                "return vim.tbl_filter(function(name) return vim.startswith(name, 'foldline') end,"
                " vim.tbl_keys(package.loaded))"
            )
            == []
        )
        taken = nvim.strings(
            "local keys = {}"
            " for _, mode in ipairs({ 'n', 'v', 'o', 'i', 't' }) do"
            "  for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do"
            "   if vim.inspect(map):find('oldline') then table.insert(keys, map.lhs) end"
            "  end"
            " end"
            " return keys"
        )
        assert taken
        assert all(keys.startswith("<Plug>(foldline-") for keys in taken)


def test_the_help_names_every_command(tmp_path: Path) -> None:
    with Neovim(tmp_path) as nvim:
        nvim.lua(
            "local doc = vim.fn.tempname()\n"
            "vim.fn.mkdir(doc .. '/doc', 'p')\n"
            "vim.fn.writefile(vim.fn.readfile(os.getenv('FOLDLINE_PLUGIN') .. '/doc/foldline.txt'),"
            " doc .. '/doc/foldline.txt')\n"
            "vim.cmd.helptags(doc .. '/doc')\n"
            "vim.opt.runtimepath:append(doc)"
        )
        commands = nvim.strings("return vim.fn.getcompletion('Foldline', 'command')")
        assert len(commands) > 1
        for command in commands:
            nvim.command(f"help :{command}")
            assert f"*:{command}*" in nvim.text("return vim.api.nvim_get_current_line()")


lines = st.lists(st.sampled_from(["", "a", "b", "ü 🙂", "## x"]), min_size=1, max_size=8)
texts = st.lists(lines.map("\n".join), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    with start(tmp_path_factory.mktemp("shared"), "choice = 1") as nvim:
        preview(nvim, TASK)
        yield nvim


@settings(settings.get_profile("costly"))
@given(versions=st.lists(texts, min_size=2, max_size=3))
def test_any_series_of_updates_ends_in_the_text_of_the_last(
    shared: Neovim, versions: list[list[str]]
) -> None:
    uri = shared.text("return uri")
    for version in versions:
        blocks = [block(f"s{number}", f"{text}\n") for number, text in enumerate(version)]
        push(shared, update(uri, blocks))
    expected = "".join(f"{text}\n" for text in versions[-1]).removesuffix("\n")
    assert shared.buffer() == expected
    levels = shared.lua("return vim.tbl_map(vim.fn.foldlevel, vim.fn.range(1, vim.fn.line('$')))")
    assert levels == [1] * (expected.count("\n") + 1)


def arguments(nvim: Neovim, what: str) -> list[dict[str, object]]:
    """The argument of each time that the server was asked, or told, something."""
    found = nvim.lua(f"return asked_for({quoted(what)})")
    assert isinstance(found, list)
    return found


def trusted_at_start(nvim: Neovim) -> object:
    (options,) = arguments(nvim, "initialize")
    return options["trusted"]
