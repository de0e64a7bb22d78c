import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { memoryFolder } from "./test/memoryFolder.ts"

// Some hundred processes are started by the tests; each compiles the same modules.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/node")

// Thousands of small files and commits: no test asks whether a disk keeps them when the power goes.
process.env["TMPDIR"] ??= memoryFolder()

const conditions = ["@sluice/source"]

/** They take longest: begun last, one of them would run alone. A first run knows only how large files are. */
const LONGEST = ["trials.test.ts", "pack.test.ts", "page.test.ts", "readme.test.ts", "process.test.ts"]

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is not an array's
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}`))
      return at === -1 ? LONGEST.length : at
    }
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

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
    sequence: { hooks: "list", sequencer: LongestFirst },
    // A process of tests holds a gigabyte in the end: to collect it at every step up there is a twentieth of the time.
    execArgv: ["--initial-old-space-size=1500", "--max-semi-space-size=64"]
  }
})
