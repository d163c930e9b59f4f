--- The files that instruct agents, by their paths. The server decides; this says what it is asked.
local M = {}

-- Those that clients load by themselves, as in `ide/instructions/files.py`.
local PATTERNS = {
  'AGENTS.md',
  'AGENTS.override.md',
  'CLAUDE.md',
  'CLAUDE.local.md',
  'GEMINI.md',
  'SKILL.md',
  '/.github/copilot-instructions.md',
  '*.instructions.md',
  '*.prompt.md',
  '.cursor/rules/**/*.mdc',
  '.claude/rules/**/*.md',
}

local function matches(pattern, path)
  return vim.glob.to_lpeg('**/' .. pattern:gsub('^/', '')):match(path) ~= nil
end

--- The setting `foldline.instructions` adds patterns; with `!` they take files out.
---@param bufnr integer
---@return boolean
function M.is_instructions(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  if path == '' or vim.bo[bufnr].buftype ~= '' then
    return false
  end
  local settings = (vim.lsp.config.foldline or {}).settings or {}
  local found = false
  for _, patterns in ipairs({ PATTERNS, (settings.foldline or {}).instructions or {} }) do
    for _, pattern in ipairs(patterns) do
      local is_out = vim.startswith(pattern, '!')
      if matches(is_out and pattern:sub(2) or pattern, path) then
        found = not is_out
      end
    end
  end
  return found
end

return M
