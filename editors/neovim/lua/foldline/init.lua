--- What the user commands do: find the server, ask it, show what it says.
local M = {}

---@class foldline.Section
---@field key string what `:FoldlineOpen` takes: "parent.child"
---@field title string
---@field number string
---@field visibility "FULL"|"SUMMARY"
---@field range lsp.Range
---@field children foldline.Section[]

---@class foldline.Prompt
---@field uri lsp.DocumentUri
---@field name string the variable that holds the prompt
---@field ns string
---@field key string
---@field range lsp.Range
---@field sections foldline.Section[]

---@class foldline.PromptName
---@field uri lsp.DocumentUri?
---@field name string?

local COMPLETION_MS = 1000
-- A person scrolls; the server's own budget is a model's.
local OUTLINE_BYTES = 100000

local ask_now, flatten, matching, on_code, prompt_at, prompts_now, running, with_preview, word

---@param config vim.lsp.ClientConfig
---@return table options what the server is told at its start
function M.initialization_options(config)
  local options = vim.deepcopy(config.init_options or {})
  options.client_commands =
    { 'foldline.preview', 'foldline.openSection', 'foldline.closeSection', 'foldline.outline' }
  options.trusted = require('foldline.trust').decision(config.root_dir) == true
  return options
end

--- Shows a prompt beside its source. Without a name: the prompt under the cursor, or else the one
--- that the server chooses: the one looked at last, then the first that has its values.
---@param opts { name: string?, uri: lsp.DocumentUri?, mods: table? }?
function M.preview(opts)
  opts = opts or {}
  local bufnr = vim.api.nvim_get_current_buf()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  M.with_client(bufnr, function(client)
    local function show(prompt)
      local function show_now()
        require('foldline.preview').show(client, prompt, opts.mods)
      end
      if require('foldline.instructions').is_instructions(bufnr) then
        -- Nothing is run, so there is nothing to trust.
        return show_now()
      end
      require('foldline.trust').settle(client.root_dir, show_now)
    end
    local uri = M.source_uri(bufnr)
    if opts.uri or opts.name then
      return show({ uri = opts.uri or uri, name = opts.name })
    end
    if not uri then
      return show({})
    end
    M.execute(client, 'prompt.list', { uri = uri }, function(prompts)
      show(prompt_at(uri, line, prompts))
    end)
  end)
end

--- Opens sections in the preview, which is shown first where there is none. Without keys it asks.
---@param keys string[]
---@param opts { ask_reason: boolean? }? asks why, as a model says it
function M.open(keys, opts)
  with_preview(function(preview)
    local function open(reason)
      require('foldline.preview').change('open', keys, preview, reason)
    end
    if not (opts and opts.ask_reason) then
      return open()
    end
    vim.ui.input({ prompt = 'Why: ' }, function(reason)
      if reason then
        open(reason ~= '' and reason or nil)
      end
    end)
  end)
end

---@param keys string[]
function M.close(keys)
  require('foldline.preview').change('close', keys)
end

--- Changes a value of the preview. Without a name it asks which one, without a text to what.
---@param name string? "Project.language"
---@param text string? as it is typed
function M.params(name, text)
  with_preview(function(preview)
    require('foldline.values').edit(preview, name, text)
  end)
end

--- Takes back the values that were typed.
function M.clear_params()
  with_preview(function(preview)
    require('foldline.values').clear(preview)
  end)
end

--- Shows the preview with a parameter set. Without a name it asks.
---@param name string?
function M.set(name)
  with_preview(function(preview)
    require('foldline.values').choose_set(preview, name)
  end)
end

--- Opens a chapter in the preview or closes it. Without a key it asks.
---@param key string?
function M.chapters(key)
  with_preview(function(preview)
    require('foldline.values').toggle_chapter(preview, key)
  end)
end

--- Takes back the last step of the preview.
function M.undo()
  with_preview(function(preview)
    require('foldline.preview').step(preview, 'prompt.undo', {})
  end)
end

--- Takes back all steps of the preview.
function M.reset()
  with_preview(function(preview)
    require('foldline.preview').step(preview, 'prompt.reset', {})
  end)
end

--- Asks for a step of the preview and compares it with what is shown.
function M.history()
  with_preview(function(preview)
    require('foldline.history').choose(preview)
  end)
end

--- Compares the last two versions of the preview, or what git has with what is shown.
---@param revision string? "HEAD~3", or "main..HEAD"
function M.diff(revision)
  with_preview(function(preview)
    require('foldline.history').compare(preview, { revision = revision })
  end)
end

--- Shows what the preview costs, and where its values come from.
---@param opts { mods: table? }?
function M.tokens(opts)
  with_preview(function(preview)
    require('foldline.report').show(preview, opts and opts.mods)
  end)
end

--- Shows what a provider's cache can keep of the preview.
function M.cache_plan()
  with_preview(function(preview)
    require('foldline.view').show_plan(preview)
  end)
end

--- Opens the preview in a browser, as a page that follows its source.
function M.browse()
  with_preview(function(preview)
    require('foldline.prompts').browse(preview)
  end)
end

--- Shows the prompt once with a parameter set; the preview stays as it is. Without a name it asks.
---@param set string?
---@param opts { mods: table? }?
function M.render(set, opts)
  with_preview(function(preview)
    require('foldline.prompts').render(preview, set, opts and opts.mods)
  end)
end

--- Shows all parameter sets of the preview by its sections.
---@param base string? the set that others are compared with; the first one
---@param opts { mods: table? }?
function M.compare_sets(base, opts)
  with_preview(function(preview)
    require('foldline.matrix').show(preview, base, opts and opts.mods)
  end)
end

--- Shows all prompts of the workspace with their tokens.
---@param opts { mods: table? }?
function M.prompts(opts)
  on_code(function(client)
    require('foldline.prompts').list(client, opts and opts.mods)
  end)
end

--- Writes a prompt module to begin with. Without a path it asks.
---@param path string?
function M.new(path)
  require('foldline.prompts').new(path)
end

--- Makes a prompt module of a text: of this name in the file, at the cursor, or of a folder's list.
---@param target string?
function M.adopt(target)
  on_code(function(client, bufnr)
    require('foldline.prompts').adopt(client, bufnr, target)
  end)
end

--- Shows the outline of the file.
---@param opts { mods: table? }?
function M.outline(opts)
  on_code(function(client, bufnr)
    local argument = { uri = M.source_uri(bufnr), budget = OUTLINE_BYTES }
    M.execute(client, 'code.outline', argument, function(outline)
      require('foldline.outline').show(outline.text, bufnr, opts and opts.mods)
    end)
  end)
end

--- Fills the quickfix list with the uses of a name, by default of the word under the cursor.
---@param name string?
function M.refs(name)
  local wanted = word(name)
  if wanted then
    on_code(function(client)
      require('foldline.code').references(client, wanted)
    end)
  end
end

--- Shows the source of a symbol of the file, by default of the word under the cursor.
---@param name string?
---@param opts { mods: table? }?
function M.symbol(name, opts)
  local wanted = word(name)
  if wanted then
    on_code(function(client, bufnr)
      require('foldline.code').symbol(client, bufnr, wanted, opts and opts.mods)
    end)
  end
end

--- Packs the code that a question is about, or else the file.
---@param opts { question: string?, bytes: integer?, register: string?, mods: table? }
function M.context(opts)
  on_code(function(client, bufnr)
    require('foldline.code').context(client, bufnr, opts)
  end)
end

--- Shows the files of the workspace.
---@param path string? a folder
---@param opts { mods: table? }?
function M.tree(path, opts)
  on_code(function(client)
    require('foldline.code').tree(client, path, opts and opts.mods)
  end)
end

--- Shows the instructions that each client loads when it works on the file.
---@param opts { mods: table? }?
function M.stack(opts)
  on_code(function(client, bufnr)
    require('foldline.stack').show(client, bufnr, opts and opts.mods)
  end)
end

--- Lets what works behind the server start afresh; the server itself goes on.
function M.restart()
  M.with_client(vim.api.nvim_get_current_buf(), function(client)
    M.execute(client, 'restart', {}, function(restarted)
      M.notify(restarted.text)
    end)
  end)
end

---@param trusted boolean
function M.trust(trusted)
  M.with_client(vim.api.nvim_get_current_buf(), function(client)
    if client.root_dir then
      require('foldline.trust').set(client.root_dir, trusted)
      M.notify(('%s is %strusted'):format(client.root_dir, trusted and '' or 'not '))
    end
  end)
end

--- Runs the client command of the code lens and of the code action *Preview*.
---@param clicked lsp.Command
function M.on_preview_command(clicked)
  local prompt = (clicked.arguments or {})[1] or {}
  M.preview({ uri = M.some(prompt.uri), name = M.some(prompt.name) })
end

--- Runs the client command of the code action *Close section*, which is for what a preview shows.
---@param clicked lsp.Command
function M.on_close_command(clicked)
  local what = (clicked.arguments or {})[1] or {}
  local preview = require('foldline.preview')
  preview.change('close', what.section_keys, preview.find(what.uri, M.some(what.name)))
end

--- Runs the client command of the code action *Open section*.
---@param clicked lsp.Command
function M.on_open_command(clicked)
  local what = (clicked.arguments or {})[1] or {}
  local preview = require('foldline.preview')
  local keys = M.some(what.section_keys) or {}
  if preview.find(M.some(what.uri), M.some(what.name)) then
    return preview.change('open', keys, preview.find(what.uri, M.some(what.name)))
  end
  preview.when_shown(function()
    preview.change('open', keys)
  end)
  M.preview({ uri = M.some(what.uri), name = M.some(what.name) })
end

--- Names of prompts that begin as typed.
---@param lead string
---@return string[]
function M.complete_prompt(lead)
  local names = vim.tbl_map(function(prompt)
    return prompt.name
  end, prompts_now())
  return matching(names, lead)
end

--- Keys of sections that begin as typed and that can be opened, or closed.
---@param lead string
---@param change "open"|"close"
---@return string[]
function M.complete_section(lead, change)
  local preview = require('foldline.preview')
  local shown = preview.current()
  if shown then
    return matching(preview.keys(shown, change), lead)
  end
  local keys = {}
  if change == 'open' then
    for _, prompt in ipairs(prompts_now()) do
      flatten(prompt.sections, keys)
    end
  end
  return matching(keys, lead)
end

--- Fields of the preview, and after a field its choices.
---@param lead string
---@param line string the command line
---@return string[]
function M.complete_param(lead, line)
  local preview = require('foldline.preview').current()
  if not preview then
    return {}
  end
  local values = require('foldline.values')
  local name = line:match('FoldlineParams!?%s+(%S+)%s')
  return matching(name and values.choices(preview, name) or values.field_names(preview), lead)
end

--- Parameter sets or chapters of the preview that begin as typed.
---@param lead string
---@param what "set_names"|"chapter_keys"
---@return string[]
function M.complete_value(lead, what)
  local preview = require('foldline.preview').current()
  return preview and matching(require('foldline.values')[what](preview), lead) or {}
end

--- Symbols of the file that begin as typed.
---@param lead string
---@param is_whole boolean whether a method is completed with its class, "Class.method"
---@return string[]
function M.complete_symbol(lead, is_whole)
  local uri = M.source_uri(vim.api.nvim_get_current_buf())
  local outline = uri and ask_now('code.outline', { uri = uri, budget = OUTLINE_BYTES })
  local names = {}
  local function add(symbols, prefix)
    for _, symbol in ipairs(symbols) do
      names[prefix .. symbol.name] = true
      add(symbol.children, is_whole and prefix .. symbol.name .. '.' or '')
    end
  end
  add(outline and outline.data.symbols or {}, '')
  local sorted = vim.tbl_keys(names)
  table.sort(sorted)
  return matching(sorted, lead)
end

--- Branches and tags of the current file's repository that begin as typed.
---@param lead string
---@return string[]
function M.complete_revision(lead)
  local folder = vim.fn.expand('%:p:h')
  local preview = require('foldline.preview').current()
  if preview then
    folder = vim.fs.dirname(vim.uri_to_fname(preview.uri))
  end
  local command = { 'git', '-C', folder, 'for-each-ref', '--format=%(refname:short)' }
  local ran, result = pcall(function()
    return vim.system(command, { text = true, timeout = COMPLETION_MS }):wait()
  end)
  local names = ran and result.code == 0 and vim.split(vim.trim(result.stdout), '\n') or {}
  return matching(vim.list_extend({ 'HEAD', 'HEAD~1' }, names), lead)
end

--- Asks the server. Only one of the two functions is called, once.
---@param client vim.lsp.Client
---@param command string without `foldline.server.`
---@param argument table
---@param on_result fun(result: any)
---@param on_error? fun(err: lsp.ResponseError)
function M.execute(client, command, argument, on_result, on_error)
  local params = {
    command = 'foldline.server.' .. command,
    arguments = { next(argument) and argument or vim.empty_dict() },
  }
  local sent = client:request('workspace/executeCommand', params, function(err, result)
    if err then
      return (on_error or M.report)(err)
    end
    on_result(M.some(result))
  end)
  if not sent then
    M.notify('the server has stopped: open the file again with :edit', vim.log.levels.ERROR)
  end
end

---@param err lsp.ResponseError
function M.report(err)
  local data = M.some(err.data)
  local kind = type(data) == 'table' and data.kind
  if kind == 'untrusted' then
    return M.notify(
      'this folder is not trusted, so nothing of it is run: :FoldlineTrust',
      vim.log.levels.WARN
    )
  end
  M.notify(err.message, vim.log.levels.ERROR)
end

---@param message string
---@param level? integer
function M.notify(message, level)
  vim.notify('foldline: ' .. message, level or vim.log.levels.INFO)
end

--- The server of the buffer, or any that runs; says what to do where there is none.
---@param bufnr integer
---@return vim.lsp.Client?
function M.client(bufnr)
  local client = running(bufnr)
  if not client then
    M.notify('no server is running here: see :checkhealth foldline', vim.log.levels.ERROR)
  end
  return client
end

--- Calls `run` with the server of the buffer, or any that runs. One that is about to start is
--- waited for; where none comes, it says what to do.
---@param bufnr integer
---@param run fun(client: vim.lsp.Client)
function M.with_client(bufnr, run)
  local client = running(bufnr)
  if client then
    return run(client)
  end
  if not M.source_uri(bufnr) then
    return M.client(bufnr)
  end
  local over = false
  local attach = vim.api.nvim_create_autocmd('LspAttach', {
    buffer = bufnr,
    callback = function(args)
      local found = vim.lsp.get_client_by_id(args.data.client_id)
      if over or not found or found.name ~= 'foldline' then
        return over
      end
      over = true
      run(found)
      return true
    end,
  })
  vim.defer_fn(function()
    if not over then
      over = true
      pcall(vim.api.nvim_del_autocmd, attach)
      M.client(bufnr)
    end
  end, require('foldline.settings').get().start_ms)
end

---@param bufnr integer
---@return lsp.DocumentUri? uri nil where the buffer is neither a Python file nor instructs agents
function M.source_uri(bufnr)
  local is_python = vim.bo[bufnr].filetype == 'python' and vim.bo[bufnr].buftype == ''
  local is_source = is_python or require('foldline.instructions').is_instructions(bufnr)
  return is_source and vim.uri_from_bufnr(bufnr) or nil
end

--- The value, where Neovim 0.12 hands on a JSON null as `vim.NIL`.
---@generic T
---@param value T
---@return T?
function M.some(value)
  if value == vim.NIL then
    return nil
  end
  return value
end

---@param uri lsp.DocumentUri
---@param line integer 0-based
---@param prompts foldline.Prompt[]
---@return foldline.PromptName prompt without a name where the server is to choose
function prompt_at(uri, line, prompts)
  for _, prompt in ipairs(prompts) do
    if prompt.range.start.line <= line and line <= prompt.range['end'].line then
      return { uri = prompt.uri, name = prompt.name }
    end
  end
  return { uri = uri }
end

---@param bufnr integer
---@return vim.lsp.Client?
function running(bufnr)
  return vim.lsp.get_clients({ name = 'foldline', bufnr = bufnr })[1]
    or vim.lsp.get_clients({ name = 'foldline' })[1]
end

---@param sections foldline.Section[]
---@param keys string[] is added to
function flatten(sections, keys)
  for _, section in ipairs(sections) do
    if section.visibility == 'SUMMARY' then
      table.insert(keys, section.key)
    end
    flatten(section.children, keys)
  end
end

---@param words string[]
---@param lead string
---@return string[]
function matching(words, lead)
  return vim.tbl_filter(function(item)
    return vim.startswith(item, lead)
  end, words)
end

---@return foldline.Prompt[] prompts of the current file; none where the server is not quick enough
function prompts_now()
  local uri = vim.uri_from_bufnr(vim.api.nvim_get_current_buf())
  return ask_now('prompt.list', { uri = uri }) or {}
end

--- The server's answer, for a completion; nil where it is not quick enough.
---@param command string
---@param argument table
---@return any
function ask_now(command, argument)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ name = 'foldline', bufnr = bufnr })[1]
  if not client then
    return nil
  end
  local params = { command = 'foldline.server.' .. command, arguments = { argument } }
  local method = 'workspace/executeCommand'
  local answer = client:request_sync(method, params, COMPLETION_MS, bufnr)
  return answer and M.some(answer.result)
end

--- Calls `run` with the preview that the user means, which is shown first where there is none.
---@param run fun(preview: foldline.Preview)
function with_preview(run)
  local preview = require('foldline.preview')
  local shown = preview.current()
  if shown then
    return run(shown)
  end
  preview.when_shown(function()
    run(preview.current() --[[@as foldline.Preview]])
  end)
  M.preview()
end

--- Calls `run` with the server and the current buffer; in a preview or outline, that of its source.
---@param run fun(client: vim.lsp.Client, bufnr: integer)
function on_code(run)
  local bufnr = vim.api.nvim_get_current_buf()
  local preview = require('foldline.preview').of_buffer(bufnr)
  if preview then
    bufnr = vim.uri_to_bufnr(preview.uri)
    vim.fn.bufload(bufnr)
  end
  bufnr = vim.b[bufnr].foldline_source or bufnr
  M.with_client(bufnr, function(client)
    run(client, bufnr)
  end)
end

---@param name string?
---@return string? name or else the word under the cursor; says so where there is none
function word(name)
  local found = name or vim.fn.expand('<cword>')
  if found == '' then
    return M.notify('no name is under the cursor: give one', vim.log.levels.WARN)
  end
  return found
end

return M
