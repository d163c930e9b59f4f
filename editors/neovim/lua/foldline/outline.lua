--- The outline of a file in a split, whose lines lead to the source.
local M = {}

---@param text string what the server says: a header, then lines that begin with their line numbers
---@param source integer
---@param mods table?
function M.show(text, source, mods)
  local file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(source), ':~:.')
  local lines = vim.split(text, '\n', { plain = true })
  require('foldline.scratch').show({
    title = file .. ' outline',
    lines = lines,
    syntax = 'python',
    numbers = true,
    folds = true,
    source = source,
    follow = function(number)
      local line = number > 1 and lines[number]:match('^%s*(%d+)')
      if line and vim.api.nvim_buf_is_loaded(source) then
        require('foldline.window').go_to_line(source, tonumber(line) --[[@as integer]])
      end
    end,
  }, mods)
end

return M
