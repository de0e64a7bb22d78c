/** Every regular expression of the packages: those written in the source, and those made by `new RegExp` on import. */
import { globSync, readFileSync } from "node:fs"
import { relative, resolve } from "node:path"
import { parseAst } from "rolldown/parseAst"

const root = resolve(import.meta.dirname, "../..")

/** The files of each expression, which is written like a literal. */
export type Regexps = ReadonlyMap<string, ReadonlySet<string>>

/** Lists the expressions. Replaces `RegExp` in this process. */
export const listRegexps = async (): Promise<Regexps> => {
  const found = new Map<string, Set<string>>()
  const add = (source: string, flags: string, file: string): void => {
    const key = `/${source}/${flags}`
    found.set(key, (found.get(key) ?? new Set()).add(file))
  }
  const visit = (node: unknown, file: string): void => {
    if (typeof node !== "object" || node === null) return
    const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } }
    if (regex !== undefined && regex !== null) add(regex.pattern, regex.flags, file)
    for (const child of Object.values(node)) visit(child, file)
  }
  const files = globSync("{packages,apps}/*/src/**/*.{ts,tsx}", { cwd: root })
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
  return found
}
