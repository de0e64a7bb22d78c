/**
 * `node --conditions=@sluice/source test/regexps.ts`: lists every regular expression of the packages, and checks by
 * `recheck` (npm, not a dependency: its folder is the first argument) that its time grows with the text's length only.
 * 1,018 take 5 s by the program in `recheck-linux-x64`, which npm installs beside it.
 *
 * Regular expressions made by `new RegExp` are those that exist once all modules are imported. One that may take more time
 * is either rewritten, or its text or time is bounded, and `regexpBounds.ts` says how. If it says “at most N characters”,
 * the attack that `recheck` found is run with so many.
 */
import { globSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { relative, resolve } from "node:path"
import { parseAst } from "rolldown/parseAst"
import { bounded, boundedFile } from "./regexpBounds.ts"

interface Check {
  readonly status: "safe" | "vulnerable" | "unknown"
  readonly complexity?: { readonly type: string; readonly summary: string }
  readonly attack?: {
    readonly pumps: ReadonlyArray<{ readonly prefix: string; readonly pump: string }>
    readonly suffix: string
  }
}

/** Processor time of a bounded one: the longest silence that the server may have. */
const MILLISECONDS = 250

const root = resolve(import.meta.dirname, "..")
const { checkSync }: { readonly checkSync: (source: string, flags: string, options: object) => Check } =
  createRequire(import.meta.url)(resolve(process.argv[2] ?? "node_modules/recheck"))

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

/** Milliseconds of processor time that an attack of so many characters takes. */
const timeOf = (source: string, flags: string, { attack }: Check, characters: number): number => {
  if (attack === undefined) return 0
  const { pumps, suffix } = attack
  const repeated = pumps.reduce((sum, { pump }) => sum + pump.length, 0)
  const times = Math.floor(characters / repeated)
  const text = pumps.map(({ prefix, pump }) => prefix + pump.repeat(times)).join("") + suffix
  const started = process.threadCpuUsage()
  text.replace(new RegExp(source, flags), "")
  const { system, user } = process.threadCpuUsage(started)
  return (user + system) / 1000
}

let faults = 0
for (const [key, files] of [...found].toSorted()) {
  const reason = reasonFor(key, files)
  const end = key.lastIndexOf("/")
  const [source, flags] = [key.slice(1, end), key.slice(end + 1)]
  const characters = Number(/at most ([\d,]+) characters/.exec(reason ?? "")?.[1]?.replace(",", ""))
  if (reason !== undefined && Number.isNaN(characters)) continue
  const readable = flags.includes("v") ? withoutSetOperations(source) : source
  const check = checkSync(readable, flags.replace("v", "u"), { timeout: 20_000 })
  if (check.status === "safe") continue
  const milliseconds = Number.isNaN(characters) ? 0 : timeOf(source, flags, check, characters)
  if (reason !== undefined && milliseconds < MILLISECONDS) continue
  faults++
  const time = milliseconds === 0 ? "" : `${milliseconds.toFixed(0)} ms for ${characters} characters`
  console.log([check.status, check.complexity?.summary ?? "", time, [...files].join(", "), key].join("\t"))
}
console.log(`${found.size} regular expressions, ${faults} faults`)
process.exit(faults === 0 ? 0 : 1)
