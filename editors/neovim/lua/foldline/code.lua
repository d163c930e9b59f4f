--- Code as the server reads it: references, symbols, contexts, the tree of the workspace.
local M = {}

-- A person scrolls; the server's own budgets are a model's.
local BYTES = 100000

local absolute, byte_columns, entry_line, quickfix_text

--- Fills the quickfix list with the uses of a name; a type says how sure each one is.
---@param client vim.lsp.Client
---@param name string
function M.references(client, name)
  local argument = { name = name, budget = BYTES }
  require('foldline').execute(client, 'code.findReferences', argument, function(found)
    local data = found.data
    if #data.references == 0 then
      local why = data.reason ~= '' and data.reason or 'nothing uses it'
      return require('foldline').notify(('no references of %s: %s'):format(name, why))
    end
    local byte_column = byte_columns()
    local items = vim.tbl_map(function(reference)
      local file = absolute(client, reference.path)
      return {
        filename = file,
        lnum = reference.line,
        col = byte_column(file, reference.line, reference.column),
        end_col = byte_column(file, reference.line, reference.column_end),
        type = reference.tier == 'confirmed' and 'C' or 'P',
        text = vim.trim(reference.context),
        user_data = { tier = reference.tier, kind = reference.kind },
      }
    end, data.references)
    local title = ('%s: %d confirmed, %d possible'):format(name, data.confirmed, data.possible)
    if #items < data.total then
      title = ('%s, the first %d'):format(title, #items)
    end
    vim.fn.setqflist({}, ' ', {
      title = title,
      items = items,
      quickfixtextfunc = quickfix_text,
    })
    vim.cmd.copen({ mods = { split = 'botright' } })
  end)
end

--- Shows the source of one symbol of a file.
---@param client vim.lsp.Client
---@param source integer a buffer
---@param name string "Class.method"
---@param mods table?
function M.symbol(client, source, name, mods)
  local argument = { uri = vim.uri_from_bufnr(source), name = name, budget = BYTES }
  require('foldline').execute(client, 'code.readSymbol', argument, function(answer)
    local symbol = answer.data
    local file = absolute(client, symbol.path)
    require('foldline.scratch').show({
      title = ('%s %s'):format(symbol.path, symbol.qualified_name or name),
      lines = vim.split(answer.text, '\n', { plain = true }),
      syntax = vim.filetype.match({ filename = file }),
      follow = function(line)
        -- The first line says where it is.
        local at = math.min(symbol.line + math.max(line - 2, 0), symbol.line_end)
        require('foldline.window').go_to_file(file, at)
      end,
    }, mods)
  end)
end

--- Shows the code that a question is about, or the file in full, within some bytes.
---@param client vim.lsp.Client
---@param source integer a buffer
---@param opts { question: string?, bytes: integer?, register: string?, mods: table? }
function M.context(client, source, opts)
  local argument = {
    query = opts.question,
    uri = vim.uri_from_bufnr(source),
    budget = opts.bytes or require('foldline.settings').get().context_bytes,
  }
  require('foldline').execute(client, 'code.scopedContext', argument, function(answer)
    local lines = vim.split(answer.text, '\n', { plain = true })
    if opts.register then
      vim.fn.setreg(opts.register, lines, 'V')
    end
    require('foldline.scratch').show({
      title = ('context %s'):format(opts.question or vim.fs.basename(argument.uri)),
      lines = lines,
      syntax = 'python',
      follow = function(line)
        for above = line, 1, -1 do
          local path, first = lines[above]:match('^(%S+):(%d+)')
          local file = path and absolute(client, path)
          if file and vim.uv.fs_stat(file) then
            return require('foldline.window').go_to_file(file, tonumber(first) --[[@as integer]])
          end
        end
      end,
    }, opts.mods)
    local size = require('foldline.costs').amount(#answer.text)
    local copied = opts.register and (', copied to register %s'):format(opts.register) or ''
    require('foldline').notify(('%s bytes%s'):format(size, copied))
  end)
end

--- Shows the files below a folder; a line leads to its file, or into a folder that is collapsed.
---@param client vim.lsp.Client
---@param path string?
---@param mods table?
function M.tree(client, path, mods)
  local argument = { path = path or '.', budget = BYTES }
  require('foldline').execute(client, 'code.tree', argument, function(answer)
    local root = vim.split(answer.text, '\n', { plain = true })[1]
    local lines, entries = { root }, {}
    local function add(children, depth)
      for _, entry in ipairs(children) do
        table.insert(lines, ('  '):rep(depth) .. entry_line(entry))
        entries[#lines] = entry
        add(entry.children, depth + 1)
      end
    end
    add(answer.data.entries, 0)
    require('foldline.scratch').show({
      title = ('tree %s'):format(argument.path),
      lines = lines,
      folds = true,
      follow = function(line)
        local entry = entries[line]
        if entry and entry.collapsed then
          M.tree(client, entry.path)
        elseif entry and entry.folder then
          pcall(vim.cmd.normal, { args = { 'za' }, bang = true })
        elseif entry then
          require('foldline.window').go_to_file(absolute(client, entry.path), 1)
        end
      end,
    }, mods)
  end)
end

--- Columns of the server count characters, those of the quickfix list bytes.
---@return fun(file: string, line: integer, column: integer): integer
function byte_columns()
  local texts = {} ---@type table<string, string[]>
  return function(file, line, column)
    if not texts[file] then
      local buf = vim.fn.bufnr(file)
      local is_open = buf > 0 and vim.api.nvim_buf_is_loaded(buf)
      local read, lines = pcall(vim.fn.readfile, file)
      texts[file] = is_open and vim.api.nvim_buf_get_lines(buf, 0, -1, false)
        or (read and lines or {})
    end
    local text = texts[file][line]
    if not text or column < 1 then
      return column
    end
    return vim.str_byteindex(text, 'utf-32', column - 1, false) + 1
  end
end

--- A file as a line, "errors.py  988 B"; a folder, "auth/  8 files, 19.1 KB".
---@param entry { name: string, folder: boolean, files: integer, size: integer, collapsed: boolean }
---@return string
function entry_line(entry)
  local size = entry.size < 1000 and ('%d B'):format(entry.size)
    or ('%.1f KB'):format(entry.size / 1000)
  if not entry.folder then
    return ('%s  %s'):format(entry.name, size)
  end
  local files = ('%d file%s'):format(entry.files, entry.files == 1 and '' or 's')
  return ('%s/  %s, %s%s'):format(entry.name, files, size, entry.collapsed and ' …' or '')
end

--- The lines of the quickfix window: "review.py|31 confirmed definition| class Project:".
---@param info { quickfix: integer, id: integer, start_idx: integer, end_idx: integer }
---@return string[]
function quickfix_text(info)
  local items = vim.fn.getqflist({ id = info.id, items = 1 }).items
  local lines = {}
  for index = info.start_idx, info.end_idx do
    local item = items[index]
    local file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ':~:.')
    local sure = item.user_data
    local place = ('%s|%d %s %s'):format(file, item.lnum, sure.tier, sure.kind)
    table.insert(lines, ('%s| %s'):format(place, item.text))
  end
  return lines
end

---@param client vim.lsp.Client
---@param path string relative to the workspace
---@return string
function absolute(client, path)
  if vim.startswith(path, '/') then
    return path
  end
  return vim.fs.joinpath(client.root_dir or vim.uv.cwd(), path)
end

return M
