import { defineConfig } from "vitest/config"

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
