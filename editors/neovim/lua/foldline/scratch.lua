--- Read-only pages beside the source: outlines, trees, symbols, reports.
local M = {}

---@class foldline.Page
---@field title string
---@field lines string[]
---@field syntax string? a Vim syntax
---@field follow fun(line: integer)? what <CR> and gd do on a line
---@field numbers boolean? lines begin with the line numbers of a source
---@field folds boolean? what is indented is a fold of the line above it
---@field source integer? the buffer that it is about

local KEYS = {
  { '<CR>', 'go to what the line is about' },
  { 'gd', 'the same' },
  { 'q', 'close' },
  { 'g?', 'show these keys' },
}

-- A window that is narrower is not divided into two columns.
local NARROW = 100

local colour

--- Shows the page in a split, in place of the one of that title.
---@param page foldline.Page
---@param mods table?
---@return integer buf
function M.show(page, mods)
  local name = 'foldline://' .. page.title
  local shown = vim.fn.bufnr(vim.fn.fnameescape(name))
  if shown > 0 then
    vim.api.nvim_buf_delete(shown, { force = true })
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, page.lines)
  vim.bo[buf].modifiable = false
  -- A file type would start language servers.
  vim.bo[buf].syntax = page.syntax or ''
  if page.numbers then
    colour(buf, page.lines)
  end
  vim.b[buf].foldline_source = page.source
  require('foldline.window').split(buf, mods, NARROW)
  local options = vim.wo[0][0]
  options.wrap = false
  options.number = false
  if page.folds then
    options.foldmethod = 'expr'
    options.foldexpr = "v:lua.require'foldline.scratch'.fold_level()"
    options.foldlevel = 99
    options.foldtext = ''
  end
  M.map(buf, page.follow)
  return buf
end

--- Gives a buffer the keys of a page.
---@param buf integer
---@param follow fun(line: integer)?
function M.map(buf, follow)
  local function map(keys, run, description)
    vim.keymap.set('n', keys, run, { buffer = buf, nowait = true, desc = description })
  end
  for _, keys in ipairs(follow and { '<CR>', 'gd' } or {}) do
    map(keys, function()
      follow(vim.api.nvim_win_get_cursor(0)[1])
    end, 'Go to what the line is about')
  end
  map('q', '<Cmd>close<CR>', 'Close the window')
  map('g?', function()
    M.float('Keys', M.key_lines(vim.list_slice(KEYS, follow and 1 or 3)))
  end, 'Show the keys')
end

---@param keys string[][] keys and what they do
---@return string[]
function M.key_lines(keys)
  return vim.tbl_map(function(key)
    return ('%-5s %s'):format(key[1], key[2])
  end, keys)
end

--- Shows lines in a floating window, which goes with the cursor's next move.
---@param title string
---@param lines string[]
---@param syntax string?
---@return integer win
function M.float(title, lines, syntax)
  local _, win = vim.lsp.util.open_floating_preview(lines, syntax or '', {
    border = 'single',
    title = (' %s '):format(title),
    wrap = syntax ~= nil,
    max_width = math.min(90, vim.o.columns - 4),
  })
  return win
end

---@return string level of the line `v:lnum`, for 'foldexpr'
function M.fold_level()
  local function depth(line)
    return math.floor(vim.fn.indent(line) / 2)
  end
  local line = vim.v.lnum
  local here, below = depth(line), line < vim.fn.line('$') and depth(line + 1) or 0
  return below > here and '>' .. below or tostring(here)
end

---@param buf integer
---@param lines string[]
function colour(buf, lines)
  local marks = vim.api.nvim_create_namespace('foldline.scratch')
  for number, line in ipairs(lines) do
    local _, stop = line:find('^%s*%d[%d-]*')
    if stop and number > 1 then
      local where = { end_col = stop, hl_group = 'LineNr' }
      vim.api.nvim_buf_set_extmark(buf, marks, number - 1, 0, where)
    end
  end
end

return M
