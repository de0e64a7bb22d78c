/**
 * Lists every platform's optional packages in package-lock.json: `npm run -s lock`, after a change of dependencies. A registry
 * that lacks some of them makes npm leave them out, and `npm ci` then refuses the lock everywhere. An entry without
 * `integrity` is resolved by its version where its platform is, and nowhere else.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

interface Entry {
  readonly version?: string
  readonly dev?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const file = join(import.meta.dirname, "../package-lock.json")
const PLATFORM = /-(darwin|linux|win32)-(arm64|arm|x64)(?:-(gnu|musl|msvc))?$/
const LIBC: Readonly<Record<string, string>> = { gnu: "glibc", musl: "musl" }

/** The folders in which Node looks for a package that the one in `folder` imports. */
const lookups = (folder: string): ReadonlyArray<string> => {
  const parents = folder.split("/").map((_, at, parts) => parts.slice(0, parts.length - at).join("/"))
  return [...parents, ""].map((parent) => (parent === "" ? "node_modules" : `${parent}/node_modules`))
}

/** The entries that the lock lacks, by their place. */
export const missingEntries = (packages: Readonly<Record<string, Entry>>): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries(packages).flatMap(([folder, { dev, optionalDependencies = {} }]) =>
      Object.entries(optionalDependencies).flatMap(([name, version]) => {
        if (lookups(folder).some((place) => `${place}/${name}` in packages)) return []
        const [, os, cpu, abi = ""] = PLATFORM.exec(name) ?? []
        if (os === undefined) throw new Error(`${name} is of no known platform. Is it in the registry?`)
        const libc = LIBC[abi] === undefined ? {} : { libc: [LIBC[abi]] }
        const entry = {
          version,
          cpu: [cpu],
          ...(dev === true ? { dev } : {}),
          ...libc,
          optional: true,
          os: [os]
        }
        return [[`node_modules/${name}`, entry]]
      })
    )
  )

export const readLock = (): { readonly packages: Readonly<Record<string, Entry>> } =>
  JSON.parse(readFileSync(file, "utf8"))

if (import.meta.main) {
  const lock = readLock()
  const all = Object.entries({ ...lock.packages, ...missingEntries(lock.packages) })
  const packages = Object.fromEntries(all.toSorted(([a], [b]) => a.localeCompare(b, "en")))
  writeFileSync(file, `${JSON.stringify({ ...lock, packages }, undefined, 2)}\n`)
}
