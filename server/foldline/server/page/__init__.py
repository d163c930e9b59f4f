"""A preview as a web page on the loopback, for whoever holds its address.

`pages` is the way in: it serves nothing before it is asked to. `listener` embeds the HTTP server,
`guard` refuses what comes from elsewhere, `admission` keeps who may come in, `app` answers, `feed`
holds what one browser has yet to see, and `markdown` reads the prompts' texts. `files` is the page
itself, made of `editors/vscode/src/webview` by `npm run page` there.
"""
