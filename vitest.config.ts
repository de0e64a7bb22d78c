import { join } from "node:path"
import { defineConfig } from "vitest/config"

// Some hundred processes are started by the tests; each compiles the same modules.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/node")

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
    // One for each core: most tests wait for a process, a browser or a disk.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    sequence: { hooks: "list" }
  }
})
