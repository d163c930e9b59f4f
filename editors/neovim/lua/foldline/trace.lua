--- Which characters of a preview come from which of the source: a key goes there, and marks follow
--- the cursor both ways.
local M = {}

local marks = vim.api.nvim_create_namespace('foldline.trace')
local turns = 0

local mark, newest, origin, show_in_preview, show_in_source

---@class foldline.SourcePlace
---@field what string
---@field location lsp.Location?

---@class foldline.TextOrigin
---@field words string
---@field exact boolean
---@field places foldline.SourcePlace[] the nearest first

--- Lets the marks of a preview follow the cursor.
---@param preview foldline.Preview
function M.attach(preview)
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = preview.buf,
    callback = function()
      origin(preview, newest(show_in_source))
    end,
  })
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'BufEnter' }, {
    group = vim.api.nvim_create_augroup('foldline.trace', { clear = true }),
    callback = M.follow,
  })
end

--- Marks in the previews what comes from the character at the cursor.
function M.follow()
  local buf = vim.api.nvim_get_current_buf()
  if vim.bo[buf].buftype ~= '' or vim.api.nvim_buf_get_name(buf) == '' then
    return
  end
  local show = newest(show_in_preview)
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line()
  -- Behind the end of a line there is no character.
  local character = vim.str_utfindex(line, 'utf-16', math.max(0, math.min(col, #line - 1)))
  local at = { source = vim.uri_from_bufnr(buf), line = row - 1, character = character }
  for _, preview in ipairs(require('foldline.preview').all()) do
    local argument = vim.tbl_extend('force', at, { sessionId = preview.session_id })
    require('foldline.preview').execute(preview, 'prompt.occurrences', argument, function(parts)
      if parts and vim.api.nvim_buf_is_valid(preview.buf) then
        show(preview, parts)
      end
    end, function() end)
  end
end

--- Goes to the source of the character at the cursor; with a count, to a further place of it.
---@param preview foldline.Preview
function M.go_to_source(preview)
  local count = vim.v.count1
  origin(preview, function(_, found)
    local place = found.places[math.min(count, #found.places)]
    local client = vim.lsp.get_client_by_id(preview.client_id)
    if not found.exact or #found.places > 1 then
      require('foldline').notify(found.words)
    end
    if place and place.location and client then
      local buf = vim.uri_to_bufnr(place.location.uri)
      vim.fn.bufload(buf)
      require('foldline.window').go_to(buf)
      vim.lsp.util.show_document(place.location, client.offset_encoding, { focus = true })
    end
  end)
end

--- Calls `done`, unless the cursor has moved on: marks are those of where it is.
---@param done function
---@return function
function newest(done)
  turns = turns + 1
  local turn = turns
  return function(...)
    if turn == turns then
      done(...)
    end
  end
end

--- Asks where the character at the cursor of a preview comes from.
---@param preview foldline.Preview
---@param done fun(preview: foldline.Preview, found: foldline.TextOrigin)
function origin(preview, done)
  local row, bytes = unpack(vim.api.nvim_win_get_cursor(0))
  local block, start = require('foldline.view').block_at(preview, row)
  if not block then
    return
  end
  for _, line in ipairs(vim.api.nvim_buf_get_lines(preview.buf, start - 1, row - 1, false)) do
    bytes = bytes + #line + 1
  end
  local argument = {
    sessionId = preview.session_id,
    section_key = block.key,
    offset = vim.str_utfindex(block.text, 'utf-16', math.min(bytes, #block.text)),
  }
  require('foldline.preview').execute(preview, 'prompt.origin', argument, function(found)
    if found then
      done(preview, found)
    end
  end)
end

---@param preview foldline.Preview
---@param found foldline.TextOrigin
function show_in_source(preview, found)
  local client = vim.lsp.get_client_by_id(preview.client_id)
  M.clear()
  for _, place in ipairs(client and found.places or {}) do
    local location = place.location
    local buf = location and vim.uri_to_bufnr(location.uri)
    if buf and found.exact and vim.api.nvim_buf_is_loaded(buf) then
      local range = location.range
      local function column(at)
        local line = vim.api.nvim_buf_get_lines(buf, at.line, at.line + 1, false)[1] or ''
        return vim.str_byteindex(line, client.offset_encoding, at.character, false)
      end
      mark(
        buf,
        { range.start.line, column(range.start) },
        { range['end'].line, column(range['end']) }
      )
    end
  end
end

---@param preview foldline.Preview
---@param parts { id: string, start: integer, end: integer }[]
function show_in_preview(preview, parts)
  M.clear()
  local first
  for _, part in ipairs(parts) do
    local block = preview.blocks[part.id]
    local start = block and require('foldline.view').start_of(preview, part.id)
    local function position(unit)
      local before = block.text:sub(1, vim.str_byteindex(block.text, 'utf-16', unit, false))
      local _, breaks = before:gsub('\n', '')
      return { start - 1 + breaks, #before:match('[^\n]*$') }
    end
    if start then
      first = first or position(part.start)
      mark(preview.buf, position(part.start), position(part['end']))
    end
  end
  for _, win in ipairs(first and vim.fn.win_findbuf(preview.buf) or {}) do
    local top, bottom = vim.fn.line('w0', win), vim.fn.line('w$', win)
    if first[1] + 1 < top or first[1] + 1 > bottom then
      vim.api.nvim_win_set_cursor(win, { first[1] + 1, first[2] })
    end
  end
end

--- Takes all marks away.
function M.clear()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    vim.api.nvim_buf_clear_namespace(buf, marks, 0, -1)
  end
end

---@param buf integer
---@param from integer[] row and column, 0-based
---@param to integer[]
function mark(buf, from, to)
  vim.api.nvim_buf_set_extmark(buf, marks, from[1], from[2], {
    end_row = to[1],
    end_col = to[2],
    hl_group = 'FoldlineTrace',
    strict = false,
  })
end

return M
