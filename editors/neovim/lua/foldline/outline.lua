--- The outline of a file in a split, whose lines lead to the source.
local M = {}

local fill, jump

---@param text string what the server says: a header, then lines that begin with their line numbers
---@param source integer
---@param mods table?
function M.show(text, source, mods)
  local file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(source), ':~:.')
  local name = ('foldline://%s outline'):format(file)
  local shown = vim.fn.bufnr(vim.fn.fnameescape(name))
  if shown > 0 then
    vim.api.nvim_buf_delete(shown, { force = true })
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].bufhidden = 'wipe'
  fill(buf, vim.split(text, '\n', { plain = true }))
  require('foldline.window').split(buf, mods)
  vim.wo[0][0].wrap = false
  vim.wo[0][0].number = false
  for _, keys in ipairs({ '<CR>', 'gd' }) do
    vim.keymap.set('n', keys, function()
      jump(source)
    end, { buffer = buf, desc = 'Go to the source of this line' })
  end
end

---@param buf integer
---@param lines string[]
function fill(buf, lines)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  local marks = vim.api.nvim_create_namespace('foldline.outline')
  for number, line in ipairs(lines) do
    local _, stop = line:find('^%s*%d[%d-]*')
    if stop and number > 1 then
      vim.api.nvim_buf_set_extmark(
        buf,
        marks,
        number - 1,
        0,
        { end_col = stop, hl_group = 'LineNr' }
      )
    end
  end
end

---@param source integer
function jump(source)
  local line = vim.api.nvim_get_current_line():match('^%s*(%d+)')
  if line and vim.api.nvim_win_get_cursor(0)[1] > 1 and vim.api.nvim_buf_is_loaded(source) then
    require('foldline.window').go_to(source)
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { math.min(tonumber(line), vim.api.nvim_buf_line_count(0)), 0 })
    vim.cmd('normal! ^zv')
  end
end

return M
