--- What a preview costs, in tokens: its text, its tools and the output's schema.
local M = {}

local about, signed

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

--- What opening a summarized section costs: "+269 if opened". Where that changes the tools, or what
--- a provider's cache keeps, it says so.
---@param preview foldline.Preview
---@param block foldline.Block
---@return string?
function M.if_opened(preview, block)
  local cost = block.tokens and block.tokens.if_opened
  if not cost then
    return nil
  end
  local parts = M.gain(cost.total, preview)
  if cost.tools ~= 0 then
    parts = ('%s (%s text, %s tools)'):format(parts, signed(cost.text), signed(cost.tools))
  end
  local plan = preview.cache
  local mark = plan and cost.breakpoint and plan.breakpoints[cost.breakpoint + 1]
  local again = (plan and plan.cached or 0) - (mark and mark.tokens or 0)
  return again > 0 and ('%s, %s cached tokens read again'):format(parts, M.amount(again)) or parts
end

---@param more integer
---@param preview { tokens: { exact: boolean }? }?
---@return string "+269 if opened"
function M.gain(more, preview)
  return ('%s%s if opened'):format(about(preview), signed(more))
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
  -- Beside a heading there is room for the sum only: the section that is read and the report have
  -- its parts.
  local opening = tokens.if_opened
  table.insert(parts, opening and M.gain(opening.total, preview) or nil)
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

--- All of it, against the budget where there is one: "1,657 of 1,500 tokens (157 over)".
---@param preview foldline.Preview
---@return string?
function M.total(preview)
  return preview.budget and preview.budget.words or preview.tokens and preview.tokens.words[1]
end

---@param preview { tokens: { exact: boolean }? }?
---@return string "~" for a number that is an estimate
function about(preview)
  return preview and preview.tokens and preview.tokens.exact == false and '~' or ''
end

---@param count integer
---@return string "+269"
function signed(count)
  return (count < 0 and '−' or '+') .. M.amount(math.abs(count))
end

---@param count integer
---@param preview { tokens: { exact: boolean }? }?
---@return string
function M.tokens(count, preview)
  return ('%s%s token%s'):format(about(preview), M.amount(count), count == 1 and '' or 's')
end

---@param count integer
---@return string with a comma before every three digits
function M.amount(count)
  local text = tostring(count):reverse():gsub('(%d%d%d)', '%1,'):reverse()
  return (text:gsub('^,', ''))
end

return M
