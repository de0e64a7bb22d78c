/** The boundaries of ARCHITECTURE.md, held by a test. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { basename, dirname, join, sep } from "node:path"
import { describe, expect, it } from "vitest"
import { readMarkdown } from "./architecture/Markdown.ts"
import * as Rules from "./architecture/Rules.ts"
import {
  packageOf,
  parseSource,
  readSource,
  resolveRelative,
  type SourceFile
} from "./architecture/SourceFile.ts"

const root = join(import.meta.dirname, "..")

/** Installed and generated: what .gitignore leaves out. */
const foreign = new Set([".git", ".sluice", "coverage", "dist", "dist-web", "node_modules"])

const paths = globSync("**/*", { cwd: root, exclude: (name) => foreign.has(basename(name)) })
  .map((path) => path.split(sep).join("/"))
  .filter((path) => statSync(join(root, path)).isFile())

const files = new Map<string, SourceFile>(
  paths.filter((path) => /\.[cm]?[jt]sx?$/.test(path)).map((path) => [path, readSource(root, path)])
)
const sources = [...files.values()]
const shipped = sources.filter(({ path }) => /^(packages|apps)\/[^/]+\/(src|bin)\//.test(path))

const folderOf = (path: string) => Rules.packageFolders.find((folder) => path.startsWith(`${folder}/`))
const isRelative = (specifier: string) => specifier.startsWith(".")

/** Files of the repository that a file imports. */
const neighbours = (file: SourceFile, wanted: (typeOnly: boolean) => boolean): ReadonlyArray<string> =>
  file.imports
    .filter((one) => isRelative(one.specifier) && wanted(one.typeOnly))
    .map((one) => resolveRelative(file.path, one.specifier))
    .filter((path) => files.has(path))

/** Everything that is loaded with a file: packages, by the file that imports them. Types load nothing. */
const loadedWith = (start: string): ReadonlyMap<string, string> => {
  const packages = new Map<string, string>()
  const seen = new Set<string>()
  const queue = [start]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const file = files.get(path)
    if (file === undefined || seen.has(path)) continue
    seen.add(path)
    for (const { specifier, typeOnly } of file.imports) {
      if (!isRelative(specifier) && !typeOnly) packages.set(specifier, path)
    }
    queue.push(...neighbours(file, (typeOnly) => !typeOnly))
  }
  return packages
}

describe("architecture", () => {
  it("finds the packages it guards", () => {
    for (const folder of Rules.packageFolders) {
      expect(shipped.filter(({ path }) => path.startsWith(`${folder}/src/`)).length, folder).toBeGreaterThan(
        0
      )
    }
  })

  it("sees every way to import, to read the environment and to skip", () => {
    const seen = parseSource(
      "planted.ts",
      [
        'import a, { type B } from "one"',
        'import type { C } from "two"',
        'import { type D } from "three"',
        'export * from "./four.ts"',
        'type E = import("five").E',
        'const f = await import("six")',
        'const g = process["env"].HOME // not "process.env"',
        "// Skipped: needs a second disk",
        'it.effect.skip("h", () => f)',
        'describe.only("i", () => [a, g])'
      ].join("\n")
    )
    const kinds = seen.imports.map(({ specifier, typeOnly }) => (typeOnly ? `type ${specifier}` : specifier))
    expect(kinds).toEqual(["one", "type two", "type three", "./four.ts", "type five", "six"])
    expect(seen.environment).toEqual([7])
    expect(seen.skips).toEqual([
      { kind: "skip", line: 9, reason: "needs a second disk" },
      { kind: "only", line: 10, reason: undefined }
    ])
  })

  it("packages import in one direction: core ← embedded, core ← rag, all ← demo-server", () => {
    const faults = shipped.flatMap(({ imports, path }) =>
      imports.flatMap(({ line, specifier }) => {
        const folder = folderOf(path)
        if (folder === undefined) return []
        const crossing = isRelative(specifier) && folderOf(resolveRelative(path, specifier)) !== folder
        const foreign = specifier.startsWith("@sluice/") && !Rules.allowed[folder].includes(specifier)
        return crossing || foreign ? [`${path}:${line} imports ${specifier}`] : []
      })
    )
    expect(faults).toEqual([])
  })

  it("rag reaches no network module", () => {
    const faults = shipped
      .filter(({ path }) => path.startsWith("packages/rag/"))
      .flatMap(({ imports, path }) =>
        imports
          .filter(({ specifier }) => Rules.network.test(specifier))
          .map(({ line, specifier }) => `${path}:${line} imports ${specifier}`)
      )
    expect(faults).toEqual([])
  })

  it("the root of core loads no transport", () => {
    const loaded = [...loadedWith(Rules.transportFree).keys()]
    expect(loaded.filter((one) => /^(undici|node:|@effect\/platform)/.test(one))).toEqual([])
  })

  it.each(Rules.singleHome)("%s is imported by one file", (library) => {
    const homes = shipped.filter(({ imports }) => imports.some((one) => packageOf(one.specifier) === library))
    expect(homes.map(({ path }) => path).length).toBeLessThanOrEqual(1)
  })

  it("endpoints and contracts only describe: they load effect and siblings", () => {
    const faults = shipped
      .filter(({ path }) => Rules.pure.some((folder) => path.startsWith(folder)))
      .flatMap(({ path }) =>
        [...loadedWith(path)]
          .filter(([specifier]) => !/^(effect(\/.+)?|@sluice\/core(\/contract)?)$/.test(specifier))
          .map(([specifier, by]) => `${path} loads ${specifier}, by ${by}`)
      )
    expect(faults).toEqual([])
  })

  it("no file imports itself by a detour", () => {
    const done = new Set<string>()
    const cycles: Array<string> = []
    const walk = (path: string, trail: ReadonlyArray<string>): void => {
      const at = trail.indexOf(path)
      if (at >= 0) cycles.push([...trail.slice(at), path].join(" → "))
      if (at >= 0 || done.has(path)) return
      const file = files.get(path)
      if (file !== undefined) for (const next of neighbours(file, () => true)) walk(next, [...trail, path])
      done.add(path)
    }
    for (const path of files.keys()) walk(path, [])
    expect(cycles).toEqual([])
  })

  it("every import is of something that exists and that the package declares", () => {
    const faults = shipped.flatMap(({ imports, path }) => {
      const folder = folderOf(path)
      if (folder === undefined) return []
      const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
      const { dependencies, optionalDependencies, peerDependencies } = manifest
      const loadable = { ...dependencies, ...optionalDependencies, ...peerDependencies }
      const buildTime = { ...loadable, ...manifest.devDependencies }
      return imports.flatMap(({ line, specifier, typeOnly }) => {
        if (isRelative(specifier)) {
          return existsSync(join(root, resolveRelative(path, specifier)))
            ? []
            : [`${path}:${line} ${specifier}`]
        }
        // The page is bundled when the package is built: what it uses need not be installed with it.
        const declared = typeOnly || path.includes("/src/web/") ? buildTime : loadable
        const known = /^(node:|\(computed\))/.test(specifier) || packageOf(specifier) in declared
        return known ? [] : [`${path}:${line} imports ${specifier}, which ${folder} does not declare`]
      })
    })
    expect(faults).toEqual([])
  })

  it("the environment is read by Config alone", () => {
    expect(shipped.flatMap(({ environment, path }) => environment.map((line) => `${path}:${line}`))).toEqual(
      []
    )
  })

  it("every file is small and its name says what is in it", () => {
    expect(sources.filter(({ lines }) => lines > Rules.MAX_LINES).map(({ path }) => path)).toEqual([])
    expect(paths.filter((path) => Rules.emptyName.test(basename(path)))).toEqual([])
  })

  it("every skipped test says why, and none is the only one", () => {
    const faults = sources.flatMap(({ path, skips }) =>
      skips
        .filter(({ kind, reason }) => kind === "only" || reason === undefined)
        .map(({ kind, line }) => `${path}:${line} .${kind} without a comment "Skipped: why" above it`)
    )
    expect(faults).toEqual([])
  })

  it("no link of a document is dead", () => {
    const documents = paths.filter((path) => path.endsWith(".md"))
    const faults = documents.flatMap((path) =>
      readMarkdown(join(root, path)).links.flatMap(({ line, target }) => {
        if (/^([a-z][a-z+.-]*:|\/\/)/i.test(target)) return []
        const [file = "", anchor = ""] = decodeURI(target).split("#")
        const full = file === "" ? join(root, path) : join(root, dirname(path), file)
        if (!existsSync(full)) return [`${path}:${line} ${target}: no such file`]
        const dead = anchor !== "" && statSync(full).isFile() && !readMarkdown(full).anchors.has(anchor)
        return dead ? [`${path}:${line} ${target}: no such heading`] : []
      })
    )
    expect(documents.length).toBeGreaterThan(0)
    expect(faults).toEqual([])
  })
})
