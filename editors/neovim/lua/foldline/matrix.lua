--- All parameter sets of a prompt by its sections, and how their texts differ.
local M = {}

local GAP = '  '
local LEGEND = '▸ summarized · - left out with what is around it · * not as in '

local difference, draw

--- Renders all sets and shows them as a table, in which <CR> shows how a cell differs.
---@param preview foldline.Preview
---@param base string? the set that others are compared with; the first one
---@param mods table?
function M.show(preview, base, mods)
  local argument = { sessionId = preview.session_id }
  require('foldline.preview').execute(preview, 'prompt.compareSets', argument, function(matrix)
    local some = require('foldline').some
    local shown = vim.tbl_filter(function(set)
      return not some(set.error)
    end, matrix.sets)
    local names = vim.tbl_map(function(set)
      return set.name
    end, shown)
    if #shown == 0 or (base and not vim.list_contains(names, base)) then
      local failed = vim.tbl_map(function(set)
        return ('%s: %s'):format(set.name, some(set.error) or 'is rendered')
      end, matrix.sets)
      return require('foldline').notify(table.concat(failed, '\n'), vim.log.levels.ERROR)
    end
    base = base or names[1]
    local lines, ends = draw(matrix, base)
    if not mods or not (mods.vertical or mods.horizontal or mods.tab >= 0) then
      -- The table is wide.
      mods = { horizontal = true, split = 'botright' }
    end
    require('foldline.scratch').show({
      title = preview.name .. ' sets',
      lines = lines,
      follow = function(line)
        local row, column = matrix.rows[line - 1], vim.fn.virtcol('.')
        for index, set in ipairs(row and matrix.sets or {}) do
          if column > ends[index] and column <= ends[index + 1] then
            return difference(preview, row, base, set.name)
          end
        end
        require('foldline').notify('put the cursor on a number: <CR> compares it with ' .. base)
      end,
    }, mods)
  end)
end

--- The lines of the table, and where its columns end on the screen.
---@param matrix { rows: table[], sets: table[] }
---@param base string
---@return string[]
---@return integer[]
function draw(matrix, base)
  local columns = { { '' } }
  for _, row in ipairs(matrix.rows) do
    local title = row.title ~= '' and row.title or row.key
    table.insert(columns[1], ('  '):rep(row.depth) .. title)
  end
  local known = vim.iter(matrix.sets):find(function(set)
    return set.name == base
  end).cells
  local notes = { '', LEGEND .. base }
  for _, set in ipairs(matrix.sets) do
    local column = { set.name .. ' ' }
    for index in ipairs(matrix.rows) do
      local cell = set.cells[index]
      local mark = cell and cell.variant ~= known[index].variant and '*' or ' '
      table.insert(column, cell and cell.words .. mark or '')
    end
    table.insert(columns, column)
    local err = require('foldline').some(set.error)
    if err then
      table.insert(notes, ('%s: %s'):format(set.name, err))
    end
  end
  local lines, ends = {}, {}
  for index, column in ipairs(columns) do
    local width = math.max(unpack(vim.tbl_map(vim.fn.strdisplaywidth, column)))
    ends[index] = width + (ends[index - 1] and ends[index - 1] + #GAP or 0)
    for line, text in ipairs(column) do
      local blank = (' '):rep(width - vim.fn.strdisplaywidth(text))
      lines[line] = index == 1 and text .. blank or lines[line] .. GAP .. blank .. text
    end
  end
  return vim.list_extend(lines, notes), ends
end

--- Shows how a section differs with two sets; in a row that is none, how the prompt does.
---@param preview foldline.Preview
---@param row { id: string?, title: string, key: string }
---@param before string
---@param after string
function difference(preview, row, before, after)
  local argument = { sessionId = preview.session_id, before_set = before, after_set = after }
  require('foldline.preview').execute(preview, 'prompt.diff', argument, function(found)
    local unified = found.unified
    if require('foldline').some(row.id) then
      local own = vim.iter(found.changes):find(function(change)
        return change.id == row.id
      end)
      unified = own and own.unified or ''
    end
    if unified == '' then
      local message = ('%s: the same text with %s and %s'):format(row.title, before, after)
      return require('foldline').notify(message)
    end
    local title = ('%s: %s, %s'):format(row.title, before, after)
    local lines = vim.split(vim.trim(unified), '\n', { plain = true })
    require('foldline.scratch').show({ title = title, lines = lines, syntax = 'diff' })
  end)
end

return M
