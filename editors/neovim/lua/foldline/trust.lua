--- Which folders may be executed. The answers live in one JSON file of Neovim's data folder, never
--- in the folder they are about.
local M = {}

local QUESTION = 'Previews run the Python code of %s. Do you trust it?'
local YES = 'Yes: run its code for previews'
local NO = 'No: run none of its code'

local canonical, write

---@return string path of the file that remembers the answers
function M.path()
  return vim.fs.joinpath(vim.fn.stdpath('data') --[[@as string]], 'foldline', 'trust.json')
end

--- The answer of the nearest folder at or above `folder` that has one.
---@param folder string?
---@return boolean? trusted nil: nobody was asked
function M.decision(folder)
  if not folder then
    return nil
  end
  local answers = M.read()
  local path = canonical(folder)
  if answers[path] ~= nil then
    return answers[path]
  end
  for parent in vim.fs.parents(path) do
    if answers[parent] ~= nil then
      return answers[parent]
    end
  end
end

--- Remembers the answer for `folder` and everything below it, and tells the running servers.
---@param folder string
---@param trusted boolean
function M.set(folder, trusted)
  local answers = M.read()
  answers[canonical(folder)] = trusted
  write(answers)
  for _, client in ipairs(vim.lsp.get_clients({ name = 'foldline' })) do
    local decided = M.decision(client.root_dir) == true
    client:notify('foldline/didChangeTrust', { trusted = decided })
  end
end

--- Calls `done` once the folder has an answer; asks the first time only.
---@param folder string?
---@param done fun()
function M.settle(folder, done)
  if not folder or M.decision(folder) ~= nil then
    return done()
  end
  local question = QUESTION:format(vim.fn.fnamemodify(folder, ':~'))
  vim.ui.select({ YES, NO }, { prompt = question, kind = 'foldline_trust' }, function(choice)
    -- Turning the question away is no answer: nothing is remembered, nothing is executed.
    if choice then
      M.set(folder, choice == YES)
    end
    done()
  end)
end

---@return table<string, boolean> answers by folder
---@return string? problem what is wrong with the file, which then counts as empty
function M.read()
  local file = io.open(M.path(), 'r')
  if not file then
    return {}
  end
  local text = file:read('*a')
  file:close()
  local ok, stored = pcall(vim.json.decode, text, { luanil = { object = true, array = true } })
  local folders = ok and type(stored) == 'table' and stored.folders
  if type(folders) ~= 'table' then
    return {}, ('%s is not a list of folders'):format(M.path())
  end
  local answers = {}
  for folder, trusted in pairs(folders) do
    if type(folder) == 'string' and type(trusted) == 'boolean' then
      answers[folder] = trusted
    end
  end
  return answers
end

---@param folder string
---@return string
function canonical(folder)
  return vim.fs.normalize(vim.uv.fs_realpath(folder) or folder)
end

---@param answers table<string, boolean>
function write(answers)
  local path = M.path()
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local fresh = ('%s.%d'):format(path, vim.uv.os_getpid())
  local file = assert(vim.uv.fs_open(fresh, 'w', tonumber('600', 8)))
  assert(vim.uv.fs_write(file, vim.json.encode({ folders = answers })))
  assert(vim.uv.fs_close(file))
  assert(vim.uv.fs_rename(fresh, path))
end

return M
