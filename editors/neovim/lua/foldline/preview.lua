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
---@field error { message: string, file: string?, line: integer? }? why it is not rendered
---@field role string? the role of its message, where that isn't the user's
---@field segments { text: string, field: string? }[]?
---@field tokens { self: integer, subtree: integer, if_opened: foldline.IfOpened? }?

---@class foldline.IfOpened
---@field text integer
---@field tools integer
---@field total integer
---@field breakpoint integer? 0-based, of the cache plan

---@class foldline.CacheStage
---@field first string the key of the section that it begins in, or 'tools'
---@field last string
---@field tokens integer
---@field why string how often it changes, and because of what
---@field change integer the tokens that are read again if it changes
---@field breakpoint string?

---@class foldline.CachePlan
---@field sentence string
---@field cached integer the tokens of the longest prefix that is kept
---@field breakpoints { tokens: integer }[]
---@field stages foldline.CacheStage[]

---@class foldline.Stale
---@field kind string
---@field message string
---@field file string?
---@field line integer?

---@class foldline.Tokens
---@field text integer
---@field tools integer
---@field output integer
---@field total integer
---@field encoding string
---@field exact boolean
---@field words string[] the total and its parts

---@class foldline.Field
---@field name string
---@field type string
---@field doc string
---@field required boolean
---@field default string? as source
---@field choices any[]?
---@field value any
---@field editable boolean
---@field shown string? the value as a line of text
---@field origin { source: string, name: string?, file: string?, line: integer? }?

---@class foldline.Parameters
---@field type string the name of a dataclass
---@field section string? the key of the section that they are for alone
---@field doc string
---@field fields foldline.Field[]

---@class foldline.ParameterSet
---@field name string
---@field origins { source: string, name: string?, file: string?, line: integer? }[]

---@class foldline.Chapter
---@field key string
---@field title string
---@field description string?
---@field open boolean
---@field may_open boolean
---@field reasons string[]

--- What the server says of a preview, and again when it has changed.
---@class foldline.Facts
---@field uri lsp.DocumentUri
---@field name string
---@field documentVersion integer?
---@field fidelity string
---@field order string[] ids of all blocks
---@field tools { name: string, description: string, tokens: integer? }[]?
---@field tokens foldline.Tokens?
---@field kept { cached: integer, tools: boolean, words: string }? what a cache keeps
---@field cache foldline.CachePlan? what a cache can keep between requests
---@field effects { line: integer, message: string }[]?
---@field params table<string, table<string, any>>? the values that were typed
---@field parameters foldline.Parameters[]?
---@field parameter_set string?
---@field parameter_sets foldline.ParameterSet[]?
---@field chapters foldline.Chapter[]?
---@field chapters_shown string? which of them are open, in words
---@field budget { limit: integer, unit: string, used: integer, over: integer, words: string }?
---@field generated string[]? the fields whose values were made up
---@field interpreter { path: string, reason: string, python: string?, mismatch: string? }?
---@field stale foldline.Stale?

---@class foldline.Update: foldline.Facts
---@field sessionId string
---@field blocks foldline.Block[] the new and the changed ones

---@class foldline.Preview: foldline.Facts
---@field buf integer
---@field client_id integer
---@field session_id string
---@field blocks table<string, foldline.Block>
---@field counts foldline.Counts
---@field hidden table<string, integer> by key, how many sections are below it in the source
---@field reopen string[]? keys that were open before the server came back, to open once it renders
---@field lost string? why it follows its source no more

---@alias foldline.Action "open"|"close"|"read"|"source"|"problem"|"plan"|"undo"|"quit"|"help"

local COMMANDS = { open = 'prompt.openSections', close = 'prompt.closeSections' }
local NOTHING = { open = 'every section is open', close = 'no section was opened here' }

local previews = {} ---@type foldline.Preview[] the last one looked at comes last
local waiting = {} ---@type fun()[]

-- Of an update, what a preview takes over as it is.
local FACTS = {
  'tools',
  'tokens',
  'kept',
  'cache',
  'effects',
  'params',
  'parameters',
  'parameter_set',
  'parameter_sets',
  'chapters',
  'chapters_shown',
  'budget',
  'generated',
  'interpreter',
}

local close_section, count_hidden, create, focus, forget, go_to_problem, have_arrived
local map, nearest, open_section, plain, read, reconnect, request, same_file, show_keys, take, watch

---@type { [1]: foldline.Action, [2]: string, [3]: fun(preview: foldline.Preview) }[]
local ACTIONS = {
  {
    'open',
    'open the summarized section; elsewhere, open or close the fold',
    function(preview)
      open_section(preview)
    end,
  },
  {
    'close',
    'close the section that was opened',
    function(preview)
      close_section(preview)
    end,
  },
  {
    'read',
    'look into the summarized section without opening it',
    function(preview)
      read(preview)
    end,
  },
  {
    'source',
    'go to the source of the character; with a count, to another place of it',
    function(preview)
      require('foldline.trace').go_to_source(preview)
    end,
  },
  {
    'problem',
    'go to the line of the error',
    function(preview)
      go_to_problem(preview)
    end,
  },
  {
    'plan',
    'show what it costs, and what a cache can keep',
    function(preview)
      require('foldline.view').show_plan(preview)
    end,
  },
  {
    'undo',
    'take back the last step',
    function(preview)
      M.step(preview, 'prompt.undo', {})
    end,
  },
  {
    'quit',
    'close the preview',
    function()
      vim.cmd.close()
    end,
  },
  {
    'help',
    'show these keys',
    function()
      show_keys()
    end,
  },
}

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
---@param reason string? why they are opened, for the history
function M.change(change, keys, preview, reason)
  preview = preview or M.current()
  if not preview then
    return require('foldline').notify('no preview is shown: :FoldlinePreview', vim.log.levels.WARN)
  end
  if #keys > 0 then
    return M.step(preview, COMMANDS[change], { section_keys = keys, reason = reason })
  end
  local choices = M.keys(preview, change)
  if #choices == 0 then
    return require('foldline').notify(NOTHING[change])
  end
  local question = change == 'open' and 'Open which section?' or 'Close which section?'
  vim.ui.select(choices, { prompt = question }, function(key)
    if key then
      M.change(change, { key }, preview, reason)
    end
  end)
end

--- Asks for a change of what the preview shows, and shows it.
---@param preview foldline.Preview
---@param command string
---@param argument table
---@param done? fun()
function M.step(preview, command, argument, done)
  argument.sessionId = preview.session_id
  M.execute(preview, command, argument, function(update)
    take(preview, update)
    if done then
      done()
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
      (change == 'open' and block.enabled and block.visibility == 'SUMMARY')
      or (change == 'close' and block.opened)
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
  local here = M.of_buffer(buf)
  if here then
    return here
  end
  local uri = require('foldline').source_uri(buf)
  return uri and M.find(uri) or previews[#previews]
end

---@return foldline.Preview[] the last one looked at comes last
function M.all()
  return previews
end

--- The preview that a buffer shows.
---@param buf integer
---@return foldline.Preview?
function M.of_buffer(buf)
  for _, preview in ipairs(previews) do
    if preview.buf == buf then
      return preview
    end
  end
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
  local preview = { uri = update.uri, name = update.name, order = {}, blocks = {}, hidden = {} }
  preview.buf = require('foldline.view').create(preview)
  table.insert(previews, preview)
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = preview.buf,
    callback = function()
      forget(preview)
      if not preview.lost then
        -- Nobody looks any more; a server that stops right now has forgotten it anyway.
        M.execute(
          preview,
          'prompt.closePreview',
          { sessionId = preview.session_id },
          function() end
        )
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
  map(preview)
  watch()
  require('foldline.trace').attach(preview)
  return preview
end

--- Gives the buffer its keys, and for each action a `<Plug>` mapping that it has alone.
---@param preview foldline.Preview
function map(preview)
  local keys = require('foldline.settings').get().keys or {}
  for _, action in ipairs(ACTIONS) do
    local name, description, run = unpack(action)
    local options = { buffer = preview.buf, nowait = true, desc = description }
    local plug = ('<Plug>(foldline-%s-here)'):format(name)
    vim.keymap.set('n', plug, function()
      run(preview)
    end, options)
    if keys[name] then
      vim.keymap.set('n', keys[name], plug, vim.tbl_extend('force', options, { remap = true }))
    end
  end
end

function show_keys()
  local keys = require('foldline.settings').get().keys or {}
  local listed = {}
  for _, action in ipairs(ACTIONS) do
    if keys[action[1]] then
      table.insert(listed, { keys[action[1]], action[2] })
    end
  end
  local scratch = require('foldline.scratch')
  scratch.float('Keys of the preview', scratch.key_lines(listed))
end

---@param preview foldline.Preview
---@param update foldline.Update
function take(preview, update)
  if not vim.api.nvim_buf_is_valid(preview.buf) then
    return
  end
  plain(update)
  preview.stale = update.stale
  if preview.stale and #update.order == 0 then
    -- The server has not rendered it yet: what an earlier one rendered stays.
    return require('foldline.view').draw(preview)
  end
  local kept = {}
  for _, block in ipairs(update.blocks) do
    preview.blocks[block.id] = block
  end
  for _, id in ipairs(update.order) do
    kept[id] = preview.blocks[id]
  end
  preview.order, preview.blocks = update.order, kept
  preview.fidelity = update.fidelity or preview.fidelity
  for _, fact in ipairs(FACTS) do
    preview[fact] = update[fact]
  end
  require('foldline.view').draw(preview)
  count_hidden(preview, update.documentVersion)
  local keys = not preview.stale and preview.reopen
  if keys then
    preview.reopen = nil
    M.change('open', keys, preview)
  end
end

--- Takes JSON's nulls out, which Neovim 0.12 hands on as `vim.NIL`; those that a user has typed
--- stay.
---@param object table
function plain(object)
  for key, value in pairs(object) do
    if value == vim.NIL then
      object[key] = nil
    elseif type(value) == 'table' and key ~= 'params' then
      plain(value)
    end
  end
end

--- Counts the sections below each one in the source, once for a version of it: the server renders
--- none below a summary.
---@param preview foldline.Preview
---@param version integer?
function count_hidden(preview, version)
  if preview.documentVersion == version then
    return
  end
  preview.documentVersion = version
  M.execute(preview, 'prompt.list', { uri = preview.uri }, function(prompts)
    local hidden = {}
    local function count(sections)
      local all = 0
      for _, section in ipairs(sections) do
        hidden[section.key] = count(section.children)
        all = all + 1 + hidden[section.key]
      end
      return all
    end
    for _, prompt in ipairs(prompts or {}) do
      if prompt.name == preview.name then
        count(prompt.sections)
      end
    end
    if vim.api.nvim_buf_is_valid(preview.buf) and not vim.deep_equal(hidden, preview.hidden) then
      preview.hidden = hidden
      require('foldline.view').draw(preview)
    end
  end, function() end)
end

---@param preview foldline.Preview
---@param mods table?
function focus(preview, mods)
  local other
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buf = vim.api.nvim_win_get_buf(win)
    if buf == preview.buf then
      return vim.api.nvim_set_current_win(win)
    end
    other = M.of_buffer(buf) and win or other
  end
  if other then
    -- A third column would be too narrow for a source or a preview.
    vim.api.nvim_set_current_win(other)
  end
  require('foldline.window').split(preview.buf, mods, other and math.huge)
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
  if block and require('foldline.costs').is_summarized(block) then
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

--- Goes to the line of the error that the bar says.
---@param preview foldline.Preview
function go_to_problem(preview)
  local problem = preview.stale
  for _, id in ipairs(preview.order) do
    problem = problem or preview.blocks[id].error
  end
  if not problem or not problem.line then
    return require('foldline').notify('no line is known of an error here')
  end
  local file = problem.file or vim.uri_to_fname(preview.uri)
  require('foldline.window').go_to_file(file, problem.line)
end

--- Shows in a floating window what the summarized section holds; the prompt stays as it is.
---@param preview foldline.Preview
function read(preview)
  local costs = require('foldline.costs')
  local block = require('foldline.view').block_at(preview, vim.api.nvim_win_get_cursor(0)[1])
  if not block or not costs.is_summarized(block) then
    return require('foldline').notify('this section is not summarized')
  end
  local argument = { section_key = block.key, sessionId = preview.session_id }
  M.execute(preview, 'prompt.summary', argument, function(summary)
    M.execute(preview, 'prompt.readSection', argument, function(section)
      local more = costs.if_opened(preview, block)
      local title = ('%s, %d of %d bytes%s'):format(
        block.key,
        summary.size,
        summary.size_if_opened,
        more and ', ' .. more or ''
      )
      require('foldline.scratch').float(title, vim.split(section.text, '\n'), 'markdown')
    end)
  end)
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

--- Asks the server of a preview.
---@param preview foldline.Preview
---@param command string
---@param argument table
---@param on_result fun(result: any)
---@param on_error? fun(err: lsp.ResponseError)
function M.execute(preview, command, argument, on_result, on_error)
  local client = vim.lsp.get_client_by_id(preview.client_id)
  if client then
    require('foldline').execute(client, command, argument, on_result, on_error)
  end
end

---@param one lsp.DocumentUri
---@param other lsp.DocumentUri
---@return boolean
function same_file(one, other)
  return vim.uri_to_fname(one) == vim.uri_to_fname(other)
end

return M
