--- The previews that are shown: their blocks as the server sends them, and what keys do in them.
local M = {}

---@class foldline.Block
---@field id string
---@field path string[]
---@field key string
---@field number string
---@field title string
---@field depth integer 0 for a section of the prompt itself
---@field visibility "FULL"|"SUMMARY"
---@field enabled boolean
---@field opened boolean opened in this preview
---@field text string
---@field location lsp.Location?
---@field error { message: string }? why it could not be rendered
---@field role string? the role of its message, where that isn't the user's

---@class foldline.CacheStage
---@field first string the key of the section that it begins in, or 'tools'
---@field last string
---@field tokens integer
---@field why string how often it changes, and because of what
---@field change integer the tokens that are new when it changes
---@field breakpoint string?

---@class foldline.CachePlan
---@field sentence string
---@field stages foldline.CacheStage[]

---@class foldline.Stale
---@field kind string
---@field message string
---@field file string?
---@field line integer?

---@class foldline.Update
---@field sessionId string
---@field uri lsp.DocumentUri
---@field name string
---@field version integer?
---@field fidelity string
---@field order string[] ids of all blocks
---@field blocks foldline.Block[] the new and the changed ones
---@field tokens { total: integer }?
---@field kept { tokens: integer, tools: boolean }? what a cache keeps of the version before
---@field cache foldline.CachePlan? what a cache can keep between requests
---@field effects { line: integer, message: string }[]?
---@field stale foldline.Stale?

---@class foldline.Preview
---@field buf integer
---@field client_id integer
---@field session_id string
---@field uri lsp.DocumentUri
---@field name string
---@field fidelity string
---@field order string[]
---@field blocks table<string, foldline.Block>
---@field tokens { total: integer }?
---@field kept { tokens: integer, tools: boolean }?
---@field cache foldline.CachePlan?
---@field effects { line: integer, message: string }[]?
---@field stale foldline.Stale?
---@field reopen string[]? keys that were open before the server came back, to open once it renders
---@field lost string? why it follows its source no more

local COMMANDS = { open = 'prompt.openSections', close = 'prompt.closeSections' }
local NOTHING = { open = 'every section is open', close = 'no section was opened here' }

local previews = {} ---@type foldline.Preview[] the last one looked at comes last
local waiting = {} ---@type fun()[]

local close_section, create, execute, focus, forget, go_to_source, have_arrived, nearest
local open_section, reconnect, request, same_file, take, watch

--- Shows a prompt: goes to its preview, or makes one.
---@param client vim.lsp.Client
---@param prompt foldline.PromptName empty: the one the server saw last
---@param mods table?
function M.show(client, prompt, mods)
  local shown = prompt.uri and M.find(prompt.uri, prompt.name)
  if shown and not shown.lost then
    focus(shown, mods)
    return have_arrived()
  end
  request(client, prompt, function(preview)
    focus(preview, mods)
    have_arrived()
  end)
end

--- Calls the function once, after the next preview has arrived.
---@param callback fun()
function M.when_shown(callback)
  waiting = { callback }
end

--- Takes what the server says has changed.
---@param update foldline.Update
---@param client_id integer
function M.on_update(update, client_id)
  for _, preview in ipairs(previews) do
    if preview.session_id == update.sessionId and preview.client_id == client_id then
      return take(preview, update)
    end
  end
end

--- Opens or closes sections; without keys it asks which.
---@param change "open"|"close"
---@param keys string[]
---@param preview foldline.Preview?
function M.change(change, keys, preview)
  preview = preview or M.current()
  if not preview then
    return require('foldline').notify('no preview is shown: :FoldlinePreview', vim.log.levels.WARN)
  end
  if #keys > 0 then
    local argument = { sessionId = preview.session_id, section_keys = keys }
    return execute(preview, COMMANDS[change], argument, function(update)
      take(preview, update)
    end)
  end
  local choices = M.keys(preview, change)
  if #choices == 0 then
    return require('foldline').notify(NOTHING[change])
  end
  local question = change == 'open' and 'Open which section?' or 'Close which section?'
  vim.ui.select(choices, { prompt = question }, function(key)
    if key then
      M.change(change, { key }, preview)
    end
  end)
end

---@param preview foldline.Preview
---@param change "open"|"close"
---@return string[] keys that it can be done to
function M.keys(preview, change)
  local keys = {}
  for _, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    if
      (change == 'open' and block.visibility == 'SUMMARY') or (change == 'close' and block.opened)
    then
      table.insert(keys, block.key)
    end
  end
  return keys
end

--- The preview that the user means: this buffer's, this file's, or the last one looked at.
---@return foldline.Preview?
function M.current()
  local buf = vim.api.nvim_get_current_buf()
  for _, preview in ipairs(previews) do
    if preview.buf == buf then
      return preview
    end
  end
  local uri = require('foldline').python_uri(buf)
  return uri and M.find(uri) or previews[#previews]
end

---@param uri lsp.DocumentUri?
---@param name string? nil: the last one looked at of that file
---@return foldline.Preview?
function M.find(uri, name)
  for index = #previews, 1, -1 do
    local preview = previews[index]
    if uri and same_file(preview.uri, uri) and (not name or preview.name == name) then
      return preview
    end
  end
end

--- Marks the previews of a client, whose text will not change any more.
---@param client_id integer
---@param why string
function M.lose(client_id, why)
  for _, preview in ipairs(previews) do
    if preview.client_id == client_id then
      preview.lost = why
      require('foldline.view').draw(preview)
    end
  end
end

---@param client vim.lsp.Client
---@param prompt foldline.PromptName
---@param done fun(preview: foldline.Preview)
function request(client, prompt, done)
  require('foldline').execute(client, 'prompt.preview', prompt, function(update)
    local preview = M.find(update.uri, update.name) or create(update)
    local opened = preview.lost and M.keys(preview, 'close') or {}
    preview.client_id = client.id
    preview.session_id = update.sessionId
    preview.lost = nil
    preview.reopen = #opened > 0 and opened or preview.reopen
    take(preview, update)
    done(preview)
  end, function(err)
    waiting = {}
    require('foldline').report(err)
  end)
end

---@param update foldline.Update
---@return foldline.Preview
function create(update)
  local preview = { uri = update.uri, name = update.name, order = {}, blocks = {} }
  preview.buf = require('foldline.view').create(preview)
  table.insert(previews, preview)
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = preview.buf,
    callback = function()
      forget(preview)
      if not preview.lost then
        -- Nobody looks any more; a server that stops right now has forgotten it anyway.
        execute(preview, 'prompt.closePreview', { sessionId = preview.session_id }, function() end)
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufEnter', {
    buffer = preview.buf,
    callback = function()
      forget(preview)
      table.insert(previews, preview)
    end,
  })
  local function map(keys, what, description)
    vim.keymap.set('n', keys, function()
      what(preview)
    end, { buffer = preview.buf, nowait = true, desc = description })
  end
  map('<CR>', open_section, 'Open the summarized section')
  map('c', close_section, 'Close the section that was opened')
  map('K', require('foldline.view').show_plan, 'Show what a cache can keep')
  map('gd', go_to_source, 'Go to the source of the section')
  watch()
  return preview
end

---@param preview foldline.Preview
---@param update foldline.Update
function take(preview, update)
  if not vim.api.nvim_buf_is_valid(preview.buf) then
    return
  end
  local some = require('foldline').some
  preview.stale = some(update.stale)
  if preview.stale and #update.order == 0 then
    -- The server has not rendered it yet: what an earlier one rendered stays.
    return require('foldline.view').draw(preview)
  end
  for _, block in ipairs(update.blocks) do
    block.location = some(block.location)
    preview.blocks[block.id] = block
  end
  preview.order = update.order
  preview.fidelity = some(update.fidelity) or preview.fidelity
  preview.tokens = update.tokens
  preview.kept = update.kept
  preview.cache = update.cache
  preview.effects = update.effects
  local kept = {}
  for _, id in ipairs(preview.order) do
    kept[id] = preview.blocks[id]
  end
  preview.blocks = kept
  require('foldline.view').draw(preview)
  local keys = not preview.stale and preview.reopen
  if keys then
    preview.reopen = nil
    M.change('open', keys, preview)
  end
end

---@param preview foldline.Preview
---@param mods table?
function focus(preview, mods)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == preview.buf then
      return vim.api.nvim_set_current_win(win)
    end
  end
  require('foldline.window').split(preview.buf, mods)
end

---@param preview foldline.Preview
function forget(preview)
  previews = vim.tbl_filter(function(other)
    return other ~= preview
  end, previews)
end

function have_arrived()
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

--- Opens the summary under the cursor; elsewhere the key folds and unfolds.
---@param preview foldline.Preview
function open_section(preview)
  local block = require('foldline.view').block_at(preview, vim.api.nvim_win_get_cursor(0)[1])
  if block and block.visibility == 'SUMMARY' then
    return M.change('open', { block.key }, preview)
  end
  pcall(vim.cmd.normal, { args = { 'za' }, bang = true })
end

---@param preview foldline.Preview
function close_section(preview)
  local block = nearest(preview, function(each)
    return each.opened
  end)
  if not block then
    return require('foldline').notify('this section was not opened here')
  end
  M.change('close', { block.key }, preview)
end

---@param preview foldline.Preview
function go_to_source(preview)
  local block = nearest(preview, function(each)
    return each.location ~= nil
  end)
  local client = vim.lsp.get_client_by_id(preview.client_id)
  if not block or not client then
    return require('foldline').notify(
      'the source of this section is not known',
      vim.log.levels.WARN
    )
  end
  local buf = vim.uri_to_bufnr(block.location.uri)
  vim.fn.bufload(buf)
  require('foldline.window').go_to(buf)
  vim.lsp.util.show_document(block.location, client.offset_encoding, { focus = true })
end

--- The block under the cursor, or the nearest one around it, that is as wanted.
---@param preview foldline.Preview
---@param wanted fun(block: foldline.Block): boolean
---@return foldline.Block?
function nearest(preview, wanted)
  local here = require('foldline.view').block_at(preview, vim.api.nvim_win_get_cursor(0)[1])
  local found
  for _, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    local around = here and vim.deep_equal(block.path, vim.list_slice(here.path, 1, #block.path))
    if around and wanted(block) then
      found = block
    end
  end
  return found
end

--- Marks previews whose server has gone, and shows them again when one has come back.
function watch()
  local group = vim.api.nvim_create_augroup('foldline.preview', { clear = true })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = function(event)
      vim.schedule(function()
        local client = vim.lsp.get_client_by_id(event.data.client_id)
        if not client or client:is_stopped() then
          M.lose(event.data.client_id, 'the server has stopped')
        end
      end)
    end,
  })
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == 'foldline' then
        reconnect(client, event.buf)
      end
    end,
  })
end

---@param client vim.lsp.Client
---@param bufnr integer
function reconnect(client, bufnr)
  for _, preview in ipairs(previews) do
    if preview.lost and same_file(preview.uri, vim.uri_from_bufnr(bufnr)) then
      request(client, { uri = preview.uri, name = preview.name }, function() end)
    end
  end
end

---@param preview foldline.Preview
---@param command string
---@param argument table
---@param on_result fun(result: any)
function execute(preview, command, argument, on_result)
  local client = vim.lsp.get_client_by_id(preview.client_id)
  if client then
    require('foldline').execute(client, command, argument, on_result)
  end
end

---@param one lsp.DocumentUri
---@param other lsp.DocumentUri
---@return boolean
function same_file(one, other)
  return vim.uri_to_fname(one) == vim.uri_to_fname(other)
end

return M
