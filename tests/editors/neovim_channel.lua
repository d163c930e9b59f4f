-- Runs the Lua that arrives on stdin, a JSON string a line, and answers each with a JSON line.

local pending = ''

local function run(code)
  local chunk, problem = loadstring(code)
  if not chunk then
    return { problem = problem }
  end
  local ok, result = xpcall(chunk, debug.traceback)
  return ok and { done = true, result = result } or { problem = tostring(result) }
end

local channel
channel = vim.fn.stdioopen({
  on_stdin = function(_, data)
    data[1] = pending .. data[1]
    pending = table.remove(data)
    for _, line in ipairs(data) do
      local answer = run(vim.json.decode(line))
      vim.fn.chansend(channel, vim.json.encode(answer) .. '\n')
    end
    if #data == 0 and pending == '' then
      vim.cmd.quitall({ bang = true })
    end
  end,
})
