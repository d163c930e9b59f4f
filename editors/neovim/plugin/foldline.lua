if vim.g.loaded_foldline or vim.fn.has('nvim-0.11') == 0 then
  return
end
vim.g.loaded_foldline = true

local foldline = setmetatable({}, {
  __index = function(_, name)
    return require('foldline')[name]
  end,
})

--- Makes a user command and its `<Plug>` mapping: `:FoldlineCachePlan` is
--- `<Plug>(foldline-cache-plan)`.
---@param name string
---@param desc string
---@param run fun(args: vim.api.keyset.create_user_command.command_args)
---@param options vim.api.keyset.user_command?
local function command(name, desc, run, options)
  local keywords = vim.tbl_extend('force', { bar = true, desc = desc }, options or {})
  vim.api.nvim_create_user_command('Foldline' .. name, run, keywords)
  local plug = name:gsub('%u', '-%0'):lower()
  vim.keymap.set('n', ('<Plug>(foldline%s)'):format(plug), ('<Cmd>Foldline%s<CR>'):format(name), {
    desc = desc,
  })
end

command('Preview', 'Show the prompt as the model sees it, beside its source', function(args)
  foldline.preview({ name = args.fargs[1], mods = args.smods })
end, {
  nargs = '?',
  complete = function(lead)
    return foldline.complete_prompt(lead)
  end,
})

command('Open', 'Open summarized sections of the preview; with ! say why', function(args)
  foldline.open(args.fargs, { ask_reason = args.bang })
end, {
  nargs = '*',
  bang = true,
  complete = function(lead)
    return foldline.complete_section(lead, 'open')
  end,
})

command('Close', 'Close sections of the preview that were opened', function(args)
  foldline.close(args.fargs)
end, {
  nargs = '*',
  complete = function(lead)
    return foldline.complete_section(lead, 'close')
  end,
})

command('Params', 'Change a value of the preview; with ! take the typed ones back', function(args)
  if args.bang then
    return foldline.clear_params()
  end
  local name, text = args.args:match('^(%S+)%s+(.*)$')
  foldline.params(name or args.fargs[1], text)
end, {
  nargs = '*',
  bang = true,
  bar = false,
  complete = function(lead, line)
    return foldline.complete_param(lead, line)
  end,
})

command('Set', 'Show the preview with a parameter set', function(args)
  foldline.set(args.fargs[1])
end, {
  nargs = '?',
  complete = function(lead)
    return foldline.complete_value(lead, 'set_names')
  end,
})

command('Chapters', 'Open or close a chapter of the preview', function(args)
  foldline.chapters(args.fargs[1])
end, {
  nargs = '?',
  complete = function(lead)
    return foldline.complete_value(lead, 'chapter_keys')
  end,
})

command('Undo', 'Take back the last step of the preview', function()
  foldline.undo()
end)

command('Reset', 'Take back all steps of the preview', function()
  foldline.reset()
end)

command('History', 'Compare a step of the preview with what is shown', function()
  foldline.history()
end)

command('Diff', 'Compare the last two versions of the preview, or with git', function(args)
  foldline.diff(args.fargs[1])
end, {
  nargs = '?',
  complete = function(lead)
    return foldline.complete_revision(lead)
  end,
})

command('Render', 'Show the prompt once with a parameter set', function(args)
  foldline.render(args.fargs[1], { mods = args.smods })
end, {
  nargs = '?',
  complete = function(lead)
    return foldline.complete_value(lead, 'set_names')
  end,
})

command('CompareSets', 'Show all parameter sets of the preview by its sections', function(args)
  foldline.compare_sets(args.fargs[1], { mods = args.smods })
end, {
  nargs = '?',
  complete = function(lead)
    return foldline.complete_value(lead, 'set_names')
  end,
})

command('Browse', 'Open the preview in a browser', function()
  foldline.browse()
end)

command('Prompts', 'Show all prompts of the workspace', function(args)
  foldline.prompts({ mods = args.smods })
end)

command('New', 'Write a prompt module to begin with', function(args)
  foldline.new(args.fargs[1])
end, { nargs = '?', complete = 'file' })

command('Adopt', 'Make a prompt module of a text in the file', function(args)
  foldline.adopt(args.fargs[1])
end, { nargs = '?', complete = 'dir' })

command('Tokens', 'Show what the preview costs, and where its values come from', function(args)
  foldline.tokens({ mods = args.smods })
end)

command('CachePlan', "Show what a provider's cache can keep of the prompt", function()
  foldline.cache_plan()
end)

command('Outline', 'Show the outline of the file', function(args)
  foldline.outline({ mods = args.smods })
end)

command('Refs', 'List the uses of a name in the quickfix window', function(args)
  foldline.refs(args.fargs[1])
end, {
  nargs = '?',
  complete = function(lead)
    return foldline.complete_symbol(lead, false)
  end,
})

command('Symbol', 'Show the source of a symbol of the file', function(args)
  foldline.symbol(args.fargs[1], { mods = args.smods })
end, {
  nargs = '?',
  complete = function(lead)
    return foldline.complete_symbol(lead, true)
  end,
})

command('Context', 'Pack the code that a question is about; with ! copy it, too', function(args)
  foldline.context({
    question = args.args ~= '' and args.args or nil,
    bytes = args.count > 0 and args.count or nil,
    register = args.bang and vim.v.register or nil,
    mods = args.smods,
  })
end, { nargs = '*', bang = true, count = 0, bar = false })

command('Tree', 'Show the files of the workspace', function(args)
  foldline.tree(args.fargs[1], { mods = args.smods })
end, { nargs = '?', complete = 'dir' })

command('Stack', 'Show the instructions that agents load for the file', function(args)
  foldline.stack({ mods = args.smods })
end)

command('Restart', 'Start language servers and previews afresh', function()
  foldline.restart()
end)

command('Trust', 'Trust the folder so that previews run its code; with ! revoke it', function(args)
  foldline.trust(not args.bang)
end, { bang = true })

vim.filetype.add({ pattern = { ['.*/%.cursor/rules/.*%.mdc'] = 'markdown' } })

vim.api.nvim_set_hl(0, 'FoldlineMadeUp', { default = true, link = 'DiagnosticUnderlineHint' })
vim.api.nvim_set_hl(0, 'FoldlineTrace', { default = true, link = 'IncSearch' })

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = vim.api.nvim_create_augroup('foldline', {}),
  pattern = 'foldline-prompt://*',
  callback = function(args)
    require('foldline.document').read(args.buf)
  end,
})

vim.lsp.commands['foldline.preview'] = function(clicked)
  foldline.on_preview_command(clicked)
end

vim.lsp.commands['foldline.openSection'] = function(clicked)
  foldline.on_open_command(clicked)
end

vim.lsp.commands['foldline.closeSection'] = function(clicked)
  foldline.on_close_command(clicked)
end

vim.lsp.commands['foldline.outline'] = function()
  foldline.outline()
end
