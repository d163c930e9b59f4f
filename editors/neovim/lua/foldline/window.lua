--- Where things are shown.
local M = {}

--- Shows the buffer in a new window: to the right, or where `:horizontal`, `:tab`, `:topleft` …
--- say.
---@param buf integer
---@param mods table? `smods` of a user command
---@param narrow integer? below a window that has fewer columns, where `mods` say nothing
function M.split(buf, mods, narrow)
  mods = vim.deepcopy(mods or {})
  if not mods.horizontal and not mods.vertical and (mods.tab or -1) < 0 then
    mods.vertical = vim.api.nvim_win_get_width(0) >= (narrow or 0)
    mods.split = (mods.split or '') ~= '' and mods.split or 'belowright'
  end
  vim.cmd.split({
    mods = {
      horizontal = mods.horizontal,
      vertical = mods.vertical,
      split = mods.split,
      tab = mods.tab,
    },
  })
  vim.api.nvim_win_set_buf(0, buf)
end

--- Makes a window that shows the buffer the current one, and never hides a preview for it: the
--- window it has in this tab, the one the user came from, or a new one.
---@param buf integer
function M.go_to(buf)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf then
      return vim.api.nvim_set_current_win(win)
    end
  end
  vim.cmd.wincmd('p')
  if vim.bo.buftype ~= '' then
    vim.cmd.split({ mods = { split = 'aboveleft', vertical = true } })
  end
  vim.api.nvim_win_set_buf(0, buf)
end

--- Goes to a line of a buffer; where the user was is in the jump list.
---@param buf integer
---@param line integer 1-based; one behind the end is the last
function M.go_to_line(buf, line)
  M.go_to(buf)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { math.min(line, vim.api.nvim_buf_line_count(0)), 0 })
  vim.cmd('normal! ^zv')
end

--- Goes to a line of a file.
---@param file string
---@param line integer
function M.go_to_file(file, line)
  local buf = vim.fn.bufadd(file)
  vim.fn.bufload(buf)
  vim.bo[buf].buflisted = true
  M.go_to_line(buf, line)
end

return M
