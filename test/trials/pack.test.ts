/** The published packages work: packed by npm, installed in an empty project, on plain Node. */
import type { Answer } from "@sluice/rag"
import { execFile } from "node:child_process"
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PNG } from "../../packages/core/src/conformance/checks/Chat.ts"
import { docs, shortest } from "../readme/Examples.ts"

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

/** The environment without the settings of the npm that runs this test, such as its workspace. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_(cache|registry|userconfig|globalconfig)$)/i.test(name)
  )
)

const run = async (cwd: string, file: string, args: ReadonlyArray<string>): Promise<string> => {
  const { stdout } = await promisify(execFile)(file, [...args], {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 64e6
  })
  return stdout
}
const node = process.execPath

/** Runtimes of neural models, 430 MB. @sluice/transformers installs them; these tests do not load them. */
const UNUSED = Object.fromEntries(
  ["onnxruntime-node", "onnxruntime-web"].map((name) => [name, "npm:empty-npm-package@1.0.0"])
)
const tsc = join(root, "node_modules/typescript/bin/tsc")

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "sluice-pack-"))
  // One thread: several would check the same declarations, for twice the work.
  await run(root, node, [tsc, "-b", "--force", "--singleThreaded", ...folders])
  await run(root, "npm", [
    "pack",
    "--silent",
    "--ignore-scripts",
    "--pack-destination",
    project,
    ...folders.map((folder) => `./${folder}`)
  ])
  const { devDependencies, overrides } = JSON.parse(await readFile(join(root, "package.json"), "utf8"))
  const dependencies: Record<string, string> = { effect: devDependencies.effect }
  const ours: Record<string, string> = {}
  for (const file of await readdir(project)) {
    const name = /^sluice-(.+)-\d+\.\d+\.\d+\.tgz$/.exec(file)?.[1]
    if (name === undefined) continue
    dependencies[`@sluice/${name}`] = `file:./${file}`
    // @sluice packages depend on each other by version: use the packed ones, not the registry.
    ours[`@sluice/${name}`] = `$@sluice/${name}`
  }
  await writeFile(
    join(project, "package.json"),
    JSON.stringify({
      private: true,
      type: "module",
      dependencies,
      devDependencies: { "@types/node": devDependencies["@types/node"] },
      // As README.md tells a user to.
      overrides: { ...overrides, ...ours, ...UNUSED }
    })
  )
  await run(project, "npm", [
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--loglevel=error"
  ])
  await cp(docs, join(project, "docs"), { recursive: true })
}, 180_000)

afterAll(() => rm(project, { recursive: true, force: true }))

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
    await writeFile(
      join(project, "everything.ts"),
      [
        "@sluice/core",
        "@sluice/core/ai",
        "@sluice/core/client",
        "@sluice/core/conformance",
        "@sluice/core/contract",
        "@sluice/core/media",
        "@sluice/embedded",
        "@sluice/embedded/media",
        "@sluice/embedded/vision",
        "@sluice/providers",
        "@sluice/rag",
        "@sluice/rag/evaluation",
        "@sluice/demo-server/contract"
      ]
        .map((name, at) => `export * as m${at} from "${name}"`)
        .join("\n")
    )
    const options = {
      target: "es2024",
      module: "nodenext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      // effect's own declarations want it.
      skipLibCheck: true,
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
