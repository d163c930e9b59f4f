--- The settings in `vim.g.foldline`, read each time, so that a change holds at once.
local M = {}

---@class foldline.Settings
---@field start_ms integer how long a command waits for a server that is about to start
---@field context_bytes integer the most bytes of `:FoldlineContext`
---@field tokens boolean whether the right edge of a preview says what each section costs
---@field hints boolean whether a heading says which key opens or closes it
---@field keys table<foldline.Action, string|false>|false keys of a preview's buffer; false for none

---@type foldline.Settings
local DEFAULTS = {
  start_ms = 10000,
  context_bytes = 12000,
  tokens = true,
  hints = true,
  keys = {
    open = '<CR>',
    close = 'c',
    read = 'p',
    source = 'gd',
    problem = 'g!',
    plan = 'K',
    undo = 'u',
    quit = 'q',
    help = 'g?',
  },
}

---@return foldline.Settings
function M.get()
  return vim.tbl_deep_extend('force', DEFAULTS, vim.g.foldline or {})
end

return M
