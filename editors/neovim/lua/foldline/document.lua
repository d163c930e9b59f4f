--- Prompts as documents: `:edit foldline-prompt:///path/to/module.py/name.md` asks the server for
--- the text, which follows its source while a window shows it.
local M = {}

local METHOD = 'workspace/textDocumentContent'

local ask, fill

--- Loads the buffer, which is named by the address.
---@param buf integer
function M.read(buf)
  vim.bo[buf].buftype = 'nofile'
  -- Nothing is rendered for a document that no window shows.
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].swapfile = false
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = 'markdown'
  ask(buf)
end

--- Asks again for what the server says may have changed, if it is shown.
---@param params { uri: lsp.DocumentUri }
function M.on_refresh(params)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) == params.uri then
      ask(buf)
    end
  end
  return vim.NIL
end

---@param buf integer
function ask(buf)
  local foldline = require('foldline')
  local client = foldline.client(buf)
  if not client then
    return
  end
  client:request(METHOD, { uri = vim.api.nvim_buf_get_name(buf) }, function(err, result)
    if err then
      return foldline.report(err)
    end
    if vim.api.nvim_buf_is_loaded(buf) then
      fill(buf, vim.split(result.text, '\n', { plain = true }))
    end
  end, buf)
end

--- Windows stay where they are in the text, by their line.
---@param buf integer
---@param lines string[]
function fill(buf, lines)
  local views = {} ---@type table<integer, vim.fn.winsaveview.ret>
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  for win, view in pairs(views) do
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
end

return M
