// The strict rules with types for the extension's sources, the plain ones for scripts. The JavaScript
// of tests/editors has the same rules by a configuration of its own that imports this one.
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import globals from 'globals';
import typescript from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['out/', 'node_modules/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{js,mjs,cjs}'],
    extends: [js.configs.recommended],
    languageOptions: { globals: globals.node },
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
      'prefer-template': 'error',
    },
  },
  {
    // Playwright runs parts of these tests in the browser.
    files: ['**/*.test.mjs', '**/workbench.mjs'],
    languageOptions: { globals: globals.browser },
  },
  {
    files: ['src/**/*.ts'],
    extends: [
      js.configs.recommended,
      typescript.configs.strictTypeChecked,
      typescript.configs.stylisticTypeChecked,
    ],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      eqeqeq: 'error',
      'object-shorthand': 'error',
      'prefer-template': 'error',
      // `() => forget()` passes a callback on; braces would say nothing more.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // A number has one text; objects and nulls haven't.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
);
