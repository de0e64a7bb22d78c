/** Checks the boundaries that ARCHITECTURE.md describes. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { basename, dirname, join, sep } from "node:path"
import { describe, expect, it } from "vitest"
import * as Layout from "./architecture/Layout.ts"
import { readMarkdown } from "./architecture/Markdown.ts"
import * as Rules from "./architecture/Rules.ts"
import { missingEntries, readLock } from "../scripts/complete-lock.ts"
import {
  packageOf,
  parseSource,
  readSource,
  resolveRelative,
  type SourceFile
} from "./architecture/SourceFile.ts"

const root = join(import.meta.dirname, "..")

/** Installed and generated folders, as in .gitignore. */
const foreign = new Set([".git", ".sluice", "coverage", "dist", "dist-web", "node_modules"])

const paths = globSync("**/*", { cwd: root, exclude: (name) => foreign.has(basename(name)) })
  .map((path) => path.split(sep).join("/"))
  .filter((path) => statSync(join(root, path)).isFile())

const files = new Map<string, SourceFile>(
  paths.filter((path) => /\.[cm]?[jt]sx?$/.test(path)).map((path) => [path, readSource(root, path)])
)
const sources = [...files.values()]
const shipped = sources.filter(({ path }) => /^(packages|apps)\/[^/]+\/(src|bin)\//.test(path))

/** Source of the packages, without bin/. */
const source = shipped.filter(({ path }) => path.includes("/src/"))

const folderOf = (path: string) => Rules.packageFolders.find((folder) => path.startsWith(`${folder}/`))
const isRelative = (specifier: string) => specifier.startsWith(".")

/** Files of the repository that this file imports. */
const neighbours = (file: SourceFile, wanted: (typeOnly: boolean) => boolean): ReadonlyArray<string> =>
  file.imports
    .filter((one) => isRelative(one.specifier) && wanted(one.typeOnly))
    .map((one) => resolveRelative(file.path, one.specifier))
    .filter((path) => files.has(path))

/** Packages that are loaded with a file, directly or not, and the file that imports each. Type imports load nothing. */
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
  it("finds files in every package", () => {
    for (const folder of Rules.packageFolders) {
      expect(shipped.filter(({ path }) => path.startsWith(`${folder}/src/`)).length, folder).toBeGreaterThan(
        0
      )
    }
  })

  it("detects every form of import, environment access and skipped test", () => {
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

  it("packages import only the packages allowed to them", () => {
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

  it("rag imports no network module", () => {
    const faults = shipped
      .filter(({ path }) => path.startsWith("packages/rag/"))
      .flatMap(({ imports, path }) =>
        imports
          .filter(({ specifier }) => Rules.network.test(specifier))
          .map(({ line, specifier }) => `${path}:${line} imports ${specifier}`)
      )
    expect(faults).toEqual([])
  })

  it("the root entry of core loads no transport", () => {
    const loaded = [...loadedWith(Rules.transportFree).keys()]
    expect(loaded.filter((one) => /^(undici|node:|@effect\/platform)/.test(one))).toEqual([])
  })

  it.each(Rules.singleHome)("%s is imported by one file", (library) => {
    const homes = shipped.filter(({ imports }) => imports.some((one) => packageOf(one.specifier) === library))
    expect(homes.map(({ path }) => path).length).toBeLessThanOrEqual(1)
  })

  it("contracts load only effect and core's contract", () => {
    const faults = shipped
      .filter(({ path }) => Rules.pure.some((folder) => path.startsWith(folder)))
      .flatMap(({ path }) =>
        [...loadedWith(path)]
          .filter(([specifier]) => !/^(effect(\/.+)?|@sluice\/core(\/contract)?)$/.test(specifier))
          .map(([specifier, by]) => `${path} loads ${specifier}, by ${by}`)
      )
    expect(faults).toEqual([])
  })

  it("no imports form a cycle", () => {
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

  it("every import exists and is a declared dependency", () => {
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
        // The page is bundled at build time, so its imports may be development dependencies.
        const declared = typeOnly || path.includes("/src/web/") ? buildTime : loadable
        const known = /^(node:|#|\(computed\))/.test(specifier) || packageOf(specifier) in declared
        return known ? [] : [`${path}:${line} imports ${specifier}, not declared by ${folder}`]
      })
    })
    expect(faults).toEqual([])
  })

  it("package-lock.json lists every platform's packages, so that `npm ci` accepts it (else: npm run -s lock)", () => {
    expect(Object.keys(missingEntries(readLock().packages))).toEqual([])
  })

  it("only Config reads the environment", () => {
    // The launcher passes it to the process that it starts.
    const readers = shipped.filter(({ path }) => path !== "apps/demo-server/bin/sluice.js")
    expect(readers.flatMap(({ environment, path }) => environment.map((line) => `${path}:${line}`))).toEqual(
      []
    )
  })

  it("files are at most 400 lines long and none is called utils, common, helpers or misc", () => {
    expect(sources.filter(({ lines }) => lines > Rules.MAX_LINES).map(({ path }) => path)).toEqual([])
    expect(paths.filter((path) => Rules.emptyName.test(basename(path)))).toEqual([])
  })

  it.each([
    ["folders hold at most 20 source files", Layout.fullFolders(source, Rules.MAX_FILES)],
    ["no two folders import each other", Layout.mutualFolders(source)],
    ["functions are at most 100 lines long", Layout.longFunctions(source, Rules.MAX_FUNCTION_LINES)],
    ["an exported name is declared in one file", Layout.ambiguousNames(source)]
  ])("%s", (_, found) => {
    expect(found.filter((one) => !Rules.exceptions.some((start) => one.startsWith(start)))).toEqual([])
  })

  it("every skipped test has a reason, and no test is marked only", () => {
    const faults = sources.flatMap(({ path, skips }) =>
      skips
        .filter(({ kind, reason }) => kind === "only" || reason === undefined)
        .map(({ kind, line }) => `${path}:${line} .${kind} without a comment "Skipped: why" above it`)
    )
    expect(faults).toEqual([])
  })

  it("no document has a dead link", () => {
    // TypeDoc writes these when the site is built, which checks their links.
    const generated = "docs/reference/api/"
    const documents = paths.filter((path) => path.endsWith(".md") && !path.startsWith(generated))
    const faults = documents.flatMap((path) =>
      readMarkdown(join(root, path)).links.flatMap(({ line, target }) => {
        if (/^([a-z][a-z+.-]*:|\/\/)/i.test(target)) return []
        const [file = "", anchor = ""] = decodeURI(target).split("#")
        const full = file === "" ? join(root, path) : join(root, dirname(path), file)
        if (full.startsWith(join(root, generated))) return []
        if (!existsSync(full)) return [`${path}:${line} ${target}: no such file`]
        const dead = anchor !== "" && statSync(full).isFile() && !readMarkdown(full).anchors.has(anchor)
        return dead ? [`${path}:${line} ${target}: no such heading`] : []
      })
    )
    expect(documents.length).toBeGreaterThan(0)
    expect(faults).toEqual([])
  })

  it("every path in ARCHITECTURE.md exists", () => {
    const faults = readMarkdown(join(root, "ARCHITECTURE.md"))
      .codeSpans.filter(({ target }) => /^[\w.-]+\/[\w./-]*(\/|\.[a-z]+)$/.test(target))
      .filter(({ target }) => !["", "packages", "apps"].some((base) => existsSync(join(root, base, target))))
      .map(({ line, target }) => `${line}: ${target}`)
    expect(faults).toEqual([])
  })
})
