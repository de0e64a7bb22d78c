/**
 * Installs this checkout's packages, built and packed as they are published, in an empty folder:
 * `node deploy/install.js FOLDER`. `--neural` also installs the runtimes of neural models, 430 MB; `--duckdb` DuckDB, for SQL
 * over tables, 70 MB.
 */
import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

const root = join(import.meta.dirname, "..")
const folders = ["core", "embedded", "providers", "rag", "transformers"].map((name) => `packages/${name}`)
folders.push("apps/demo-server")

const flags = process.argv.slice(2)
const target = flags.find((flag) => !flag.startsWith("--"))
if (target === undefined) throw new Error("Name a folder: node deploy/install.js FOLDER")
const folder = resolve(target)
mkdirSync(folder, { recursive: true })
if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`)

/** The environment without the settings of an npm that runs this, such as its workspace. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_(cache|registry|userconfig|globalconfig)$)/i.test(name)
  )
)

/** @param {string} cwd @param {string} file @param {ReadonlyArray<string>} args */
const run = (cwd, file, args) =>
  execFileSync(file, args, { cwd, env, stdio: ["ignore", "ignore", "inherit"] })

/** @param {string} path */
const json = (path) => JSON.parse(readFileSync(join(root, path), "utf8"))

// One thread: several would check the same declarations, for twice the work.
run(root, process.execPath, [
  "node_modules/typescript/bin/tsc",
  "-b",
  "--force",
  "--singleThreaded",
  ...folders
])
run(root, process.execPath, ["packages/rag/scripts/bundle-lancedb.ts"])
run(root, "npm", [
  "pack",
  "--silent",
  "--ignore-scripts",
  "--pack-destination",
  folder,
  ...folders.map((each) => `./${each}`)
])

const { devDependencies } = json("package.json")
const packed = Object.fromEntries(
  folders.map((each) => {
    const { name, version } = json(`${each}/package.json`)
    return [name, `file:./${name.slice(1).replace("/", "-")}-${version}.tgz`]
  })
)
/** Our packages depend on each other by version: the packed ones are used, not those of a registry. */
const ours = Object.fromEntries(Object.keys(packed).map((name) => [name, `$${name}`]))
const empty = "npm:empty-npm-package@1.0.0"
const unused = flags.includes("--neural") ? {} : { "onnxruntime-node": empty, "onnxruntime-web": empty }
const duckdb = "@duckdb/node-api"
const optional = flags.includes("--duckdb") ? { [duckdb]: devDependencies[duckdb] } : {}
writeFileSync(
  join(folder, "package.json"),
  JSON.stringify({
    private: true,
    type: "module",
    dependencies: { effect: devDependencies.effect, ...packed, ...optional },
    overrides: { ...ours, ...unused }
  })
)
run(folder, "npm", [
  "install",
  "--prefer-offline",
  "--no-audit",
  "--no-fund",
  "--ignore-scripts",
  "--loglevel=error"
])
for (const name of readdirSync(folder)) if (name.endsWith(".tgz")) rmSync(join(folder, name))
copyFileSync(join(import.meta.dirname, "healthy.js"), join(folder, "healthy.js"))
