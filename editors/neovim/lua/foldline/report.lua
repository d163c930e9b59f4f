--- What a preview costs and where its values come from, as a page.
local M = {}

local add_interpreter, add_sections, add_values, title

--- Shows the tokens of each section, of the tools and of the output's schema; a line leads to its
--- section in the source.
---@param preview foldline.Preview
---@param mods table?
function M.show(preview, mods)
  local costs = require('foldline.costs')
  local lines, sources = {}, {}
  local function add(text, ...)
    table.insert(lines, select('#', ...) > 0 and text:format(...) or text)
  end
  add('%s: %s', preview.name, costs.total(preview) or 'not counted')
  local counts = preview.counts
  add('%d of %d sections summarized, %s', counts.summarized, counts.sections, preview.fidelity)
  if preview.kept then
    add('After the last change: %s', preview.kept.words)
  end
  add_sections(preview, add, function()
    return #lines
  end, sources)
  add_values(preview, add)
  add_interpreter(preview, add)
  require('foldline.scratch').show({
    title = preview.name .. ' tokens',
    lines = lines,
    follow = function(line)
      local location = sources[line]
      if location then
        local file = vim.uri_to_fname(location.uri)
        require('foldline.window').go_to_file(file, location.range.start.line + 1)
      end
    end,
  }, mods)
end

---@param preview foldline.Preview
---@param add fun(text: string, ...: any)
---@param last fun(): integer the number of the last line
---@param sources table<integer, lsp.Location> is added to
function add_sections(preview, add, last, sources)
  local costs = require('foldline.costs')
  add('')
  add('%8s %8s  %s', 'tokens', 'in all', 'section')
  local function row(own, all, what)
    add('%8s %8s  %s', own, all, what)
  end
  for _, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    local own = block.tokens and block.tokens.self
    local subtree = block.tokens and block.tokens.subtree
    local more = costs.if_opened(preview, block)
    local what = ('%s%s'):format(('  '):rep(block.depth), title(block))
    local note = block.error and ' (not rendered)'
      or not block.enabled and ' (disabled)'
      or more and (' (summarized, %s)'):format(more)
      or ''
    row(
      own and costs.amount(own) or '',
      subtree ~= own and costs.amount(subtree) or '',
      what .. note
    )
    sources[last()] = block.location
  end
  for _, tool in ipairs(preview.tools or {}) do
    row(tool.tokens and costs.amount(tool.tokens) or '', '', 'tool ' .. tool.name)
  end
  local output = preview.tokens and preview.tokens.output or 0
  if output > 0 then
    row(costs.amount(output), '', "the output's schema")
  end
end

---@param block foldline.Block
---@return string
function title(block)
  local name = block.title ~= '' and block.title or block.key
  return block.number ~= '' and ('%s. %s'):format(block.number, name) or name
end

---@param preview foldline.Preview
---@param add fun(text: string, ...: any)
function add_values(preview, add)
  local lines = require('foldline.values').lines(preview)
  if #lines > 0 then
    add('')
    add('values%s', preview.parameter_set and (' of the set ' .. preview.parameter_set) or '')
    for _, line in ipairs(lines) do
      add('%s', '  ' .. line:gsub('\n', ' '))
    end
  end
end

---@param preview foldline.Preview
---@param add fun(text: string, ...: any)
function add_interpreter(preview, add)
  local used = preview.interpreter
  if used then
    add('')
    add('run by %s', used.path)
    add('  Python %s, chosen by %s', used.python or '?', used.reason)
    if used.mismatch then
      add('  %s', used.mismatch)
    end
  end
end

return M
