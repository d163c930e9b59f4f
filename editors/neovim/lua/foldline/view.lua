--- The buffer of a preview: where each block stands in it, its folds, hints and banner, and how new
--- text gets in without moving what the reader looks at.
local M = {}

---@class foldline.Layout
---@field lines string[]
---@field starts integer[] for each block of `order`, the 1-based line that it begins on
---@field levels table<integer, string> what 'foldexpr' says of each line

local hints = vim.api.nvim_create_namespace('foldline.preview')
local layouts = {} ---@type table<integer, foldline.Layout>

local apply, banner, bar, begun, differences, facts, moved, plan_lines, some, text_of

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
    end,
  })
  vim.api.nvim_create_autocmd('BufWinEnter', {
    buffer = buf,
    callback = function()
      M.dress(vim.api.nvim_get_current_win(), preview)
    end,
  })
  return buf
end

--- Sets the options of a window that shows a preview, which stay behind when it shows another
--- buffer.
---@param win integer
---@param preview foldline.Preview
function M.dress(win, preview)
  local options = vim.wo[win][0]
  options.foldmethod = 'expr'
  options.foldexpr = "v:lua.require'foldline.view'.fold_level()"
  options.foldlevel = 99
  options.foldtext = ''
  options.foldenable = true
  options.wrap = true
  options.linebreak = true
  options.breakindent = true
  options.winbar = banner(preview)
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
      vim.wo[win][0].winbar = banner(preview)
    end)
  end
  vim.api.nvim_buf_clear_namespace(preview.buf, hints, 0, -1)
  local roles = begun(preview)
  for index, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    if roles[id] then
      -- A line above the first one would be out of sight.
      vim.api.nvim_buf_set_extmark(preview.buf, hints, layout.starts[index] - 1, 0, {
        virt_text = { { roles[id] .. ' message', 'Special' } },
        virt_text_pos = 'right_align',
      })
    end
    local hint = block.visibility == 'SUMMARY' and '▸ <CR> opens'
      or block.opened and '▾ c closes'
      or nil
    if hint and block.text ~= '' then
      vim.api.nvim_buf_set_extmark(preview.buf, hints, layout.starts[index] - 1, 0, {
        virt_text = { { hint, 'Comment' } },
        virt_text_pos = 'eol',
      })
    end
  end
end

--- Shows in a floating window what a provider's cache can keep.
---@param preview foldline.Preview
function M.show_plan(preview)
  local lines = plan_lines(some(preview.cache))
  vim.lsp.util.open_floating_preview(lines, '', {
    border = 'single',
    title = 'Cache plan',
    wrap = false,
  })
end

--- The block that stands on a line.
---@param preview foldline.Preview
---@param line integer 1-based
---@return foldline.Block?
function M.block_at(preview, line)
  local layout = layouts[preview.buf]
  for index = #preview.order, 1, -1 do
    local block = preview.blocks[preview.order[index]]
    if layout and block.text ~= '' and layout.starts[index] <= line then
      return block
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

---@param preview foldline.Preview
---@return string winbar
function banner(preview)
  local stale = some(preview.stale)
  if preview.lost then
    return bar('DiagnosticError', { preview.name, preview.lost })
  end
  if stale and stale.kind == 'untrusted' then
    return bar(
      'WinBar',
      { preview.name, 'static', 'not trusted, so nothing of it is run: :FoldlineTrust' }
    )
  end
  if stale then
    local file = some(stale.file)
    local where = file and ('%s:%s: '):format(vim.fs.basename(file), some(stale.line) or '?') or ''
    local text = preview.fidelity == 'static' and 'by its source alone' or 'last good text'
    local shown = #preview.order > 0 and text or 'no text yet'
    return bar('DiagnosticWarn', { preview.name, shown, where .. stale.message })
  end
  local folded = 0
  for _, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    folded = folded + (block.visibility == 'SUMMARY' and 1 or 0)
    local problem = some(block.error)
    if problem then
      return bar(
        'DiagnosticWarn',
        { preview.name, ('%s is not rendered'):format(block.key), problem.message }
      )
    end
  end
  local count = ('%d of %d sections folded'):format(folded, #preview.order)
  local parts = { preview.name, some(preview.fidelity) or '?', count }
  return bar('WinBar', vim.list_extend(parts, facts(preview)))
end

--- What the prompt costs, what a provider's cache keeps of the last version, what it does besides.
---@param preview foldline.Preview
---@return string[]
function facts(preview)
  local found = {}
  local tokens, kept = some(preview.tokens), some(preview.kept)
  if tokens then
    local cached = kept and (kept.tools and (', %d kept'):format(kept.tokens) or ', none kept')
      or ''
    table.insert(found, ('%d tokens%s'):format(tokens.total, cached))
  end
  local plan = some(preview.cache)
  if plan and plan.sentence ~= '' then
    table.insert(found, plan.sentence)
  end
  for _, effect in ipairs(some(preview.effects) or {}) do
    table.insert(found, ('line %d %s'):format(effect.line, effect.message))
  end
  return found
end

--- The role of each block that a message begins with; one message of the user needs no name.
---@param preview foldline.Preview
---@return table<string, string> roles by the block's id
function begun(preview)
  local found, before, named = {}, nil, false
  for _, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    local role = some(block.role) or 'user'
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
    local cost = ('%d tokens, %s; a change makes %d new'):format(
      stage.tokens,
      stage.why,
      stage.change
    )
    table.insert(lines, ('%s: %s'):format(name, cost))
    local mark = some(stage.breakpoint)
    if mark then
      table.insert(lines, '── ' .. mark)
    end
  end
  return lines
end

---@param highlight string
---@param parts string[]
---@return string winbar whose end is cut off where it is too long
function bar(highlight, parts)
  local text = table.concat(parts, ' · '):gsub('%s+', ' '):gsub('%%', '%%%%')
  return ('%%#%s# %s%%<'):format(highlight, text)
end

---@param order string[]
---@param blocks table<string, foldline.Block>
---@return string
function text_of(order, blocks)
  return table.concat(vim.tbl_map(function(id)
    return blocks[id].text
  end, order))
end

function some(value)
  return require('foldline').some(value)
end

return M
