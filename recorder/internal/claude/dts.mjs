// Prints the types that a runtime's stdout and stdin may hold, as the published
// declarations of its SDK have them: names only, in the text of package schema.
// Usage: node dts.mjs FOLDER, where FOLDER holds node_modules with the SDK and typescript.
import { createRequire } from "node:module";
import path from "node:path";

const dir = path.resolve(process.argv[2]);
const ts = createRequire(path.join(dir, "x.js"))("typescript");
const file = path.join(dir, "node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts");
const program = ts.createProgram([file], { skipLibCheck: true, strict: true, moduleResolution: ts.ModuleResolutionKind.NodeNext, module: ts.ModuleKind.NodeNext, types: [] });
const checker = program.getTypeChecker();
const source = program.getSourceFile(file);
const types = new Map(); // name → declaration
const names = new Map(); // type → name
const out = [];

const literal = (t) => t.isStringLiteral() || t.isNumberLiteral();
const clean = (s) => s.replace(/[^A-Za-z0-9_.]/g, "");

function nameOf(t) {
  const symbol = t.aliasSymbol ?? t.symbol;
  const name = symbol && symbol.name !== "__type" && symbol.name !== "__object" ? clean(symbol.name) : "";
  // A generic type has another shape for each of its arguments.
  const args = t.aliasTypeArguments ?? (t.symbol && checker.getTypeArguments && t.target ? checker.getTypeArguments(t) : []);
  return name && (!args || args.length === 0) ? name : "";
}

function expr(t, place, depth = 0) {
  if (t.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return "any";
  if (literal(t)) return JSON.stringify(t.value);
  if (t.flags & ts.TypeFlags.BooleanLiteral) return t.intrinsicName;
  if (t.flags & ts.TypeFlags.StringLike) return "string";
  if (t.flags & ts.TypeFlags.NumberLike) return "number";
  if (t.flags & ts.TypeFlags.BooleanLike) return "boolean";
  if (t.flags & ts.TypeFlags.Null) return "null";
  if (t.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Never | ts.TypeFlags.Void)) return "";
  if (depth > 40) return "any";
  if (t.isUnion()) {
    const name = t.aliasSymbol ? nameOf(t) : "";
    if (name) {
      if (!types.has(name)) {
        types.set(name, "");
        types.set(name, " = " + union(t.types.map((x) => expr(x, name, depth + 1))));
      }
      return name;
    }
    return union(t.types.map((x) => expr(x, place, depth + 1)));
  }
  if (checker.isArrayType(t)) {
    const of = expr(checker.getTypeArguments(t)[0], place, depth + 1);
    return (of.includes(" | ") ? `(${of})` : of) + "[]";
  }
  if (checker.isTupleType(t)) return "any[]";
  if (t.getCallSignatures().length) return "";
  const index = checker.getIndexTypeOfType(t, ts.IndexKind.String);
  const properties = checker.getPropertiesOfType(t);
  if (index && properties.length === 0) return `{${expr(index, place, depth + 1)}}`;
  if (names.has(t)) return names.get(t);
  let name = nameOf(t) || place;
  if (!nameOf(t)) {
    const tag = properties.map((p) => [p.name, checker.getTypeOfSymbol(p)]).find(([key, x]) => ["type", "subtype", "behavior", "kind"].includes(key) && literal(x));
    if (tag) name += "." + clean(String(tag[1].value));
  }
  for (let i = 2, base = name; types.has(name); i++) name = base + i;
  names.set(t, name);
  types.set(name, "");
  const fields = [];
  for (const p of properties) {
    const type = expr(checker.getTypeOfSymbol(p), name + "." + clean(p.name), depth + 1);
    if (type) fields.push(p.name + (p.flags & ts.SymbolFlags.Optional ? "?" : "") + ": " + type);
  }
  types.set(name, " {" + fields.sort().join(", ") + "}");
  return name;
}

// split splits a union at its top level: outside of quotes and brackets.
function split(s) {
  const parts = [];
  let start = 0, depth = 0, quoted = false;
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    if (quoted && c === "\\") i++;
    else if (c === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c === "(" || c === "{") depth++;
    else if (c === ")" || c === "}") depth--;
    else if (depth === 0 && s.startsWith(" | ", i)) {
      parts.push(s.slice(start, i));
      start = i + 3;
    }
  }
  return parts.concat(s.slice(start));
}

function union(alts) {
  let all = [...new Set(alts.filter(Boolean).flatMap(split))].sort();
  if (all.includes("true") && all.includes("false")) all = [...new Set(all.filter((a) => a !== "true" && a !== "false").concat("boolean"))].sort();
  if (all.includes("any") || all.length === 0) return "any";
  return all.join(" | ");
}

// declared finds the type of a name in this file.
function declared(name) {
  const found = source.statements.find((s) => (ts.isTypeAliasDeclaration(s) || ts.isInterfaceDeclaration(s)) && s.name.text === name);
  return found && checker.getTypeAtLocation(found.name);
}

// members are the alternatives of a union as it is written. Some versions name
// them through a module that is not published with them; what is meant stands in
// this file under the same name, or not at all.
function members(found) {
  const nodes = ts.isUnionTypeNode(found.type) ? found.type.types : [found.type];
  return nodes.map((node) => {
    const type = checker.getTypeFromTypeNode(node);
    if (!(type.flags & ts.TypeFlags.Any) || !ts.isTypeReferenceNode(node)) return type;
    return declared(ts.isQualifiedName(node.typeName) ? node.typeName.right.text : node.typeName.text);
  }).filter((type) => type && !(type.flags & ts.TypeFlags.Any));
}

for (const [alias, root] of [["StdoutMessage", "stdout"], ["StdinMessage", "stdin"], ["SDKControlRequestInner", "control"]]) {
  const found = source.statements.find((s) => ts.isTypeAliasDeclaration(s) && s.name.text === alias);
  if (!found) continue;
  const type = union(members(found).map((t) => expr(t, alias)));
  types.set(alias, " = " + type);
  out.push(`message ${root} ${alias}`);
}
if (!out.length) {
  console.error("sdk.d.ts declares neither StdoutMessage nor StdinMessage");
  process.exit(1);
}
for (const [name, text] of [...types].sort(([a], [b]) => (a < b ? -1 : 1))) out.push(name + text);
console.log(out.join("\n"));
