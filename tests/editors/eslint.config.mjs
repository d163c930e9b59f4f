// One set of rules for all JavaScript here: that of the extension, whose packages check it.
export { default } from '../../editors/vscode/eslint.config.mjs';
