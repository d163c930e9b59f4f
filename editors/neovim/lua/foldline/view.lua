--- The buffer of a preview: where each block stands in it, its folds and what is said beside the
--- text, and how new text gets in without moving what the reader looks at.
local M = {}

---@class foldline.Layout
---@field lines string[]
---@field starts integer[] for each block of `order`, the 1-based line that it begins on
---@field levels table<integer, string> what 'foldexpr' says of each line

local hints = vim.api.nvim_create_namespace('foldline.preview')
local layouts = {} ---@type table<integer, foldline.Layout>
local shown = {} ---@type table<integer, foldline.Preview>

local apply, begun, decorate, differences, made_up, mark_made_up, moved, plan_lines, text_of

---@param preview foldline.Preview
---@return integer buf
function M.create(preview)
  local buf = vim.api.nvim_create_buf(false, true)
  local file = vim.fn.fnamemodify(vim.uri_to_fname(preview.uri), ':~:.')
  vim.api.nvim_buf_set_name(buf, ('foldline://%s#%s'):format(file, preview.name))
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = 'markdown'
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      layouts[buf] = nil
      shown[buf] = nil
      require('foldline.bar').forget(buf)
    end,
  })
  vim.api.nvim_create_autocmd('BufWinEnter', {
    buffer = buf,
    callback = function()
      M.dress(vim.api.nvim_get_current_win())
    end,
  })
  return buf
end

--- Sets the options of a window that shows a preview, which stay behind when it shows another
--- buffer.
---@param win integer
function M.dress(win)
  local options = vim.wo[win][0]
  options.foldmethod = 'expr'
  options.foldexpr = "v:lua.require'foldline.view'.fold_level()"
  options.foldlevel = 99
  options.foldtext = "v:lua.require'foldline.view'.fold_text()"
  options.fillchars = vim.o.fillchars .. (vim.o.fillchars == '' and '' or ',') .. 'fold: '
  options.foldenable = true
  options.wrap = true
  options.linebreak = true
  options.breakindent = true
  options.winbar = require('foldline.bar').EXPRESSION
end

---@return string level of the line `v:lnum`, for 'foldexpr'
function M.fold_level()
  local layout = layouts[vim.api.nvim_get_current_buf()]
  return layout and layout.levels[vim.v.lnum] or '0'
end

--- Brings the buffer up to date. Only lines that differ are touched; cursors and scroll positions
--- stay on the text they were on.
---@param preview foldline.Preview
function M.draw(preview)
  preview.counts = require('foldline.costs').count(preview)
  local layout = M.layout(preview.order, preview.blocks)
  layouts[preview.buf] = layout
  local changes = differences(vim.api.nvim_buf_get_lines(preview.buf, 0, -1, false), layout.lines)
  local views = {} ---@type table<integer, vim.fn.winsaveview.ret>
  for _, win in ipairs(vim.fn.win_findbuf(preview.buf)) do
    views[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  apply(preview.buf, changes, layout.lines)
  for win, view in pairs(views) do
    vim.api.nvim_win_call(win, function()
      -- Set anew, the method is applied to every line: an edit alone re-reads the level of the
      -- lines it touched, in the middle of the change. Folds stay as open as they were.
      vim.wo[win][0].foldmethod = 'expr'
      view.lnum = moved(view.lnum, changes)
      view.topline = moved(view.topline, changes)
      vim.fn.winrestview(view)
    end)
  end
  shown[preview.buf] = preview
  require('foldline.bar').update(preview)
  decorate(preview, layout)
  require('foldline.trace').follow()
  vim.cmd.redrawstatus({ bang = true })
end

--- Says at the right edge of each heading which message it begins, what the section costs, and
--- which key opens or closes it; marks values that were made up.
---@param preview foldline.Preview
---@param layout foldline.Layout
function decorate(preview, layout)
  vim.api.nvim_buf_clear_namespace(preview.buf, hints, 0, -1)
  local settings = require('foldline.settings').get()
  local keys = settings.hints and settings.keys or {}
  local costs = require('foldline.costs')
  local roles, fields = begun(preview), made_up(preview)
  local function say(line, chunks)
    local text = {}
    for _, chunk in ipairs(chunks) do
      table.insert(text, { #text > 0 and ' · ' .. chunk[1] or chunk[1], chunk[2] })
    end
    vim.api.nvim_buf_set_extmark(preview.buf, hints, line - 1, 0, {
      virt_text = text,
      virt_text_pos = 'right_align',
    })
  end
  for index, id in ipairs(preview.order) do
    local block, line = preview.blocks[id], layout.starts[index]
    if block.text ~= '' then
      local key = costs.is_summarized(block) and keys.open and '▸ ' .. keys.open
        or block.opened and keys.close and '▾ ' .. keys.close
      local label = settings.tokens and costs.label(preview, block)
      local edge = {}
      if roles[id] then
        table.insert(edge, { roles[id] .. ' message', 'Special' })
      end
      for _, text in ipairs({ label or nil, key or nil }) do
        table.insert(edge, { text, 'Comment' })
      end
      if #edge > 0 then
        say(line, edge)
      end
      mark_made_up(preview.buf, block, line, fields)
    end
  end
end

--- The names of fields whose values were made up, with `true` where no other dataclass has a field
--- of that name whose value was not.
---@param preview foldline.Preview
---@return table<string, boolean>
function made_up(preview)
  local found = {}
  for _, parameters in ipairs(preview.parameters or {}) do
    for _, field in ipairs(parameters.fields) do
      local generated = require('foldline.values').is_made_up(preview, parameters, field)
      found[field.name] = generated and found[field.name] ~= false
    end
  end
  return found
end

---@param buf integer
---@param block foldline.Block
---@param line integer
---@param fields table<string, boolean>
function mark_made_up(buf, block, line, fields)
  local row, column = line - 1, 0
  for _, segment in ipairs(block.segments or {}) do
    local lines = vim.split(segment.text, '\n', { plain = true })
    local last = #lines > 1 and #lines[#lines] or column + #lines[1]
    local field = segment.field and segment.field:match('^[^.[]+')
    if field and fields[field] then
      vim.api.nvim_buf_set_extmark(buf, hints, row, column, {
        end_row = row + #lines - 1,
        end_col = last,
        hl_group = 'FoldlineMadeUp',
        strict = false,
      })
    end
    row, column = row + #lines - 1, last
  end
end

--- A closed fold: its heading, and how many sections it hides. What it costs stands at the right.
---@return [string, string][] chunks for 'foldtext'
function M.fold_text()
  local first = vim.v.foldstart
  local preview = shown[vim.api.nvim_get_current_buf()]
  local block = preview and M.block_at(preview, first)
  local heading = vim.fn.getline(first)
  local level = #(heading:match('^#*'))
  local group = level > 0 and ('@markup.heading.%d.markdown'):format(math.min(level, 6)) or 'Folded'
  local chunks = { { heading, group } }
  local layout = preview and layouts[preview.buf]
  if block and layout and (layout.levels[first] or ''):sub(1, 1) == '>' then
    local hidden = require('foldline.costs').hidden(preview, block)
    if hidden then
      table.insert(chunks, { ' · ' .. hidden, 'Comment' })
    end
  end
  return chunks
end

--- Shows in a floating window what the prompt costs, and what a provider's cache can keep.
---@param preview foldline.Preview
function M.show_plan(preview)
  local counts, lines = preview.counts, vim.deepcopy((preview.tokens or {}).words or {})
  table.insert(lines, ('%d of %d sections summarized'):format(counts.summarized, counts.sections))
  if preview.kept then
    table.insert(lines, 'After the last change: ' .. preview.kept.words)
  end
  table.insert(lines, '')
  require('foldline.scratch').float('Costs', vim.list_extend(lines, plan_lines(preview.cache)))
end

--- The block that stands on a line, and the line that it begins on.
---@param preview foldline.Preview
---@param line integer 1-based
---@return foldline.Block?
---@return integer start 1-based
function M.block_at(preview, line)
  local layout = layouts[preview.buf]
  for index = #preview.order, 1, -1 do
    local block = preview.blocks[preview.order[index]]
    if layout and block.text ~= '' and layout.starts[index] <= line then
      return block, layout.starts[index]
    end
  end
  return nil, 0
end

--- The line that a block begins on.
---@param preview foldline.Preview
---@param id string
---@return integer? line 1-based
function M.start_of(preview, id)
  local layout = layouts[preview.buf]
  for index, other in ipairs(layout and preview.order or {}) do
    if other == id then
      return layout.starts[index]
    end
  end
end

---@param order string[]
---@param blocks table<string, foldline.Block>
---@return foldline.Layout
function M.layout(order, blocks)
  local lines = vim.split(text_of(order, blocks), '\n', { plain = true })
  if #lines > 1 and lines[#lines] == '' then
    table.remove(lines)
  end
  local layout = { lines = lines, starts = {}, levels = {} }
  local line = 1
  for _, id in ipairs(order) do
    local block = blocks[id]
    table.insert(layout.starts, math.min(line, #lines))
    if block.text ~= '' then
      local _, breaks = block.text:gsub('\n', '')
      layout.levels[line] = '>' .. (block.depth + 1)
      for inner = line + 1, line + breaks do
        layout.levels[inner] = tostring(block.depth + 1)
      end
      line = line + breaks
    end
  end
  return layout
end

--- A change: `count` lines from `first` on become the lines
--- `new_first … new_first + new_count - 1`.
---@class foldline.Change
---@field first integer
---@field count integer
---@field new_first integer
---@field new_count integer

---@param old string[]
---@param new string[]
---@return foldline.Change[] changes from top to bottom
function differences(old, new)
  -- 0.12 moved it; both take the same arguments.
  local diff = vim.text.diff or vim.diff
  local hunks = diff(table.concat(old, '\n') .. '\n', table.concat(new, '\n') .. '\n', {
    result_type = 'indices',
    linematch = 60,
  }) --[[@as integer[][] ]]
  return vim.tbl_map(function(hunk)
    -- A side without lines is numbered by the line before it.
    return {
      first = hunk[2] > 0 and hunk[1] or hunk[1] + 1,
      count = hunk[2],
      new_first = hunk[4] > 0 and hunk[3] or hunk[3] + 1,
      new_count = hunk[4],
    }
  end, hunks)
end

---@param buf integer
---@param changes foldline.Change[]
---@param lines string[]
function apply(buf, changes, lines)
  vim.bo[buf].modifiable = true
  -- From the top: what is above a change already has its final numbers.
  for _, change in ipairs(changes) do
    local first = change.new_first - 1
    local fresh = vim.list_slice(lines, change.new_first, change.new_first + change.new_count - 1)
    vim.api.nvim_buf_set_lines(buf, first, first + change.count, false, fresh)
  end
  vim.bo[buf].modifiable = false
end

---@param line integer
---@param changes foldline.Change[]
---@return integer line after the changes
function moved(line, changes)
  local shift = 0
  for _, change in ipairs(changes) do
    if line < change.first then
      break
    end
    if line < change.first + change.count then
      return change.new_first + math.max(0, math.min(line - change.first, change.new_count - 1))
    end
    shift = shift + change.new_count - change.count
  end
  return line + shift
end

--- The role of each block that a message begins with; one message of the user needs no name.
---@param preview foldline.Preview
---@return table<string, string> roles by the block's id
function begun(preview)
  local found, before, named = {}, nil, false
  for _, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    local role = block.role or 'user'
    named = named or role ~= 'user'
    if block.text ~= '' and role ~= before then
      found[id], before = role, role
    end
  end
  return named and found or {}
end

---@param plan foldline.CachePlan?
---@return string[]
function plan_lines(plan)
  if not plan or #plan.stages == 0 then
    return { 'Nothing is known of what a cache can keep.' }
  end
  local lines = { plan.sentence, '' }
  for _, stage in ipairs(plan.stages) do
    local name = stage.first == stage.last and stage.first
      or ('%s … %s'):format(stage.first, stage.last)
    local cost = ('%d tokens, %s; re-read if changed: %d'):format(
      stage.tokens,
      stage.why,
      stage.change
    )
    table.insert(lines, ('%s: %s'):format(name, cost))
    if stage.breakpoint then
      table.insert(lines, '── ' .. stage.breakpoint)
    end
  end
  return lines
end

---@param order string[]
---@param blocks table<string, foldline.Block>
---@return string
function text_of(order, blocks)
  return table.concat(vim.tbl_map(function(id)
    return blocks[id].text
  end, order))
end

return M
