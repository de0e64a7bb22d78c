/**
 * `node --conditions=@sluice/source test/regexps.ts`: lists every regular expression of the packages, and checks by
 * `recheck` (npm, not a dependency: its folder is the first argument) that its time grows with the text's length only.
 *
 * Regular expressions made by `new RegExp` are those that exist once all modules are imported. One that may take more time
 * is either rewritten, or its text or time is bounded, and `regexpBounds.ts` says how.
 */
import { globSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { relative, resolve } from "node:path"
import { parseAst } from "rolldown/parseAst"
import { bounded, boundedFile } from "./regexpBounds.ts"

interface Check {
  readonly status: "safe" | "vulnerable" | "unknown"
  readonly complexity?: { readonly type: string; readonly summary: string }
}

const root = resolve(import.meta.dirname, "..")
const { checkSync }: { readonly checkSync: (source: string, flags: string, options: object) => Check } =
  createRequire(import.meta.url)(resolve(process.argv[2] ?? "node_modules/recheck", "lib/browser.js"))

/** Where each regular expression is, by its source and flags. */
const found = new Map<string, Set<string>>()
const add = (source: string, flags: string, file: string): void => {
  const key = `/${source}/${flags}`
  found.set(key, (found.get(key) ?? new Set()).add(file))
}

const files = globSync("{packages,apps}/*/src/**/*.{ts,tsx}", { cwd: root })
const visit = (node: unknown, file: string): void => {
  if (typeof node !== "object" || node === null) return
  const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } }
  if (regex !== undefined && regex !== null) add(regex.pattern, regex.flags, file)
  for (const child of Object.values(node)) visit(child, file)
}
for (const file of files)
  visit(
    parseAst(readFileSync(resolve(root, file), "utf8"), { lang: file.endsWith("x") ? "tsx" : "ts" }),
    file
  )

/** The file that called `new RegExp`, by the stack. */
const callerOf = (): string | undefined =>
  /(?:packages|apps)\/[^/]+\/src\/[^:)]+/.exec(new Error("").stack ?? "")?.[0]
globalThis.RegExp = new Proxy(RegExp, {
  construct: (target, [source, flags]) => {
    const made = new target(source, flags)
    const file = callerOf()
    if (file !== undefined) add(made.source, made.flags, file)
    return made
  }
})
for (const file of files) {
  if (file.endsWith("x") || /\/web\/(?!markdown)|main\.ts$|Thread\.ts$|Worker\.ts$/.test(file)) continue
  await import(resolve(root, file)).catch((cause) => console.error(relative(root, file), String(cause)))
}

const reasonFor = (key: string, files: ReadonlySet<string>): string | undefined =>
  bounded[key] ??
  ([...files].every((file) => boundedFile(file) !== undefined) ? boundedFile([...files][0]!) : undefined)

/** Differences and intersections of classes, which `recheck` cannot read, as their first part: it matches more. */
const withoutSetOperations = (source: string): string => {
  const simpler = source.replaceAll(
    /\[\[([^[\]]*)\](?:--|&&)(?:\\p\{\w+\}|\[[^[\]]*\])\]/g,
    (_, first: string) => `[${first}]`
  )
  return simpler === source ? source : withoutSetOperations(simpler)
}

let faults = 0
let checked = 0
for (const [key, files] of [...found].toSorted()) {
  if (reasonFor(key, files) !== undefined) continue
  checked++
  const end = key.lastIndexOf("/")
  const flags = key.slice(end + 1)
  const source = flags.includes("v") ? withoutSetOperations(key.slice(1, end)) : key.slice(1, end)
  const { complexity, status } = checkSync(source, flags.replace("v", "u"), { timeout: 60_000 })
  if (status === "safe") continue
  faults++
  console.log([status, complexity?.summary ?? "", [...files].join(", "), key].join("\t"))
}
console.log(`${found.size} regular expressions, ${checked} checked, ${faults} faults`)
process.exitCode = faults === 0 ? 0 : 1
