--- The winbar of a preview: its name, and what is wrong, or its values and cost. What has no room
--- is left out.
local M = {}

---@class foldline.Bar
---@field group string the highlight group
---@field parts string[] the most important one first

M.EXPRESSION = "%{%v:lua.require'foldline.bar'.draw()%}"

local bars = {} ---@type table<integer, foldline.Bar>

local facts, is_of, problem_key, sentence

--- Computes the bar of a preview, which each redraw fits into its window.
---@param preview foldline.Preview
function M.update(preview)
  bars[preview.buf] = M.of(preview)
end

---@param buf integer
function M.forget(buf)
  bars[buf] = nil
end

---@return string winbar of the window that is drawn
function M.draw()
  local win = vim.g.statusline_winid or vim.api.nvim_get_current_win()
  local bar = bars[vim.api.nvim_win_get_buf(win)]
  if not bar then
    return ''
  end
  local text = M.fit(bar.parts, vim.api.nvim_win_get_width(win) - 2)
  return ('%%#%s# %s'):format(bar.group, (text:gsub('%%', '%%%%')))
end

--- Joins as many parts as there is room for. Of the first one, at least its beginning is shown.
---@param parts string[]
---@param width integer
---@return string
function M.fit(parts, width)
  local text = parts[1]
  if vim.fn.strdisplaywidth(text) > width then
    while text ~= '' and vim.fn.strdisplaywidth(text) > width - 1 do
      text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
    end
    return text .. '…'
  end
  for _, part in ipairs(vim.list_slice(parts, 2)) do
    local longer = ('%s · %s'):format(text, part)
    if vim.fn.strdisplaywidth(longer) > width then
      break
    end
    text = longer
  end
  return text
end

---@param preview foldline.Preview
---@return foldline.Bar
function M.of(preview)
  local name, stale = preview.name, preview.stale
  local function warning(reason, problem, shown)
    local parts = { ('%s · %s'):format(name, reason), shown }
    table.insert(parts, problem.line and problem_key() or nil)
    return { group = 'DiagnosticWarn', parts = parts }
  end
  if preview.lost then
    return { group = 'DiagnosticError', parts = { ('%s · %s'):format(name, preview.lost) } }
  end
  if stale and stale.kind == 'untrusted' then
    local how = 'source only (run :FoldlineTrust to execute)'
    return { group = 'WinBar', parts = { name, how } }
  end
  if stale then
    local shown = #preview.order == 0 and 'no text yet'
      or preview.fidelity == 'static' and 'source only'
      or 'last good text'
    return warning(M.reason(preview, stale), stale, shown)
  end
  for _, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    if block.error then
      local shown = ('%s is not rendered'):format(block.key)
      return warning(M.reason(preview, block.error), block.error, shown)
    end
  end
  local over = preview.budget and preview.budget.over > 0
  return { group = over and 'DiagnosticWarn' or 'WinBar', parts = facts(preview) }
end

--- An error as a sentence, its place once and first: "line 85: this isn't Python: invalid syntax".
---@param preview foldline.Preview
---@param problem { message: string, file: string?, line: integer? }
---@return string
function M.reason(preview, problem)
  local message = sentence(problem.message)
  if not problem.line then
    return message
  end
  local place = is_of(preview, problem.file) and 'line ' .. problem.line
    or ('%s:%d'):format(vim.fs.basename(problem.file), problem.line)
  return ('%s: %s'):format(place, message)
end

--- The message without the places that Python and the server put around it.
---@param message string
---@return string
function sentence(message)
  local text = message:gsub('%s+', ' ')
  local before
  repeat
    before = text
    text = text:gsub('^[^%s:]+:%d+: ', ''):gsub(' %([^()]+, line %d+%)$', '')
  until text == before
  return text
end

---@param preview foldline.Preview
---@param file string?
---@return boolean
function is_of(preview, file)
  return not file or vim.fs.normalize(file) == vim.fs.normalize(vim.uri_to_fname(preview.uri))
end

---@return string? hint how to get to the line of the error
function problem_key()
  local keys = require('foldline.settings').get().keys
  return keys and keys.problem and keys.problem .. ' goes there' or nil
end

--- Its values and its cost, and what a person has to know of them; `K` shows the rest.
---@param preview foldline.Preview
---@return string[]
function facts(preview)
  local parts = { preview.name }
  local function say(text, ...)
    if text then
      table.insert(parts, text:format(...))
    end
  end
  say(preview.parameter_set and '%s', preview.parameter_set)
  say(require('foldline.costs').total(preview))
  local made_up = #(preview.generated or {})
  say(made_up > 0 and '%d value%s made up', made_up, made_up == 1 and '' or 's')
  say(preview.fidelity ~= 'executed' and 'source only')
  for _, effect in ipairs(preview.effects or {}) do
    say('line %d %s', effect.line, effect.message)
  end
  local mismatch = preview.interpreter and preview.interpreter.mismatch
  say(mismatch and '%s', mismatch)
  return parts
end

return M
