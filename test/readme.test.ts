/** The examples of README.md do what they say: each is run in an empty folder that holds `./docs`. */
import type { Answer } from "@sluice/rag"
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { docs, type Example, examples } from "./readme/Examples.ts"

const modules = join(import.meta.dirname, "../node_modules")
let folder = ""

// Inside node_modules, where `@sluice/rag` is found as a user's program finds it.
beforeAll(async () => {
  await mkdir(join(modules, ".cache"), { recursive: true })
  folder = await mkdtemp(join(modules, ".cache/readme-"))
  await cp(docs, join(folder, "docs"), { recursive: true })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs an example and gives what it called `answer`; null where it has none. */
const run = async ({ code, line }: Example): Promise<Answer | null> => {
  const file = join(folder, `line-${line}.mjs`)
  const tell = 'console.log("\\n" + JSON.stringify(typeof answer === "undefined" ? null : answer))'
  await writeFile(file, `${stripTypeScriptTypes(code)}\n${tell}\n`)
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@sluice/source", file], {
    cwd: folder,
    encoding: "utf8"
  })
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "null")
}

describe("README.md", () => {
  it("has the shortest program as its first example, and it answers with citations that stand in the documents", async () => {
    const [first] = examples
    const answer = first && (await run(first))
    expect(answer?.found).toBe(true)
    expect(answer?.trace.passages.filter(({ kept }) => kept)).toHaveLength(3)
    expect(answer?.citations.length).toBeGreaterThan(0)
    for (const { document, end, quote, start } of answer?.citations ?? []) {
      if (!document.endsWith(".md")) continue
      const text = await readFile(join(folder, "docs", document), "utf8")
      expect(text.slice(start, end)).toBe(quote)
    }
  })

  it.each(examples.slice(1))("runs the example of line $line", async (example) => {
    await run(example)
  })
})
