--- `:checkhealth foldline`
local M = {}

local check_client, check_command, check_trust, say_status

local WAIT_MS = 5000

function M.check()
  local health = vim.health
  health.start('foldline: Neovim')
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok(('Neovim %s'):format(vim.version()))
  else
    health.error('Neovim 0.11 or later is needed')
    return
  end
  health.start('foldline: server')
  check_command()
  check_client()
  health.start('foldline: trust')
  check_trust()
end

function check_command()
  local config = vim.lsp.config.foldline
  if not config then
    vim.health.error('lsp/foldline.lua is not found', 'Add editors/neovim to the runtimepath.')
    return
  end
  if vim.lsp.is_enabled and not vim.lsp.is_enabled('foldline') then
    vim.health.warn(
      'the server is not enabled',
      "Put vim.lsp.enable('foldline') into your init.lua."
    )
  end
  if type(config.cmd) ~= 'table' then
    vim.health.info('the server is started by a function of your configuration')
    return
  end
  local program = vim.fn.exepath(config.cmd[1])
  if program == '' then
    vim.health.error(('`%s` is not found on PATH'):format(config.cmd[1]), {
      "Install it: uv tool install '/path/to/foldline[server]'",
      "or name it: vim.lsp.config('foldline', "
        .. "{ cmd = { '/path/to/foldline', 'serve', '--stdio' } })",
    })
    return
  end
  local ran, result = pcall(function()
    return vim.system({ program, '--version' }, { text = true, timeout = WAIT_MS }):wait()
  end)
  if ran and result.code == 0 then
    vim.health.ok(('%s: %s'):format(program, vim.trim(result.stdout)))
  else
    local why = ran and vim.trim(result.stderr) or tostring(result)
    vim.health.error(('`%s --version` fails: %s'):format(program, why))
  end
end

function check_client()
  local clients = vim.lsp.get_clients({ name = 'foldline' })
  if #clients == 0 then
    vim.health.info('no server runs: it starts with the first Python file')
  end
  for _, client in ipairs(clients) do
    local answer, problem = client:request_sync('workspace/executeCommand', {
      command = 'foldline.server.status',
      arguments = { vim.empty_dict() },
    }, WAIT_MS)
    local err = problem or (answer and answer.err and answer.err.message)
    if err then
      vim.health.error(('%s: the server does not answer: %s'):format(client.root_dir, err))
    else
      vim.health.ok(('%s: the server answers'):format(client.root_dir))
      local status = require('foldline').some(answer.result)
      if status then
        say_status(status)
      end
    end
  end
end

--- What the server says of itself, in sentences.
---@param status table
function say_status(status)
  local info, some = vim.health.info, require('foldline').some
  info(('It is version %s, on Python %s.'):format(status.version, status.python))
  info(
    status.trusted and 'The folder is trusted: previews run its code.'
      or 'The folder is not trusted: previews show what the source alone says. :FoldlineTrust'
  )
  local used = some(status.interpreter)
  if used then
    local python = some(used.python) and (' (Python %s)'):format(used.python) or ''
    info(('Previews run in %s%s, chosen by %s.'):format(used.path, python, used.reason))
    if some(used.mismatch) then
      vim.health.warn(used.mismatch)
    end
  end
  info(('Open: previews %d, documents %d.'):format(status.previews, status.documents))
  if #status.languageServers == 0 then
    info('No language server runs yet: the first question about code starts one.')
  end
  for _, server in ipairs(status.languageServers) do
    local state = ('The language server %s is %s'):format(server.name, server.state)
    if server.problem ~= '' then
      vim.health.warn(('%s: %s'):format(state, server.problem), 'Restart it: :FoldlineRestart')
    else
      info(('%s in %s; it has answered %d requests.'):format(state, server.root, server.requests))
    end
  end
end

function check_trust()
  local trust = require('foldline.trust')
  local answers, problem = trust.read()
  if problem then
    vim.health.warn(problem, ('Remove or fix it: %s'):format(trust.path()))
  end
  for folder, trusted in vim.spairs(answers) do
    vim.health.info(('%s: %s'):format(folder, trusted and 'trusted' or 'not trusted'))
  end
  vim.health.info(
    ('answers are kept in %s; :FoldlineTrust and :FoldlineTrust! change them'):format(trust.path())
  )
end

return M
