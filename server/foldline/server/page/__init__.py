"""A preview as a web page: loopback only, one-time link, same-origin.

`pages` is the entry point: nothing listens before the first page is opened. `listener` embeds the
HTTP server, `guard` refuses requests of other origins, `token_store` holds tokens and cookies,
`app` has the routes, `feed` holds the updates that one browser hasn't seen yet, and `markdown`
parses the prompts' texts. `files` is the page itself, built from `editors/vscode/src/webview` by
`npm run page` there.
"""
