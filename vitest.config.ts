import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { memoryFolder } from "./test/memoryFolder.ts"

// The tests start some hundred processes, which compile the same modules.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/node")

// Thousands of small files and commits. No test needs them to survive a power failure.
process.env["TMPDIR"] ??= memoryFolder()

/** Files whose `onStore` defines tests for SQLite in `npm test`, and for PostgreSQL in the trials. */
const ON_POSTGRES = [
  "conversationStore",
  "conversations",
  "jobs",
  "openIdConnect",
  "sharing",
  "sources",
  "users"
].map((name) => `test/demo-server/${name}.test.ts`)

const CHECKS = ["test/architecture.test.ts", "test/api.test.ts"]

/** The slowest files. They start first: started last, one would run alone. Vitest orders a first run by file size only. */
const LONGEST = [
  "page.test.ts",
  "conformance.test.ts",
  "conformance-rules.test.ts",
  "readme.test.ts",
  "guides.test.ts",
  "page-views.test.ts",
  "snippets.test.ts",
  "jobs.test.ts",
  "sources.test.ts",
  "sharing.test.ts",
  "store-s3.test.ts",
  "command-line.test.ts",
  "store-races.test.ts",
  "restore.test.ts",
  "pack.test.ts",
  "server-process.test.ts",
  "ingest-process.test.ts",
  "parse-pdf-hard.test.ts",
  "shutdown.test.ts"
]

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer, not of an array
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}`))
      return at === -1 ? LONGEST.length : at
    }
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: "tests", include: ["test/**/*.test.ts"], exclude: ["test/trials/**", ...CHECKS] }
      },
      // Of the source, not of what it does: `npm run check`.
      { extends: true, test: { name: "checks", include: CHECKS } },
      // Tests that use the page or the command line, other clients, all media of vendors, or all rules of the checker; that
      // read scans, make films, kill processes, fill disks, pack the packages, attack at random, ask whole question sets, or
      // run examples and the code of whole documents.
      {
        extends: true,
        test: {
          name: "trials",
          include: ["test/trials/*.test.ts", ...ON_POSTGRES],
          env: { TEST_STORE: "PostgreSQL" }
        }
      }
    ],
    // Processes, not threads: LanceDB is native, and tests that fill a disk or drop privileges must not share a process.
    pool: "forks",
    // A process loads the modules once, not once per file. This saves a quarter of the time.
    isolate: false,
    // Node loads the modules itself: no test replaces a module. This saves an eighth of the CPU.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // More than the cores: tests spend a fifth of their time waiting for a process, a browser or a disk.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // Generous, for a busy machine. A browser step within a test waits half as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    sequence: { hooks: "list", sequencer: LongestFirst },
    // A test process grows to a gigabyte. Larger initial heaps save a twentieth of the time in garbage collection.
    execArgv: ["--conditions=@sluice/source", "--initial-old-space-size=1500", "--max-semi-space-size=64"]
  }
})
