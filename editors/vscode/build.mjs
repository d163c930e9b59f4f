// Bundles the extension (Node) and the preview's script (browser) into out/.
import { copyFileSync } from 'node:fs';

import { build } from 'esbuild';

const shared = {
  bundle: true,
  minify: true,
  sourcemap: false,
  logLevel: 'warning',
  legalComments: 'eof',
};

await Promise.all([
  build({
    ...shared,
    entryPoints: ['src/extension.ts'],
    outfile: 'out/extension.js',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['vscode'],
  }),
  build({
    ...shared,
    entryPoints: ['src/webview/main.ts'],
    outfile: 'out/webview.js',
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
  }),
]);

// The package carries the project's licence; a copy in the sources could only go stale.
copyFileSync('../../LICENSE', 'LICENSE');
