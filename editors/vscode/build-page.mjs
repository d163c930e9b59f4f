// Bundles the page that `foldline preview --serve` shows, readably: the result is committed.
import { build } from 'esbuild';

const outdir = process.argv[2] ?? '../../server/foldline/server/page/files';

await build({
  entryPoints: [
    { in: 'src/webview/browser.ts', out: 'page' },
    { in: 'src/webview/browser.css', out: 'page' },
  ],
  outdir,
  bundle: true,
  platform: 'browser',
  target: 'es2022',
  format: 'esm',
  charset: 'utf8',
  banner: {
    js: '// Made of editors/vscode/src/webview by `npm run page`.',
    css: '/* Made of editors/vscode/src/webview by `npm run page`. */',
  },
  logLevel: 'warning',
});
