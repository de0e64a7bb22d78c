/** Parses a source file into its imports, exports, functions and skipped tests. */
import { readFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { parseSync } from "vite"

/** A static or dynamic import of values or types. */
export interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
  readonly line: number
}

/** A test marked skip or only. `reason` is the comment above it that starts with `Skipped:`. */
export interface Skip {
  readonly kind: string
  readonly line: number
  readonly reason: string | undefined
}

export interface SourceFile {
  /** Path from the root of the repository, with `/`. */
  readonly path: string
  readonly lines: number
  readonly imports: ReadonlyArray<Import>
  /** Lines that contain `process.env`. */
  readonly environment: ReadonlyArray<number>
  readonly skips: ReadonlyArray<Skip>
  /** Names that this file declares and exports, without re-exports. */
  readonly exports: ReadonlyArray<string>
  readonly functions: ReadonlyArray<FunctionSpan>
}

/** A function, method or generator, and its number of lines. */
export interface FunctionSpan {
  readonly line: number
  readonly lines: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

const isNode = (u: unknown): u is Node =>
  typeof u === "object" && u !== null && typeof (u as { type?: unknown }).type === "string"

const SKIPS = new Set(["skip", "skipIf", "runIf", "todo", "only", "fails"])
const TESTS = new Set(["it", "test", "describe"])

/** The leftmost name of `it.effect.skip`. */
const rootName = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined
  if (node.type === "Identifier") return node["name"] as string
  if (node.type === "MemberExpression") return rootName(node["object"])
  if (node.type === "CallExpression") return rootName(node["callee"])
  return undefined
}

const nameOf = (node: unknown): string | undefined =>
  isNode(node) ? ((node["name"] ?? node["value"]) as string | undefined) : undefined

/** Reads and parses one file. */
export const readSource = (root: string, path: string): SourceFile =>
  parseSource(path, readFileSync(join(root, path), "utf8"))

/** Parses one file. Throws if it does not parse. */
export const parseSource = (path: string, text: string): SourceFile => {
  const rows = text.split("\n")
  const lineOf = (offset: number) => text.slice(0, offset).split("\n").length
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`)

  const imports: Array<Import> = []
  const environment: Array<number> = []
  const skips: Array<Skip> = []

  const visitImport = (node: Node): void => {
    const source = node["source"]
    const specifier = nameOf(source)
    if (specifier === undefined) {
      if (node.type === "ImportExpression") {
        imports.push({ specifier: "(computed)", typeOnly: false, line: lineOf(node.start) })
      }
      return
    }
    const kind = node["importKind"] ?? node["exportKind"]
    const named = (node["specifiers"] ?? []) as ReadonlyArray<Node>
    const allTypes =
      named.length > 0 && named.every((one) => one["importKind"] === "type" || one["exportKind"] === "type")
    const typeOnly = node.type === "TSImportType" || kind === "type" || allTypes
    imports.push({ specifier, typeOnly, line: lineOf(node.start) })
  }

  const exported = new Set<string>()
  const functions: Array<FunctionSpan> = []

  /** Collects the names of a declaration or of an export list without a source. */
  const visitExport = (node: Node): void => {
    if (nameOf(node["source"]) !== undefined) return
    for (const one of (node["specifiers"] ?? []) as ReadonlyArray<Node>) {
      exported.add(nameOf(one["exported"]) ?? "")
    }
    const declaration = node["declaration"]
    if (!isNode(declaration)) return
    const declared = (declaration["declarations"] ?? [declaration]) as ReadonlyArray<Node>
    for (const one of declared) exported.add(nameOf(one["id"]) ?? "")
  }

  const visitFunction = (node: Node): void => {
    const line = lineOf(node.start)
    functions.push({ line, lines: lineOf(node["end"] as number) - line + 1 })
  }

  const visitMember = (node: Node): void => {
    const property = nameOf(node["property"])
    const line = lineOf(node.start)
    if (property === "env" && nameOf(node["object"]) === "process") environment.push(line)
    if (property !== undefined && SKIPS.has(property) && TESTS.has(rootName(node["object"]) ?? "")) {
      skips.push({ kind: property, line, reason: /\bSkipped: (.+)/.exec(rows[line - 2] ?? "")?.[1] })
    }
  }

  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one)
    if (!isNode(value)) return
    switch (value.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
      case "ImportExpression":
      case "TSImportType":
        visitImport(value)
        if (value.type === "ExportNamedDeclaration") visitExport(value)
        break
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        visitFunction(value)
        break
      case "MemberExpression":
        visitMember(value)
        break
      default:
    }
    for (const key of Object.keys(value)) visit(value[key])
  }
  visit(program)

  return {
    path,
    lines: rows.length - (rows.at(-1) === "" ? 1 : 0),
    imports,
    environment,
    skips,
    exports: [...exported],
    functions
  }
}

/** The repository path that a relative import in `from` refers to. */
export const resolveRelative = (from: string, specifier: string): string =>
  relative(".", join(dirname(from), specifier))
    .split(sep)
    .join("/")

/** `@scope/name` or `name` of a bare specifier. */
export const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
