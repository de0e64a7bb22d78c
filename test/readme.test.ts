/** Runs every example of README.md and docs/ in a folder with `./docs`, and checks its result. */
import type { Answer, IngestPlan, IngestReport } from "@sluice/rag"
import type { LibraryEvaluation } from "@sluice/rag/evaluation"
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { withServer } from "../bench/server/RunningServer.ts"
import { docs, type Example, examples, examplesOf } from "./readme/Examples.ts"

const modules = join(import.meta.dirname, "../node_modules")
let folder = ""
/** A folder whose `./docs` has three documents. Only the first example needs all of them. */
let few = ""

// Inside node_modules, so that `@sluice/rag` resolves as in a user's program.
beforeAll(async () => {
  await mkdir(join(modules, ".cache"), { recursive: true })
  folder = await mkdtemp(join(modules, ".cache/readme-"))
  await cp(docs, join(folder, "docs"), { recursive: true })
  few = join(folder, "few")
  for (const name of ["handbook/02-locking-through.md", "handbook/05-upkeep.md", "flow-study.pdf"])
    await cp(join(docs, name), join(few, "docs", name))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs an example and returns the value of its last constant. */
const run = async (
  { code, line }: Example,
  env: Readonly<Record<string, string>> = {},
  cwd = folder
): Promise<unknown> => {
  const file = join(folder, `line-${line}.mjs`)
  const last = [...code.matchAll(/^const (\w+) =/gm)].at(-1)?.[1] ?? "null"
  await writeFile(file, `${stripTypeScriptTypes(code)}\nconsole.log("\\n" + JSON.stringify(${last}))\n`)
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@sluice/source", file], {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8"
  })
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "null")
}

/** Checks that every quote is in its document at the cited offsets. */
const check = async (answer: Answer): Promise<void> => {
  expect(answer.found).toBe(true)
  expect(answer.trace.passages.filter(({ kept }) => kept)).toHaveLength(3)
  const markdown = answer.citations.filter(({ document }) => document.endsWith(".md"))
  expect(markdown.length).toBeGreaterThan(0)
  for (const { document, end, quote, start } of markdown) {
    const text = await readFile(join(folder, "docs", document), "utf8")
    expect(text.slice(start, end)).toBe(quote)
  }
}

describe("README.md", () => {
  const [first, second, options, third, fourth, ...more] = examples

  it("has five programs, each run below", () => {
    expect([first, second, options, third, fourth].every((example) => example !== undefined)).toBe(true)
    expect(more).toEqual([])
  })

  it("shares its programs with the packages' READMEs", () => {
    const codes = (path: string) => examplesOf(path).map(({ code }) => code)
    expect(codes("packages/rag/README.md")).toEqual([first?.code])
    expect(codes("packages/core/README.md")).toEqual([fourth?.code])
  })

  it("the shortest program answers with three kept passages", async () => {
    if (first !== undefined) await check((await run(first)) as Answer)
  })

  it("retrieve returns the passages", async () => {
    const passages =
      second && ((await run(second, {}, few)) as ReadonlyArray<{ document: string; of: number }>)
    expect(passages).toHaveLength(5)
    expect(passages?.[0]).toMatchObject({ document: expect.stringMatching(/\.(md|html|pdf)$/) })
  })

  it("tune, filters, deadline and why work together", async () => {
    const found =
      options &&
      ((await run(options, {}, few)) as { note: string; kept: number; whys: ReadonlyArray<string> })
    expect(found?.kept).toBe(3)
    expect(found?.note).toMatch(/headings and \d+ captions/)
    expect(
      found?.whys.filter((sentence) => /^Kept\. Ranks and scores: .*rerank \d+/.test(sentence)).length
    ).toBeGreaterThan(0)
    expect(found?.whys.some((sentence) => /were kept|recall took/.test(sentence))).toBe(true)
  })

  it("the same program runs on the models of a gateway, here another Sluice", async () => {
    const data = join(folder, "gateway")
    await mkdir(data)
    await writeFile(join(data, "samples-read"), "") // skips ingesting the samples
    const [answer, best] = await withServer(data, async ({ output, url }) => {
      const key = /\bsk-[\w-]+/.exec(output())?.[0] ?? ""
      const listed = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
      const { data } = (await listed.json()) as { data: ReadonlyArray<{ id: string }> }
      const model = (name: RegExp) => data.find(({ id }) => name.test(id))?.id ?? ""
      const env = {
        SLUICE_GATEWAY_URL: url,
        SLUICE_API_KEY: key,
        SLUICE_EMBEDDING_MODEL: model(/1024/),
        SLUICE_RERANK_MODEL: model(/rerank/),
        SLUICE_CHAT_MODEL: model(/extractive/)
      }
      return [third && (await run(third, env, few)), fourth && (await run(fourth, env))]
    })
    await check(answer as Answer)
    expect(best).toBe("The lower gate is opened when the levels are even.")
  })
})

describe("docs/models.md", () => {
  const [models, client, ...more] = examplesOf("docs/models.md")

  it("your own models answer", async () => {
    expect(more).toEqual([])
    await check((await run(models!, {}, few)) as Answer)
  })

  it("a client is built without environment variables", async () => {
    expect(await run(client!)).toBeTruthy()
  })
})

describe("docs/evaluation.md", () => {
  it("your own questions evaluate a library", async () => {
    const [example, ...more] = examplesOf("docs/evaluation.md")
    expect(more).toEqual([])
    const { queries, runs } = (await run(example!, {}, few)) as LibraryEvaluation
    expect(queries).toBe(2)
    expect(runs.map(({ name }) => name)).toEqual(["bm25", "default", "keywords"])
  })
})

describe("docs/ingest.md", () => {
  it("an ingest is applied as planned", async () => {
    const [example, ...more] = examplesOf("docs/ingest.md")
    expect(more).toEqual([])
    const { planned, report } = (await run(example!, {}, few)) as {
      readonly planned: Pick<IngestPlan, "added" | "calls" | "cost" | "passages" | "texts">
      readonly report: IngestReport
    }
    expect(planned.added).toBe(report.added)
    expect(planned.passages).toBe(report.passages)
    expect(planned.texts).toBeLessThanOrEqual(planned.passages)
    expect(planned.calls).toBeGreaterThan(0)
    expect(planned.cost?.estimated).toBeLessThanOrEqual(planned.cost?.atMost ?? 0)
    expect(report).toMatchObject({ failed: [], replaced: 0, removed: 0, unchanged: 0 })
  })
})
