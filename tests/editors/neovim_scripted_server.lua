-- A server inside Neovim that says what a test tells it to say, and remembers what it was asked.
-- It hands on JSON nulls as `vim.NIL`, as Neovim 0.12 does.

asked = {} -- { what, argument } of every command and notification
answers = {} -- by command, without `foldline.server.`: the JSON text of { result } or { err }

local connection

local function answer(command)
  local said = vim.json.decode(answers[command] or '{"result": null}')
  return said.err, said.result
end

vim.lsp.config('foldline', {
  cmd = function(dispatchers)
    local closing = false
    connection = dispatchers
    local function stop()
      closing = true
      vim.schedule(function()
        dispatchers.on_exit(0, 15)
      end)
    end
    return {
      request = function(method, params, callback)
        if method == 'workspace/executeCommand' then
          local command = params.command:gsub('^foldline%.server%.', '')
          table.insert(asked, { command, params.arguments[1] })
          vim.schedule(function()
            callback(answer(command))
          end)
        elseif method == 'initialize' then
          table.insert(asked, { method, params.initializationOptions })
          vim.schedule(function()
            callback(nil, { capabilities = { executeCommandProvider = { commands = {} } } })
          end)
        else
          vim.schedule(function()
            callback(nil, vim.NIL)
          end)
        end
        return true, #asked
      end,
      notify = function(method, params)
        if vim.startswith(method, 'foldline/') then
          table.insert(asked, { method, params })
        elseif method == 'exit' then
          stop()
        end
      end,
      is_closing = function()
        return closing
      end,
      terminate = stop,
    }
  end,
})

--- Sends the preview's notification.
function push(json)
  connection.notification('foldline/preview/didUpdate', vim.json.decode(json))
end

--- The arguments of each time that something was asked.
function asked_for(what)
  local found = {}
  for _, each in ipairs(asked) do
    if each[1] == what then
      table.insert(found, each[2] or vim.NIL)
    end
  end
  return found
end
