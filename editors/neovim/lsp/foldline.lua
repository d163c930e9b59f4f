-- The client's configuration: `vim.lsp.enable('foldline')` starts it, and
-- `vim.lsp.config('foldline', …)` changes it.

---@type vim.lsp.Config
return {
  cmd = { 'foldline', 'serve', '--stdio' },
  -- A PATH that leads to where it starts must not lead into the folder that is opened.
  cmd_cwd = vim.uv.os_homedir(),
  -- Of Markdown, `root_dir` takes the files that instruct agents.
  filetypes = { 'python', 'markdown' },
  -- Trust is a folder's, so a file that belongs to no project is at home in its own folder.
  root_dir = function(bufnr, on_dir)
    if not require('foldline').source_uri(bufnr) then
      return
    end
    local markers = { 'foldline.toml', 'pyproject.toml', 'setup.py', 'setup.cfg', '.git' }
    local file = vim.api.nvim_buf_get_name(bufnr)
    on_dir(vim.fs.root(bufnr, markers) or (file ~= '' and vim.fs.dirname(file) or vim.uv.cwd()))
  end,
  before_init = function(params, config)
    params.initializationOptions = require('foldline').initialization_options(config)
  end,
  -- Asked for by `foldline.document`, so that there is nothing to register.
  capabilities = { workspace = { textDocumentContent = { dynamicRegistration = false } } },
  handlers = {
    -- Neovim's own adds an empty line, which has to be dismissed.
    ['window/showMessage'] = function(_, params)
      require('foldline').notify((params.message:gsub('^foldline: ', '')), 5 - params.type)
    end,
    ['workspace/textDocumentContent/refresh'] = function(_, params)
      return require('foldline.document').on_refresh(params)
    end,
    ['foldline/preview/didUpdate'] = function(_, update, context)
      require('foldline.preview').on_update(update, context.client_id)
    end,
  },
}
