---@brief
---
--- ${homepage}
---
--- Shows typed prompts as the model sees them, and checks them.
---
--- `uv tool install 'foldline[server]'`
---
--- The server reads prompts without executing them. The editor's plugin, which comes with foldline,
--- adds live previews and asks which folders you trust.

---@type vim.lsp.Config
return {
  cmd = { 'foldline', 'serve', '--stdio' },
  -- A PATH that leads to where it starts must not lead into the folder that is opened.
  cmd_cwd = vim.uv.os_homedir(),
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml', 'setup.py', 'setup.cfg', '.git' },
}
