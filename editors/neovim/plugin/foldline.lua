if vim.g.loaded_foldline or vim.fn.has('nvim-0.11') == 0 then
  return
end
vim.g.loaded_foldline = true

local command = vim.api.nvim_create_user_command

command('FoldlinePreview', function(args)
  require('foldline').preview({ name = args.fargs[1], mods = args.smods })
end, {
  nargs = '?',
  bar = true,
  desc = 'Show the prompt as the model sees it, beside its source',
  complete = function(lead)
    return require('foldline').complete_prompt(lead)
  end,
})

command('FoldlineOpen', function(args)
  require('foldline').open(args.fargs)
end, {
  nargs = '*',
  bar = true,
  desc = 'Open summarized sections of the preview',
  complete = function(lead)
    return require('foldline').complete_section(lead, 'open')
  end,
})

command('FoldlineClose', function(args)
  require('foldline').close(args.fargs)
end, {
  nargs = '*',
  bar = true,
  desc = 'Close sections of the preview that were opened',
  complete = function(lead)
    return require('foldline').complete_section(lead, 'close')
  end,
})

command('FoldlineOutline', function(args)
  require('foldline').outline({ mods = args.smods })
end, { bar = true, desc = 'Show the outline of the file' })

command('FoldlineCachePlan', function()
  require('foldline').cache_plan()
end, { bar = true, desc = "Show what a provider's cache can keep of the prompt" })

command('FoldlineRestart', function()
  require('foldline').restart()
end, { bar = true, desc = 'Start language servers and previews afresh' })

command('FoldlineTrust', function(args)
  require('foldline').trust(not args.bang)
end, {
  bang = true,
  bar = true,
  desc = 'Trust the folder so that previews run its code; with ! revoke it',
})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = vim.api.nvim_create_augroup('foldline', {}),
  pattern = 'foldline-prompt://*',
  callback = function(args)
    require('foldline.document').read(args.buf)
  end,
})

vim.lsp.commands['foldline.preview'] = function(clicked)
  require('foldline').on_preview_command(clicked)
end

vim.lsp.commands['foldline.openSection'] = function(clicked)
  require('foldline').on_open_command(clicked)
end

vim.lsp.commands['foldline.outline'] = function()
  require('foldline').outline()
end
