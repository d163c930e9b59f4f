--- The steps of a preview, and how two versions of its text differ.
local M = {}

---@class foldline.Step
---@field number integer
---@field version integer
---@field action string
---@field section_keys string[]
---@field parameter_set string?
---@field is_last boolean

local ACTIONS = {
  start = 'start',
  open = 'opened',
  close = 'closed',
  params = 'changed the values',
  reset = 'took everything back',
}

-- What the server calls the text in the editor.
local NOW = 'now'

local address_of, describe, say_what_else, show_side

--- Lists the steps that undo goes back through; the one that is chosen is compared with what is
--- shown now.
---@param preview foldline.Preview
function M.choose(preview)
  local argument = { sessionId = preview.session_id }
  require('foldline.preview').execute(preview, 'prompt.history', argument, function(history)
    local steps = {}
    for number, step in ipairs(history.steps) do
      step.number, step.is_last = number, number == #history.steps
      table.insert(steps, 1, step)
    end
    vim.ui.select(steps, {
      prompt = 'Compare which step with what is shown now?',
      format_item = describe,
    }, function(step)
      if step and step.is_last then
        return require('foldline').notify('this step is shown now')
      end
      if step then
        M.compare(preview, { before = step.version })
      end
    end)
  end)
end

--- Compares two versions in diff mode, in a tab page of their own. What is shown now follows its
--- source there, too.
---@param preview foldline.Preview
---@param versions { before: integer?, revision: string? } empty: the last two versions
function M.compare(preview, versions)
  local argument = vim.tbl_extend('error', versions, { sessionId = preview.session_id })
  require('foldline.preview').execute(preview, 'prompt.diff', argument, function(comparison)
    if comparison.unified == '' then
      return say_what_else(comparison)
    end
    local tokens = comparison.tokens
    vim.cmd.tabnew()
    show_side(preview, comparison.before, tokens.before)
    vim.cmd.vsplit({ mods = { split = 'belowright' } })
    show_side(preview, comparison.after, tokens.after)
    if comparison.caveat ~= '' then
      require('foldline').notify(comparison.caveat)
    end
  end)
end

---@param step foldline.Step
---@return string "3. opened workspace.history (shown now)"
function describe(step)
  local some = require('foldline').some
  local what = { ACTIONS[step.action] or step.action }
  vim.list_extend(what, step.section_keys)
  if step.action == 'params' and some(step.parameter_set) then
    table.insert(what, ('(set %s)'):format(step.parameter_set))
  end
  return ('%d. %s%s'):format(
    step.number,
    table.concat(what, ' '),
    step.is_last and ' (shown now)' or ''
  )
end

--- The texts are equal; tools and the answer's schema may differ.
---@param comparison { before: string, after: string, tools: { name: string, change: string }[],
---  output: string, caveat: string }
function say_what_else(comparison)
  local tools = vim.tbl_map(function(tool)
    return ('the tool %s was %s'):format(tool.name, tool.change)
  end, comparison.tools)
  if comparison.output ~= '' then
    table.insert(tools, ("the answer's schema was %s"):format(comparison.output))
  end
  local else_ = #tools > 0 and '; ' .. table.concat(tools, ', ') or ''
  local caveat = comparison.caveat ~= '' and '. ' .. comparison.caveat or ''
  local message = ('%s and %s have the same text%s%s'):format(
    comparison.before,
    comparison.after,
    else_,
    caveat
  )
  require('foldline').notify(message)
end

--- Shows one side in the current window.
---@param preview foldline.Preview
---@param label string "version 3", a revision of git, or "now"
---@param tokens integer with the tools
function show_side(preview, label, tokens)
  local address = address_of(preview, label)
  vim.cmd.edit({ vim.fn.fnameescape(address), mods = { keepalt = true } })
  local buf = vim.api.nvim_get_current_buf()
  vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = buf, desc = 'Close the comparison' })
  local cost = require('foldline.costs').tokens(tokens, preview)
  local title = (' %s · %s · %s with tools'):format(label, preview.name, cost)
  vim.wo[0][0].winbar = title:gsub('%%', '%%%%')
  vim.cmd.diffthis()
end

---@param preview foldline.Preview
---@param label string
---@return string address of the document
function address_of(preview, label)
  local version = label:match('^version (%d+)$')
  local what = version and '&version=' .. version
    or label == NOW and ''
    or '&revision=' .. vim.uri_encode(label, 'rfc3986')
  local path = vim.uri_to_fname(preview.uri)
  local address = 'foldline-prompt://%s/%s.md?session=%s%s'
  return address:format(path, preview.name, preview.session_id, what)
end

return M
