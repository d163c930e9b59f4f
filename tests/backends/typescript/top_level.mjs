// Prints, for each file named on stdin, the top-level declarations that the TypeScript compiler sees:
// {"path": [["name", first line, last line], …]}, lines from 1. The first argument is the folder
// whose node_modules holds the compiler.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.argv[2]}/`);
const ts = require("typescript");

function bindings(name) {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((each) => (each.name ? bindings(each.name) : []));
}

function names(statement) {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap((each) => bindings(each.name));
  }
  if (
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement) ||
    ts.isModuleDeclaration(statement)
  ) {
    return [statement.name?.text ?? "default"];
  }
  return [];
}

const result = {};
for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true, kind);
  const line = (offset) => file.getLineAndCharacterOfPosition(offset).line + 1;
  result[path] = file.statements.flatMap((statement) =>
    names(statement).map((name) => [name, line(statement.getStart()), line(statement.getEnd())]),
  );
}
process.stdout.write(JSON.stringify(result));
