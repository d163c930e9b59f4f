--- What a preview costs, in tokens: of the text alone, with tools and the output's schema apart.
local M = {}

---@class foldline.Counts
---@field inside table<string, integer> by block: how many sections are below it, shown or not
---@field sections integer
---@field summarized integer

--- Counts the sections. Disabled ones are not in the text, and count nothing.
---@param preview foldline.Preview
---@return foldline.Counts
function M.count(preview)
  local counts = { inside = {}, sections = 0, summarized = 0 }
  for _, id in ipairs(preview.order) do
    local block = preview.blocks[id]
    local is_summarized = M.is_summarized(block)
    counts.inside[id] = is_summarized and preview.hidden[block.key] or 0
    counts.sections = counts.sections + (block.enabled and 1 + counts.inside[id] or 0)
    counts.summarized = counts.summarized + (is_summarized and 1 or 0)
  end
  -- From the end: what is below a block comes behind it.
  for index = #preview.order, 1, -1 do
    local id = preview.order[index]
    local above = id:match('^(.*)/[^/]*$')
    if counts.inside[above] then
      local shown = preview.blocks[id].enabled and 1 or 0
      counts.inside[above] = counts.inside[above] + counts.inside[id] + shown
    end
  end
  return counts
end

---@param block foldline.Block
---@return boolean
function M.is_summarized(block)
  return block.enabled and block.visibility == 'SUMMARY'
end

--- What opening a summarized section adds, such as "+269 if opened".
---@param block foldline.Block
---@return string?
function M.if_opened(block)
  local tokens = block.tokens
  if not tokens or not tokens.if_opened or not M.is_summarized(block) then
    return nil
  end
  return M.gain(tokens.if_opened - tokens.subtree)
end

---@param more integer
---@return string "+269 if opened"
function M.gain(more)
  return ('%s%s if opened'):format(more < 0 and '−' or '+', M.amount(math.abs(more)))
end

--- The cost of one section: "94 tokens", "52 tokens, 97 in all", "59 tokens, +269 if opened".
---@param preview foldline.Preview
---@param block foldline.Block
---@return string? cost nil where nothing was counted
function M.label(preview, block)
  if block.error then
    return 'not rendered'
  end
  local tokens = block.tokens
  if not tokens then
    return nil
  end
  local parts = { M.tokens(tokens.self, preview) }
  if tokens.subtree ~= tokens.self then
    table.insert(parts, M.amount(tokens.subtree) .. ' in all')
  end
  table.insert(parts, M.if_opened(block))
  return table.concat(parts, ', ')
end

--- What a closed fold hides: "+8 sections". What it costs stands at the right.
---@param preview foldline.Preview
---@param block foldline.Block
---@return string?
function M.hidden(preview, block)
  local inside = preview.counts.inside[block.id] or 0
  return inside > 0 and ('+%d section%s'):format(inside, inside == 1 and '' or 's') or nil
end

--- How much of the prompt a provider's cache keeps of the last version, tools included: they are
--- sent first.
---@param preview foldline.Preview
---@return string?
function M.cached(preview)
  local kept = preview.kept
  if not kept then
    return nil
  end
  return kept.tools and M.amount(kept.cached) .. ' cached' or '0 cached: the tools changed'
end

--- The whole text, against the budget where there is one: "1,657 of 1,500 tokens".
---@param preview foldline.Preview
---@return string?
function M.total(preview)
  local budget = preview.budget
  if budget and budget.unit == 'bytes' then
    return ('%s of %s bytes'):format(M.amount(budget.used), M.amount(budget.limit))
  end
  local text = preview.tokens and preview.tokens.text
  if text and budget then
    return ('%s of %s'):format(M.amount(text), M.tokens(budget.limit, preview))
  end
  return text and M.tokens(text, preview)
end

---@param count integer
---@param preview { tokens: { exact: boolean }? }?
---@return string
function M.tokens(count, preview)
  local estimated = preview and preview.tokens and preview.tokens.exact == false and '~' or ''
  return ('%s%s token%s'):format(estimated, M.amount(count), count == 1 and '' or 's')
end

---@param count integer
---@return string with a comma before every three digits
function M.amount(count)
  local text = tostring(count):reverse():gsub('(%d%d%d)', '%1,'):reverse()
  return (text:gsub('^,', ''))
end

return M
