import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { memoryFolder } from "./test/memoryFolder.ts"

// Some hundred processes are started by the tests; each compiles the same modules.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/node")

// Thousands of small files and commits: no test asks whether a disk keeps them when the power goes.
process.env["TMPDIR"] ??= memoryFolder()

const conditions = ["@sluice/source"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    // Processes, not threads: LanceDB and pdfium are native or wasm, and tests that fill a disk or drop rights
    // must not share one.
    pool: "forks",
    // Each process loads the modules once, not once for each file: a quarter of the time.
    isolate: false,
    // More than cores: a fifth of the time a test waits for a process, a browser or a disk.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // Room for a machine that does much else; within a test, a browser waits half as long for what does not come.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    sequence: { hooks: "list" }
  }
})
