#!/usr/bin/env node
// Starts the command line: the package's JavaScript when installed, the TypeScript source in the repository. This file is
// plain JavaScript without dependencies, so that an old Node can run it and print that it is too old.
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import * as module from "node:module"
import { dirname, join, sep } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const installed = here.includes(`${sep}node_modules${sep}`)
const entry = join(here, installed ? "../dist/cli/main.js" : "../src/cli/main.ts")

/** @param {string} version */
const isRecent = (version) => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > 22 || (major === 22 && minor >= 19)
}

/** The Node of the npm package `node`, if it is installed above this file. */
const nodeNearby = () => {
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder)) {
    const found = join(folder, "node_modules", ".bin", process.platform === "win32" ? "node.cmd" : "node")
    if (existsSync(found)) return found
  }
  return undefined
}

/**
 * Settings of glibc, which keeps freed memory otherwise: two minutes after a file of 40 MB the server had 1.2 GB, with these
 * 0.3. They are read when a process starts. A threshold of 128 KiB leaves 100 MB more after many large calls, and is no faster.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "32768" }

/** @param {string} node */
const run = (node) => {
  // Node 22 warns of its SQLite.
  const flags = ["--disable-warning=ExperimentalWarning"]
  if (!installed) flags.push("--conditions=@sluice/source")
  const child = spawn(node, [...flags, entry, ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...ALLOCATOR, ...process.env }
  })
  // This process waits until the child has shut down. Ctrl-C reaches the child directly too: it ignores the second signal.
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal))
  }
  child.on("error", (error) => {
    console.error(`sluice: cannot start ${node}: ${error.message}`)
    process.exitCode = 1
  })
  child.on("exit", (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1
    else {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    }
  })
}

const node = isRecent(process.versions.node) ? process.execPath : nodeNearby()
if (process.argv.length === 3 && ["--version", "-v"].includes(process.argv[2] ?? "")) {
  // Without the 1,860 modules of the commands.
  console.log(`sluice v${JSON.parse(readFileSync(join(here, "../package.json"), "utf8")).version}`)
} else if (node === undefined) {
  console.error(
    `sluice needs Node 22.19 or newer; this is ${process.versions.node}. Install a newer Node, or add one to ` +
      "this project with: npm install --save-dev node@24"
  )
  process.exitCode = 1
} else if (!existsSync(entry)) {
  console.error(`sluice: ${entry} is missing. Reinstall the package.`)
  process.exitCode = 1
} else if (installed && node === process.execPath && process.argv[2] !== "serve") {
  module.enableCompileCache?.()
  // As the flag of a started process.
  const { emitWarning } = process
  process.emitWarning = (/** @type {[any, any]} */ ...args) =>
    args[1] === "ExperimentalWarning" ? undefined : Reflect.apply(emitWarning, process, args)
  await import(new URL("../dist/cli/main.js", import.meta.url).href)
} else {
  run(node)
}
