/** Regular expressions take time in proportion to their text, or their text has a bound. */
import { execFile } from "node:child_process"
import { once } from "node:events"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { assert, it } from "vitest"
import { boundOf } from "../regexps/bounds.ts"
import { readChecked } from "../regexps/checked.ts"
import { modelMonsters, monsters, readMonsters } from "./monsters.ts"

const root = join(import.meta.dirname, "../..")

it("each is safe, linear, or takes few steps for the longest text that it reads", async () => {
  const output = await new Promise<string>((resolve) =>
    execFile(
      process.execPath,
      ["--conditions=@sluice/source", "test/regexps/main.ts"],
      { cwd: root },
      (_, stdout) => resolve(stdout)
    )
  )
  assert.match(output, / 0 faults\n$/)
}, 300_000)

/** More than any bound of a text that is not parsed or read in the pool. */
const CHARACTERS = 12_000

it("none reads a longer text than its bound", async () => {
  const worker = new Worker(new URL("operations.ts", import.meta.url), {
    execArgv: ["--conditions=@sluice/source"],
    workerData: { recordsLengths: true }
  })
  let lengths: ReadonlyMap<string, number> = new Map()
  for (const { make, path } of [...modelMonsters, ...readMonsters, ...monsters]) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage({ path, text: make(CHARACTERS) })
    const [measured] = await once(worker, "message")
    ;({ lengths } = measured)
  }
  await worker.terminate()
  const sources = globSync("{packages,apps}/*/src/**/*.{ts,tsx}", { cwd: root }).map(
    (file) => [file, readFileSync(join(root, file), "utf8")] as const
  )
  const bounded = [...readChecked()].flatMap(([expression, { status }]) => {
    const length = lengths.get(expression)
    const files = sources.filter(([, text]) => text.includes(expression)).map(([file]) => file)
    const bound = boundOf(expression, new Set(files))
    return status === "safe" || length === undefined || bound === undefined || bound.pooled === true
      ? []
      : [{ expression, length, ...bound }]
  })
  assert.deepStrictEqual(
    bounded.filter(({ characters, length }) => length > characters),
    []
  )
  assert.isAtLeast(bounded.length, 10)
})
