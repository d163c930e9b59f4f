"""A real Neovim without a screen, told what to do in Lua."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

HERE = Path(__file__).parent
PLUGIN = HERE.parent.parent / "editors" / "neovim"
BIN = Path(sys.executable).parent
DEADLINE = 120.0

INIT = """
vim.opt.runtimepath:prepend(os.getenv('FOLDLINE_PLUGIN'))
vim.lsp.enable('foldline')
vim.g.loaded_python3_provider = 0 -- looking for one takes longer than a test
notified = {}
vim.notify = function(message) table.insert(notified, message) end
vim.o.columns, vim.o.lines = 200, 40
-- What the winbar of a window says.
function bar(win)
  win = win or vim.api.nvim_get_current_win()
  local shown = vim.wo[win].winbar
  return vim.api.nvim_eval_statusline(shown, { winid = win, use_winbar = true }).str
end
"""


def quoted(text: str) -> str:
    """The text as a literal of Lua."""
    return json.dumps(text, ensure_ascii=False)


class Neovim:
    """A Neovim whose home, configuration and data are its own; it ends with the `with` block.

    `init` is added to what a user puts into init.lua to use the plugin.
    """

    def __init__(self, home: Path, *files: str, cwd: Path | None = None, init: str = "") -> None:
        config = home / "config" / "nvim"
        config.mkdir(parents=True, exist_ok=True)
        (config / "init.lua").write_text(INIT + init, encoding="utf-8")
        folders = {
            f"XDG_{kind}_HOME": str(home / kind.lower())
            for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NVIM")},
            **folders,
            "HOME": str(home),
            "VIRTUAL_ENV": str(BIN.parent),
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "FOLDLINE_PLUGIN": str(PLUGIN),
        }
        self._process = subprocess.Popen(
            [BIN / "nvim", "--headless", "-S", HERE / "neovim_channel.lua", "--", *files],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd or home,
            env=environment,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Neovim:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                # A callback that fails tells nobody but this.
                assert self.lua("return vim.v.errmsg") == "", self._scene()
        finally:
            self._stop()

    def lua(self, code: str) -> object:
        """What the Lua returns.

        Raises:
            AssertionError: It failed, or Neovim was not done before the deadline.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        watchdog = threading.Timer(DEADLINE, self._process.kill)
        watchdog.start()
        try:
            self._process.stdin.write(json.dumps(code) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        finally:
            watchdog.cancel()
        assert line, f"Neovim has ended, or was stopped after {DEADLINE} s, at:\n{code}"
        answer: dict[str, object] = json.loads(line)
        assert "problem" not in answer, f"{answer['problem']}\n{code}"
        return answer.get("result")

    def text(self, code: str) -> str:
        """What the Lua returns, which is a string."""
        answer = self.lua(code)
        assert isinstance(answer, str)
        return answer

    def number(self, code: str) -> int:
        """What the Lua returns, which is a whole number."""
        answer = self.lua(code)
        assert isinstance(answer, int)
        return answer

    def strings(self, code: str) -> list[str]:
        """What the Lua returns, which is a list of strings."""
        answer = self.lua(code)
        assert isinstance(answer, list)
        return [str(item) for item in answer]

    def command(self, command: str) -> str:
        """Runs an Ex command, as typed after `:`; returns what it prints."""
        # Printed, it would land among the answers.
        return self.text(
            f"return vim.api.nvim_exec2({quoted(command)}, {{ output = true }}).output"
        )

    def keys(self, keys: str) -> None:
        """Types keys, written as in a mapping (`<CR>`); mappings apply."""
        self.lua(f"vim.api.nvim_feedkeys(vim.keycode({quoted(keys)}), 'xt', false)")

    def floating(self, opener: str) -> str:
        """The text of the floating window that the Lua opens, at once or later.

        One request opens and reads it: the next `CursorMoved` closes it, and Neovim fires a
        pending one as soon as it is idle.
        """
        return self.text(
            f"""
            {opener}
            local function floating()
              return vim.iter(vim.api.nvim_list_wins()):find(function(win)
                return vim.api.nvim_win_get_config(win).relative ~= ''
              end)
            end
            assert(vim.wait(60000, floating, 10), 'no floating window came')
            local buf = vim.api.nvim_win_get_buf(floating())
            return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n')
            """
        )

    def wait(self, condition: str, seconds: float = 60.0) -> None:
        """Waits until the Lua expression is true; says what is on the screen when it is not."""
        came = self.lua(
            f"return vim.wait({int(seconds * 1000)}, function() return {condition} end, 10)"
        )
        assert came, f"never came true: {condition}\n{self._scene()}"

    def screen(self, columns: int, lines: int) -> str:
        """What a terminal of that size shows, without the spaces at the ends of its lines."""
        rows = self.strings(
            f"""
            vim.o.columns, vim.o.lines = {columns}, {lines}
            vim.cmd.wincmd('=')
            vim.cmd.redraw({{ bang = true }})
            local rows = {{}}
            for row = 1, vim.o.lines do
              local cells = {{}}
              for column = 1, vim.o.columns do
                cells[column] = vim.fn.screenstring(row, column)
              end
              rows[row] = table.concat(cells)
            end
            return rows
            """
        )
        return "\n".join(row.rstrip() for row in rows).rstrip() + "\n"

    def buffer(self) -> str:
        """The text of the current buffer."""
        return self.text("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")

    def notified(self) -> list[str]:
        """The messages that the plugin has shown."""
        return self.strings("return notified")

    def _stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._process.stdout.close()

    def _scene(self) -> str:
        return self.text(
            """
            local log = io.open(vim.lsp.log.get_filename())
            return table.concat({
              'buffer: ' .. vim.api.nvim_buf_get_name(0),
              table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n'),
              'notified: ' .. vim.inspect(notified),
              'messages: ' .. vim.fn.execute('messages'),
              'log: ' .. (log and log:read('*a') or ''):sub(-3000),
            }, '\\n')
            """
        )
