--- Prompts of the workspace: a page of them all, a new one, one made of a string.
local M = {}

local NEW_MS = 30000
local EXAMPLE = 'prompts/support.py'

local add_prompt, create, go_to_range, with_costs

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

--- Makes a prompt module of a string, an f-string, a template or messages of the file. Without a
--- name it asks where there are several.
---@param client vim.lsp.Client
---@param bufnr integer
---@param name string?
---@param style string?
function M.adopt(client, bufnr, name, style)
  local foldline = require('foldline')
  local uri = vim.uri_from_bufnr(bufnr)
  local argument = { uri = uri, name = name, style = style, apply = true }
  foldline.execute(client, 'prompt.adopt', argument, function(adopted)
    vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(adopted.uri)))
  end, function(err)
    local data = foldline.some(err.data)
    local names = type(data) == 'table' and foldline.some(data.near)
    local styles = type(data) == 'table' and foldline.some(data.styles)
    if names and not name then
      vim.ui.select(names, { prompt = 'Adopt which text as a prompt?' }, function(chosen)
        if chosen then
          M.adopt(client, bufnr, chosen)
        end
      end)
    elseif styles and not style then
      vim.ui.select(styles, { prompt = err.message }, function(chosen)
        if chosen then
          M.adopt(client, bufnr, name, chosen)
        end
      end)
    else
      foldline.report(err)
    end
  end)
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
