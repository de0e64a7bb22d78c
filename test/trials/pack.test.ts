/** The published packages work: packed by npm, installed in an empty project, on plain Node. */
// Its entry is TypeScript under the condition "development", which vitest sets.
import {
  checkPackage,
  createPackageFromTarballData
} from "../../node_modules/@arethetypeswrong/core/dist/index.js"
import type { Answer } from "@sluice/rag"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { publint } from "publint"
import { rolldown } from "rolldown"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PNG } from "../../packages/core/src/conformance/checks/Chat.ts"
import { docs, shortest } from "../readme/Examples.ts"
import { describeRuntimes, freePort } from "./runtimes.ts"

const root = join(import.meta.dirname, "../..")
const folders = [
  "packages/core",
  "packages/embedded",
  "packages/providers",
  "packages/rag",
  "packages/transformers",
  "apps/demo-server"
]
let project = ""
let tarballs = ""

/** The environment without the settings of the npm that runs this test, such as its workspace. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_(cache|registry|userconfig|globalconfig)$)/i.test(name)
  )
)

const run = async (
  cwd: string,
  file: string,
  args: ReadonlyArray<string>,
  variables: NodeJS.ProcessEnv = env
): Promise<string> => {
  const { stdout } = await promisify(execFile)(file, [...args], {
    cwd,
    env: variables,
    encoding: "utf8",
    maxBuffer: 64e6
  })
  return stdout
}
const node = process.execPath

const tsc = join(root, "node_modules/typescript/bin/tsc")

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "sluice-pack-"))
  await run(root, node, ["deploy/install.js", project])
  const { devDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"))
  const types = `@types/node@${devDependencies["@types/node"]}`
  await run(project, "npm", [
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "-D",
    types
  ])
  await cp(docs, join(project, "docs"), { recursive: true })
  tarballs = await mkdtemp(join(tmpdir(), "sluice-tarballs-"))
  // The folders are built: install.js did.
  const paths = folders.map((folder) => `./${folder}`)
  await run(root, "npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", tarballs, ...paths])
}, 180_000)

afterAll(() => Promise.all([project, tarballs].map((folder) => rm(folder, { recursive: true, force: true }))))

const check = (answer: Answer): void => {
  expect(answer.found).toBe(true)
  expect(answer.citations.length).toBeGreaterThan(0)
  expect(answer.trace.passages.filter(({ kept }) => kept)).toHaveLength(3)
}

describe("the packed packages", () => {
  it("are built before they are packed, with the page", async () => {
    const built: Record<string, RegExp> = { dist: /^tsc -b/, "dist-web": /&& vite build .*src\/web$/ }
    for (const folder of folders) {
      const { files, scripts } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"))
      for (const output of files.filter((file: string) => file in built))
        expect(scripts.prepack, `${folder}, ${output}`).toMatch(built[output] ?? /^$/)
    }
  })

  it("have a description and a licence", async () => {
    const licence = await readFile(join(root, "LICENSE"), "utf8")
    for (const folder of folders) {
      const { name } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"))
      const installed = join(project, "node_modules", name)
      expect(await readFile(join(installed, "LICENSE"), "utf8")).toBe(licence)
      expect(await readFile(join(installed, "README.md"), "utf8")).toContain(name)
    }
  })

  it.each(folders)("can be published, with provenance: %s", async (folder) => {
    const manifest = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"))
    const { bugs, homepage, keywords, publishConfig, repository } = manifest
    expect(publishConfig).toEqual({ access: "public", provenance: true })
    expect(repository).toMatchObject({ type: "git", directory: folder })
    expect(keywords.length).toBeGreaterThan(3)
    const address = repository.url.replace(/^git\+|\.git$/g, "")
    expect([bugs, homepage]).toEqual([`${address}/issues`, `${address}/tree/main/${folder}#readme`])
    // A dry run asks no registry.
    const args = ["publish", "--dry-run", "--ignore-scripts", "--json", "--offline"]
    const [packed] = Object.values(JSON.parse(await run(join(root, folder), "npm", args))) as ReadonlyArray<{
      readonly name: string
      readonly files: ReadonlyArray<{ readonly path: string }>
    }>
    expect(packed?.name).toBe(manifest.name)
    const files = new Set(packed?.files.map(({ path }) => path))
    const maps = [...files].filter((path) => path.startsWith("dist/") && path.endsWith(".map"))
    expect(maps.filter((path) => path.endsWith(".d.ts.map")).length).toBeGreaterThan(3)
    expect(maps.filter((path) => path.endsWith(".js.map")).length).toBeGreaterThan(3)
    for (const map of maps) {
      const { sources } = JSON.parse(await readFile(join(root, folder, map), "utf8"))
      for (const source of sources) expect(files, map).toContain(join(dirname(map), source))
    }
  })

  it("have no fault that publint finds", async () => {
    for (const folder of folders) {
      const { name } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"))
      const { messages } = await publint({ pkgDir: join(project, "node_modules", name), pack: false })
      expect(messages, name).toEqual([])
    }
  })

  it("have types that every resolution of ES modules finds", async () => {
    const names = await readdir(tarballs)
    expect(names).toHaveLength(folders.length)
    for (const name of names) {
      const types = await checkPackage(createPackageFromTarballData(await readFile(join(tarballs, name))))
      if (types.types === false) throw new Error(`${name} has no types`)
      // The packages are ES modules: neither Node 10 nor TypeScript's rules for its CommonJS know their exports.
      const problems = types.problems.filter(
        (one) => !("resolutionKind" in one) || !["node10", "node16-cjs"].includes(one.resolutionKind)
      )
      expect(problems, name).toEqual([])
    }
  })

  it("install in 330 MB without overrides", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-plain-"))
    try {
      await writeFile(join(folder, "package.json"), `{ "private": true }`)
      const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
      const ours = (await readdir(tarballs)).filter((name) => /^sluice-(core|embedded|rag)-/.test(name))
      const paths = ours.map((name) => join(tarballs, name))
      await run(folder, "npm", ["install", ...quiet, ...paths, "effect"])
      const installed = join(folder, "node_modules")
      expect(await readdir(join(installed, "@lancedb"))).toHaveLength(1)
      expect(Number((await run(root, "du", ["-sb", installed])).split("\t")[0])).toBeLessThan(330e6)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it("leave out of a bundle what a program does not use", async () => {
    const notOurs = /^(@lancedb|effect|@effect|undici)/
    const sizeOf = async (code: string, external = notOurs) => {
      const input = join(project, "bundled.mjs")
      await writeFile(input, code)
      const bundle = await rolldown({ input, external, platform: "node", logLevel: "silent" })
      const { output } = await bundle.generate()
      await bundle.close()
      return output.reduce((sum, part) => sum + ("code" in part ? part.code.length : 0), 0)
    }
    const filter = await sizeOf(`import { Filter } from "@sluice/rag"\nconsole.log(Filter)`)
    // All of the library has 1.2 million.
    expect(filter).toBeLessThan(20_000)
    const constant = `import { UNITS_PER_USD } from "@sluice/core"\nconsole.log(UNITS_PER_USD)`
    // Nothing of `effect` either.
    expect(await sizeOf(constant, /^@lancedb/)).toBeLessThan(500)
  })

  it("run the shortest program of README.md as JavaScript", async () => {
    await writeFile(join(project, "program.mjs"), `${shortest}\nconsole.log(JSON.stringify(answer))\n`)
    const stdout = await run(project, node, ["--no-experimental-strip-types", "program.mjs"])
    check(JSON.parse(stdout))
  })

  const entries = `
import { GatewayLanguageModel } from "@sluice/core/ai"
import { GatewayClient } from "@sluice/core/client"
import { checks } from "@sluice/core/conformance"
import { Vision } from "@sluice/core"
import { animate, paint } from "@sluice/embedded/media"
import { layerVision } from "@sluice/embedded/vision"
import { Effect } from "effect"

const size = { width: 64, height: 48 }
const png = Buffer.from("${PNG.slice(PNG.indexOf(",") + 1)}", "base64")
const look = Vision.use(({ look }) => look("What is it?", [png]))
const tried = await Effect.runPromise(Effect.forEach(
  [paint({ ...size, prompt: "red", format: "png" }), animate({ ...size, prompt: "red", seconds: 0.2 }), look.pipe(Effect.provide(layerVision))],
  (effect) => Effect.match(effect, { onFailure: ({ message }) => message, onSuccess: () => "made" })
))
console.log(JSON.stringify({ tried, checks: checks.length, layers: [GatewayLanguageModel.layer, GatewayClient.layer].map((layer) => typeof layer) }))
`
  const LAYERS = { checks: 20, layers: ["function", "function"] }

  it("have every entry, and create images and videos with the optional packages", async () => {
    await writeFile(join(project, "entries.mjs"), entries)
    const stdout = await run(project, node, ["--no-experimental-strip-types", "entries.mjs"])
    expect(JSON.parse(stdout)).toEqual({ ...LAYERS, tried: ["made", "made", "made"] })
  })

  it("name a missing optional package when it is needed", async () => {
    await writeFile(
      join(project, "absent.mjs"),
      `import { registerHooks } from "node:module"
const OPTIONAL = /^(sharp|h264-mp4-encoder|tesseract\\.js|@tesseract\\.js-data)\\b/
registerHooks({
  resolve: (name, context, next) => {
    if (OPTIONAL.test(name)) throw Object.assign(new Error("absent: " + name), { code: "ERR_MODULE_NOT_FOUND" })
    return next(name, context)
  }
})`
    )
    const flags = ["--no-experimental-strip-types", "--import", "./absent.mjs"]
    const stdout = await run(project, node, [...flags, "entries.mjs"])
    expect(JSON.parse(stdout)).toEqual({
      ...LAYERS,
      tried: [
        expect.stringMatching(/images: .*needs the package sharp: npm install sharp$/),
        expect.stringMatching(/videos: .*needs the package sharp: npm install sharp h264-mp4-encoder$/),
        expect.stringMatching(/vision .*needs the package sharp: npm install sharp tesseract\.js/)
      ]
    })
  })

  it("type-check in a strict project", async () => {
    await writeFile(join(project, "program.ts"), shortest)
    const manifests = await Promise.all(
      folders.map(async (folder) => JSON.parse(await readFile(join(root, folder, "package.json"), "utf8")))
    )
    const entries = manifests.flatMap(({ exports, name }) =>
      Object.keys(exports).map((entry) => join(name, entry))
    )
    await writeFile(
      join(project, "everything.ts"),
      entries.map((name, at) => `export * as m${at} from "${name}"`).join("\n")
    )
    const options = {
      target: "es2024",
      module: "nodenext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      // effect's declarations name types of browsers.
      lib: ["es2024", "esnext", "dom"],
      noEmit: true,
      types: ["node"]
    }
    await writeFile(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["program.ts", "everything.ts"] })
    )
    const complaints = await run(project, node, [tsc, "-p", ".", "--singleThreaded"]).catch(
      ({ stdout }) => stdout
    )
    expect(complaints).toBe("")
  })

  it("have the command line", async () => {
    const sluice = join(project, "node_modules/.bin/sluice")
    const question = "How long may a boat stay at the waiting quay?"
    const options = ["--docs", "docs/handbook", "--data", "data", "--json"]
    const stdout = await run(project, node, [sluice, "ask", question, ...options])
    check(JSON.parse(stdout))
  })
})

describeRuntimes(
  () => project,
  () => tarballs,
  env
)

/** The instructions of deploy/Dockerfile's last stage, continued lines joined. */
const instructions = async (): Promise<ReadonlyArray<readonly [name: string, rest: string]>> => {
  const text = await readFile(join(root, "deploy/Dockerfile"), "utf8")
  const lines = text.replaceAll(/\\\n/g, " ").split("\n")
  const stage = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")))
  return stage.flatMap((line) => {
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    return name === undefined || rest === undefined ? [] : [[name, rest] as const]
  })
}

/** No engine runs here: what the image would start is started from the folder that its build makes. */
describe("the container image", () => {
  const folders: Array<string> = []
  const temporary = async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-image-"))
    folders.push(folder)
    return folder
  }
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

  it("is below 700 MB with its base", async () => {
    const bytes = Number((await run(root, "du", ["-sb", project])).split("\t")[0])
    // node:24-slim has 230 MB.
    expect(bytes).toBeLessThan(470e6)
  })

  it("starts with credentials from files, is healthy, and stops", async () => {
    const [data, secrets] = [await temporary(), await temporary()]
    const token = `sat-${"t".repeat(48)}`
    await writeFile(join(secrets, "admin-token"), `${token}\n`)
    await writeFile(join(secrets, "admin-api-key"), `sk-${"k".repeat(48)}`)
    const steps = await instructions()
    const all = (name: string) => steps.flatMap(([each, rest]) => (each === name ? [rest] : []))
    const words = (text = "") =>
      (JSON.parse(text.slice(text.indexOf("["))) as Array<string>).map((word) =>
        word.replace(/^\/app/, project)
      )
    const variables = Object.fromEntries(
      all("ENV").flatMap((line) => line.split(/\s+/).map((pair) => pair.split("=")))
    )
    const container = {
      ...variables,
      PATH: process.env["PATH"],
      PORT: String(await freePort()),
      HOST: "127.0.0.1",
      SLUICE_DATA: data,
      SLUICE_SAMPLES: "false",
      SLUICE_ADMIN_TOKEN_FILE: join(secrets, "admin-token"),
      SLUICE_ADMIN_API_KEY_FILE: join(secrets, "admin-api-key")
    }
    const start = [...words(all("ENTRYPOINT")[0]), ...words(all("CMD")[0])]
    expect(start[0]).toBe("node")
    const server = spawn(node, start.slice(1), { cwd: data, env: container })
    try {
      let printed = ""
      server.stdout.on("data", (chunk) => (printed += String(chunk)))
      server.stderr.on("data", (chunk) => (printed += String(chunk)))
      const check = words(all("HEALTHCHECK")[0]).slice(1)
      await expect
        .poll(() => run(data, node, check, container).catch(() => "unhealthy"), { timeout: 60_000 })
        .toBe("")
      const users = await fetch(`http://127.0.0.1:${container.PORT}/api/user`, {
        headers: { authorization: `Bearer ${token}` }
      })
      expect(users.status, printed).toBe(200)
      expect(printed).not.toContain(token)
    } finally {
      const ended = once(server, "exit")
      server.kill("SIGTERM")
      expect((await ended)[0]).toBe(0)
    }
  }, 120_000)

  it("has manifests that name variables of the server only", async () => {
    const known = await readFile(join(root, "apps/demo-server/src/config/ServerConfig.ts"), "utf8")
    const operation = await readFile(join(root, "apps/demo-server/src/config/OperationSettings.ts"), "utf8")
    const manifests = await readdir(join(root, "deploy"))
    for (const file of manifests.filter((name) => name !== "install.js")) {
      const text = await readFile(join(root, "deploy", file), "utf8")
      for (const [, name = ""] of text.matchAll(/\b(SLUICE_[A-Z_]+)\b/g)) {
        expect(known + operation, `${name} in ${file}`).toContain(`"${name.replace(/_FILE$/, "")}"`)
      }
    }
  })
})
