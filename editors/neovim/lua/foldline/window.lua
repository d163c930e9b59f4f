--- Where things are shown.
local M = {}

--- Shows the buffer in a new window: to the right, or where `:horizontal`, `:tab`, `:topleft` …
--- say.
---@param buf integer
---@param mods table? `smods` of a user command
function M.split(buf, mods)
  mods = vim.deepcopy(mods or {})
  if not mods.horizontal and not mods.vertical and (mods.tab or -1) < 0 then
    mods.vertical = true
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

return M
