/** Runs the example of README.md in a folder with `./docs`. `trials/guides.test.ts` runs those of docs/. */
import type { Answer } from "@sluice/rag"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { examples, examplesOf } from "./readme/Examples.ts"
import { checkAnswer, makeExamples } from "./readme/RunExamples.ts"

const [first, ...more] = examples

describe("README.md", () => {
  it("has at most 120 lines, one program, and a command each for the main job and the tests", async () => {
    const text = await readFile(join(import.meta.dirname, "../README.md"), "utf8")
    expect(text.split("\n").length).toBeLessThanOrEqual(120)
    expect(text).toContain("\nnpm install && npm start ")
    expect(text).toContain("\nnpm install && npm test ")
    expect(first).toBeDefined()
    expect(more).toEqual([])
  })

  it("shares its programs with the packages' READMEs", () => {
    const codes = (path: string) => examplesOf(path).map(({ code }) => code)
    expect(codes("packages/rag/README.md")).toEqual([first?.code])
    expect(codes("packages/core/README.md")).toEqual([examplesOf("docs/guides/gateway.md")[1]?.code])
  })

  it("the shortest program answers with three kept passages", async () => {
    if (first === undefined) return
    const { folder, remove, run } = await makeExamples()
    try {
      await checkAnswer(folder, (await run([first]))[0] as Answer)
    } finally {
      await remove()
    }
  })
})
