-- For luacheck, which reads this by itself. Neovim's Lua is LuaJIT, and its `vim` may be written to.
std = 'luajit'
globals = { 'vim' }
max_line_length = 100
exclude_files = { '.venv*', '**/node_modules' }
color = false

-- A test asks this server from outside, so that it hands on what it knows in globals.
files['tests/editors/neovim_scripted_server.lua'].globals = {
  'answers',
  'asked',
  'asked_for',
  'push',
}
