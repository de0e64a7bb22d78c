/**
 * Writes api.txt of each published package: what its entries export, with types, read by TypeScript's compiler. Run it after
 * a change of what is exported: `npm run -s api`. `test/api.test.ts` checks that the files are current.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  type Node,
  SyntaxKind,
  type ClassDeclaration,
  type VariableDeclaration
} from "typescript/unstable/ast"
import { API, NodeBuilderFlags, type Project, type Symbol, SymbolFlags } from "typescript/unstable/sync"
import { PUBLISHED } from "./write-notices.ts"

const root = join(import.meta.dirname, "..")

/** Above this many characters a constant is shown by its source: a schema's type repeats everything that it refers to. */
const LONGEST_TYPE = 400

const FLAGS = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.UseAliasDefinedOutsideCurrentScope

/** Everything that a package exports, by the entry's specifier. */
const withEntries = <A>(
  folder: string,
  use: (entries: ReadonlyMap<string, ReadonlyArray<Symbol>>, project: Project) => A
): A => {
  const { exports, name } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
  const api = new API({ cwd: root })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(root, folder, "tsconfig.json")] })
    const [project] = snapshot.getProjects()
    if (project === undefined) throw new Error(`${folder} has no tsconfig.json`)
    const entries = Object.entries<Record<string, string>>(exports).map(([entry, conditions]) => {
      const file = project.program.getSourceFile(join(root, folder, conditions["@sluice/source"] ?? ""))
      const module = file && project.checker.getSymbolAtLocation(file)
      if (module === undefined) throw new Error(`${name}: the entry ${entry} has no source`)
      return [join(name, entry), exportsOf(project, module)] as const
    })
    return use(new Map(entries), project)
  } finally {
    api.close()
  }
}

const exportsOf = ({ checker }: Project, module: Symbol): ReadonlyArray<Symbol> =>
  checker.getExportsOfModule(module).toSorted((a, b) => (a.name < b.name ? -1 : 1))

const typeOf = ({ checker, emitter }: Project, symbol: Symbol, at: Node): string => {
  const { initializer, type } = at as VariableDeclaration
  if (type !== undefined) return `: ${emitter.printNode(type)}`
  const inferred = checker.getTypeOfSymbol(symbol)
  const text = inferred === undefined ? "unknown" : checker.typeToString(inferred, at, FLAGS)
  const isLong = text.length > LONGEST_TYPE && initializer?.kind === SyntaxKind.CallExpression
  return isLong ? ` = ${emitter.printNode(initializer)}` : `: ${text}`
}

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ")

/** A class with what it extends, its static members and its own, without those that it inherits. */
const classText = (project: Project, symbol: Symbol, { heritageClauses }: ClassDeclaration): string => {
  const members = (prefix: string, table: ReadonlyMap<unknown, Symbol>) =>
    [...table.values()].flatMap((member) => {
      const at = member.valueDeclaration?.resolve(project)
      if (at === undefined || at.kind === SyntaxKind.Constructor || member.name === "prototype") return []
      return [`${prefix}${member.name}${typeOf(project, member, at)}`]
    })
  const body = [...members("static ", symbol.getExports()), ...members("", symbol.getMembers())].toSorted()
  const extended = (heritageClauses ?? [])
    .map((clause) => ` ${project.emitter.printNode(clause).trim()}`)
    .join("")
  return `class ${symbol.name}${extended} {${body.map((line) => `\n  ${line}`).join("")}${body.length > 0 ? "\n" : ""}}`
}

const exportText = (project: Project, symbol: Symbol): string => {
  const { checker, emitter } = project
  const target = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const texts = target.declarations.map((handle) => {
    const at = handle.resolve(project)
    if (at === undefined) throw new Error(`${symbol.name} has no declaration`)
    switch (at.kind) {
      case SyntaxKind.ClassDeclaration:
        return classText(project, target, at as ClassDeclaration)
      case SyntaxKind.SourceFile: {
        const inside = exportsOf(project, target).map((one) => exportText(project, one))
        return `namespace ${symbol.name} {\n${indent(inside.join("\n"))}\n}`
      }
      case SyntaxKind.VariableDeclaration:
        return `const ${symbol.name}${typeOf(project, target, at)}`
      default:
        return emitter.printNode(at).replace(/^export /, "")
    }
  })
  return texts.join("\n")
}

/** The text of api.txt. An export of several entries is described in the first of them. */
export const apiOf = (folder: string): string =>
  withEntries(folder, (entries, project) => {
    const described = new Map<string, string>()
    const parts = [...entries].map(([entry, symbols]) => {
      const lines = symbols.map((symbol) => {
        const text = exportText(project, symbol)
        const first = described.get(text)
        if (first === undefined) described.set(text, entry)
        return first === undefined || first === entry ? text : `${symbol.name}: see ${first}`
      })
      return [`# ${entry}: ${symbols.length} exports`, "", ...lines, ""].join("\n")
    })
    return parts.join("\n")
  })

if (import.meta.main) {
  for (const folder of PUBLISHED) writeFileSync(join(root, folder, "api.txt"), apiOf(folder))
}
