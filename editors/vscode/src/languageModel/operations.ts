// Made by make_tools.py: the server's command of each tool.

export const OPERATIONS = {
  foldline_get_tree: 'code.tree',
  foldline_search_for_files: 'code.searchFiles',
  foldline_grep_in_files: 'code.grep',
  foldline_get_file_outline: 'code.outline',
  foldline_read_symbol: 'code.readSymbol',
  foldline_read_lines: 'code.readLines',
  foldline_find_references: 'code.findReferences',
  foldline_read_file: 'code.readFile',
  foldline_generate_scoped_context: 'code.scopedContext',
} as const;
