--- Prompts of the workspace: a page of them all, a new one, one made of a string.
local M = {}

local NEW_MS = 30000
local EXAMPLE = 'prompts/support.py'

local add_prompt, adopt, adopt_beside, adopt_of_folder, create, go_to_range, with_costs

--- Shows all prompts with their sections and tokens; a line leads to its source.
---@param client vim.lsp.Client
---@param mods table?
function M.list(client, mods)
  local foldline = require('foldline')
  foldline.execute(client, 'prompt.list', {}, function(prompts)
    if #prompts == 0 then
      return foldline.notify('the workspace has no prompts: :FoldlineNew writes one')
    end
    with_costs(client, prompts, function(costs)
      local page, files = { lines = {}, targets = {} }, {}
      for index, prompt in ipairs(prompts) do
        local file = vim.uri_to_fname(prompt.uri)
        if not files[file] then
          files[file] = true
          local name = vim.fs.relpath(client.root_dir or vim.uv.cwd(), file) or file
          table.insert(page.lines, name)
          page.targets[#page.lines] = { uri = prompt.uri }
        end
        add_prompt(page, prompt, costs[index])
      end
      require('foldline.scratch').show({
        title = 'prompts',
        lines = page.lines,
        folds = true,
        follow = function(line)
          local target = page.targets[line]
          if target then
            go_to_range(target)
          end
        end,
      }, mods)
    end)
  end)
end

--- Writes a prompt module to begin with, and shows it beside its preview. Without a path it asks.
---@param path string?
function M.new(path)
  if path then
    return create(vim.fs.abspath(path))
  end
  local question = { prompt = 'Module to write: ', default = EXAMPLE, completion = 'file' }
  vim.ui.input(question, function(typed)
    if typed and typed ~= '' then
      create(vim.fs.abspath(typed))
    end
  end)
end

--- What the server can't know of an adoption, and the user can.
---@class foldline.Adopting
---@field uri lsp.DocumentUri
---@field name string?
---@field line integer?
---@field style string?
---@field output string?

--- Makes a prompt module of a text of a file, by default the one at the cursor; of a folder it
--- lists the texts first.
---@param client vim.lsp.Client
---@param bufnr integer
---@param target string? a name in the file, or a folder
function M.adopt(client, bufnr, target)
  if target and vim.fn.isdirectory(target) == 1 then
    return adopt_of_folder(client, vim.fs.abspath(target))
  end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  adopt(client, { uri = vim.uri_from_bufnr(bufnr), name = target, line = line })
end

--- Opens the preview in a browser.
---@param preview foldline.Preview
function M.browse(preview)
  local argument = { sessionId = preview.session_id }
  require('foldline.preview').execute(preview, 'prompt.serve', argument, function(page)
    local _, err = vim.ui.open(page.url)
    if err then
      local message = ('%s: open %s yourself'):format(err, page.url)
      require('foldline').notify(message, vim.log.levels.WARN)
    end
  end)
end

--- Shows the prompt once with another parameter set; the preview stays as it is. Without a name it
--- asks.
---@param preview foldline.Preview
---@param set string?
---@param mods table?
function M.render(preview, set, mods)
  if not set then
    local sets = require('foldline.values').set_names(preview)
    return vim.ui.select(sets, { prompt = 'Render once with which set?' }, function(chosen)
      if chosen then
        M.render(preview, chosen, mods)
      end
    end)
  end
  local argument = { sessionId = preview.session_id, parameter_set = set }
  require('foldline.preview').execute(preview, 'prompt.render', argument, function(render)
    require('foldline.scratch').show({
      title = ('%s with %s'):format(preview.name, set),
      lines = vim.split(render.text, '\n', { plain = true }),
      syntax = 'markdown',
    }, mods)
  end)
end

--- Counts the tokens of all prompts; one that can't be counted has none.
---@param client vim.lsp.Client
---@param prompts foldline.Prompt[]
---@param done fun(costs: table<integer, table>)
function with_costs(client, prompts, done)
  local costs, waiting = {}, #prompts
  local function one_less()
    waiting = waiting - 1
    if waiting == 0 then
      done(costs)
    end
  end
  for index, prompt in ipairs(prompts) do
    local argument = { uri = prompt.uri, name = prompt.name }
    require('foldline').execute(client, 'prompt.tokens', argument, function(counted)
      costs[index] = counted
      one_less()
    end, one_less)
  end
end

---@class foldline.Target
---@field uri lsp.DocumentUri
---@field range lsp.Range?

---@param page { lines: string[], targets: table<integer, foldline.Target> }
---@param prompt foldline.Prompt
---@param cost table?
function add_prompt(page, prompt, cost)
  local costs = require('foldline.costs')
  local some = require('foldline').some
  local about = cost and { tokens = { exact = cost.exact and cost.certain } } or nil
  local by_key = {}
  for _, section in ipairs(cost and cost.sections or {}) do
    by_key[section.key] = section
  end
  local function add(depth, range, ...)
    local parts = { ... }
    table.insert(page.lines, ('  '):rep(depth) .. table.concat(parts, '  '))
    page.targets[#page.lines] = { uri = prompt.uri, range = range }
  end
  local total = cost and costs.tokens(cost.tokens, about)
  local budget = cost and some(cost.budget)
  if total and budget then
    total = ('%s of %s'):format(total:match('^%S+'), costs.tokens(budget))
  end
  add(1, prompt.range, prompt.name, total)
  local function add_sections(sections, depth)
    for _, section in ipairs(sections) do
      local counted = by_key[section.key]
      local gain = counted and some(counted.if_opened)
      local number = section.number ~= '' and section.number .. '. ' or ''
      local shown = counted and costs.tokens(counted.subtree, about) or ''
      if section.visibility == 'SUMMARY' then
        shown = shown .. (counted and ', ' or '') .. 'summarized'
      end
      add(
        depth,
        section.range,
        number .. section.title,
        shown .. (gain and ', ' .. costs.gain(gain.total, about) or '')
      )
      add_sections(section.children, depth + 1)
    end
  end
  add_sections(prompt.sections, 2)
end

---@param client vim.lsp.Client
---@param folder string
function adopt_of_folder(client, folder)
  local foldline = require('foldline')
  foldline.execute(client, 'prompt.adopt', { uri = vim.uri_from_fname(folder) }, function(answer)
    if #answer.prompts == 0 then
      return foldline.notify('no string or template below this folder looks like a prompt')
    end
    local function shown(prompt)
      if prompt.more > 0 then
        return ('%s  %s'):format(prompt.target, prompt.reason)
      end
      local fields = foldline.some(prompt.fields)
      local values = fields and ('%d field%s'):format(fields, fields == 1 and '' or 's')
      return ('%s  %s, %d characters, %s'):format(
        prompt.target,
        prompt.style,
        prompt.size,
        values or prompt.reason
      )
    end
    local options = { prompt = 'Adopt which text as a prompt?', format_item = shown }
    vim.ui.select(answer.prompts, options, function(prompt)
      if prompt then
        local name = prompt.name ~= '' and prompt.name or nil
        adopt(client, { uri = prompt.uri, name = name })
      end
    end)
  end)
end

---@param client vim.lsp.Client
---@param chosen foldline.Adopting
function adopt(client, chosen)
  local foldline = require('foldline')
  --- Asks for one of these, and adopts with it.
  local function ask(field, choices, question)
    vim.ui.select(choices, { prompt = question }, function(choice)
      if choice then
        adopt(client, vim.tbl_extend('force', chosen, { [field] = choice }))
      end
    end)
  end
  local argument = vim.tbl_extend('force', chosen, { apply = true })
  foldline.execute(client, 'prompt.adopt', argument, function(adopted)
    vim.cmd.edit({ vim.fn.fnameescape(vim.uri_to_fname(adopted.uri)), mods = { silent = true } })
  end, function(err)
    local data = foldline.some(err.data)
    data = type(data) == 'table' and data or {}
    if foldline.some(data.exists) then
      return adopt_beside(client, chosen, vim.uri_to_fname(data.exists))
    elseif foldline.some(data.near) and not chosen.name then
      return ask('name', data.near, 'Adopt which text as a prompt?')
    elseif foldline.some(data.styles) and not chosen.style then
      return ask('style', data.styles, err.message)
    end
    foldline.report(err)
  end)
end

--- Opens the module that exists, or writes another one.
---@param client vim.lsp.Client
---@param chosen foldline.Adopting
---@param file string
function adopt_beside(client, chosen, file)
  local name = vim.fs.basename(file)
  local open = 'open ' .. name
  local options = { prompt = name .. ' already exists and was not changed:' }
  vim.ui.select({ open, 'write another module' }, options, function(choice)
    if choice == open then
      vim.cmd.edit(vim.fn.fnameescape(file))
    elseif choice then
      local question = { prompt = 'Module to write: ', default = name:gsub('%.py$', '_2.py') }
      vim.ui.input(question, function(typed)
        if typed and typed ~= '' then
          adopt(client, vim.tbl_extend('force', chosen, { output = typed }))
        end
      end)
    end
  end)
end

---@param target foldline.Target
function go_to_range(target)
  local line = target.range and target.range.start.line + 1 or 1
  require('foldline.window').go_to_file(vim.uri_to_fname(target.uri), line)
end

--- Runs `foldline new` of the server's program.
---@param file string
function create(file)
  local foldline = require('foldline')
  local server = vim.lsp.config.foldline.cmd
  local program = {}
  for _, part in ipairs(type(server) == 'table' and server or {}) do
    if part == 'serve' then
      vim.list_extend(program, { 'new', file })
      break
    end
    table.insert(program, part)
  end
  if program[#program] ~= file then
    return foldline.notify(
      "the server's command isn't foldline's own: run `foldline new` yourself",
      vim.log.levels.ERROR
    )
  end
  local options = { text = true, cwd = vim.uv.os_homedir(), timeout = NEW_MS }
  local function written(result)
    if result.code ~= 0 then
      local message = vim.trim(result.stderr):gsub('^foldline new: ', '')
      return foldline.notify(message, vim.log.levels.ERROR)
    end
    vim.cmd.edit(vim.fn.fnameescape(file))
    local name = vim.fs.basename(file):gsub('%.py$', '')
    foldline.preview({ uri = vim.uri_from_fname(file), name = name })
  end
  local started, why = pcall(vim.system, program, options, vim.schedule_wrap(written))
  if not started then
    foldline.notify(tostring(why), vim.log.levels.ERROR)
  end
end

return M
