--- The instructions that each client loads when it works on a file, as a page.
local M = {}

---@class foldline.Stack
---@field title string
---@field files foldline.LoadedFile[]
---@field left_out { path: string, why: string }[]
---@field base integer tokens that each session pays
---@field added integer tokens that the file adds

---@class foldline.LoadedFile
---@field path string
---@field uri string
---@field why string
---@field tokens integer
---@field confirmed boolean
---@field sections { number: string, title: string, line: integer, tokens: integer }[]

local add_stack

--- Shows the files and sections with their tokens; a line leads to its section.
---@param client vim.lsp.Client
---@param source integer a buffer
---@param mods table?
function M.show(client, source, mods)
  local argument = { uri = vim.uri_from_bufnr(source) }
  require('foldline').execute(client, 'instructions.stack', argument, function(answer)
    local lines, places = {}, {}
    for _, stack in ipairs(answer.stacks) do
      if #stack.files + #stack.left_out > 0 then
        add_stack(stack, answer.exact and '' or '~', lines, places)
      end
    end
    if #lines == 0 then
      return require('foldline').notify('no client finds instructions for this file')
    end
    require('foldline.scratch').show({
      title = ('stack %s'):format(answer.file),
      lines = lines,
      folds = true,
      source = source,
      follow = function(line)
        if places[line] then
          require('foldline.window').go_to_file(unpack(places[line]))
        end
      end,
    }, mods)
  end)
end

---@param stack foldline.Stack
---@param about string
---@param lines string[] is added to
---@param places table<integer, { [1]: string, [2]: integer }> is added to
function add_stack(stack, about, lines, places)
  local function tokens(count)
    return about .. require('foldline.costs').amount(count)
  end
  local added = stack.added > 0 and (' + %s for this file'):format(tokens(stack.added)) or ''
  local base = tokens(stack.base)
  table.insert(lines, ('%s: %s tokens in each session%s'):format(stack.title, base, added))
  for _, file in ipairs(stack.files) do
    local path = vim.uri_to_fname(file.uri)
    local why = file.why ~= '' and ('  %s'):format(file.why) or ''
    local name = file.confirmed and file.path or file.path .. '?'
    table.insert(lines, ('  %s  %s%s'):format(tokens(file.tokens), name, why))
    places[#lines] = { path, 1 }
    for _, section in ipairs(file.sections) do
      local title = vim.trim(('%s %s'):format(section.number, section.title))
      table.insert(lines, ('    %s  %s'):format(tokens(section.tokens), title))
      places[#lines] = { path, section.line }
    end
  end
  for _, left in ipairs(stack.left_out) do
    table.insert(lines, ('  -  %s  %s'):format(left.path, left.why))
  end
end

return M
