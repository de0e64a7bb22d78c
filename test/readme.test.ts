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
import { END } from "./examples/end.ts"
import { docs, type Example, examples, examplesOf } from "./readme/Examples.ts"

const modules = join(import.meta.dirname, "../node_modules")
const inTurn = join(import.meta.dirname, "examples/inTurn.ts")
const [first, ...more] = examples
const [second, options] = examplesOf("docs/guides/library.md")
const [third, fourth] = examplesOf("docs/guides/gateway.md")
const inDocs = [
  "guides/models",
  "guides/evaluation",
  "guides/ingest",
  "guides/clients",
  "explanation/money"
].map((name) => examplesOf(`docs/${name}.md`))
/** The values of the examples that need no gateway, by their code. */
let values: ReadonlyMap<string, unknown>
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
  const alone = [second, options, ...inDocs.flat()].filter((example) => example !== undefined)
  const results = await run(alone, {}, few)
  values = new Map(alone.map(({ code }, at) => [code, results[at]]))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs examples in turn in one process, and returns the value of each one's last constant. */
const run = async (
  examples: ReadonlyArray<Example>,
  env: Readonly<Record<string, string>> = {},
  cwd = folder
): Promise<ReadonlyArray<unknown>> => {
  const files = examples.map(async ({ code, line }) => {
    const file = join(folder, `${line}-${code.length}.mjs`)
    const last = [...code.matchAll(/^const (\w+) =/gm)].at(-1)?.[1] ?? "null"
    await writeFile(file, `${stripTypeScriptTypes(code)}\nconsole.log("\\n" + JSON.stringify(${last}))\n`)
    return file
  })
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@sluice/source", inTurn, ...(await Promise.all(files))],
    { cwd, env: { ...process.env, ...env }, encoding: "utf8" }
  )
  return examples.map((_, at) => {
    const printed = stdout.split(`${END}\n`)[at] ?? ""
    return JSON.parse(printed.trim().split("\n").at(-1) ?? "null")
  })
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
    expect(codes("packages/core/README.md")).toEqual([fourth?.code])
  })

  it("the shortest program answers with three kept passages", async () => {
    if (first !== undefined) await check((await run([first]))[0] as Answer)
  })
})

describe("docs/guides/library.md", () => {
  it("retrieve returns the passages", () => {
    const passages = values.get(second?.code ?? "") as ReadonlyArray<{ document: string; of: number }>
    expect(passages).toHaveLength(5)
    expect(passages[0]).toMatchObject({ document: expect.stringMatching(/\.(md|html|pdf)$/) })
  })

  it("tune, filters, deadline and why work together", () => {
    const found = values.get(options?.code ?? "") as {
      readonly note: string
      readonly kept: number
      readonly whys: ReadonlyArray<string>
    }
    expect(found.kept).toBe(3)
    expect(found.note).toMatch(/headings and \d+ captions/)
    expect(
      found.whys.filter((sentence) => /^Kept\. Ranks and scores: .*rerank \d+/.test(sentence)).length
    ).toBeGreaterThan(0)
    expect(found.whys.some((sentence) => /were kept|recall took/.test(sentence))).toBe(true)
  })
})

describe("docs/guides/gateway.md", () => {
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
      return run(
        [third, fourth].filter((example) => example !== undefined),
        env,
        few
      )
    })
    await check(answer as Answer)
    expect(best).toBe("The lower gate is opened when the levels are even.")
  })
})

describe("docs/guides/models.md", () => {
  const [models, client, ...more] = inDocs[0] ?? []

  it("your own models answer", async () => {
    expect(more).toEqual([])
    await check(values.get(models?.code ?? "") as Answer)
  })

  it("a client is built without environment variables", () => {
    expect(values.get(client?.code ?? "")).toBeTruthy()
  })
})

describe("docs/guides/evaluation.md", () => {
  it("your own questions evaluate a library", () => {
    const [example, ...more] = inDocs[1] ?? []
    expect(more).toEqual([])
    const { queries, runs } = values.get(example?.code ?? "") as LibraryEvaluation
    expect(queries).toBe(2)
    expect(runs.map(({ name }) => name)).toEqual(["bm25", "default", "keywords"])
  })
})

describe("docs/guides/clients.md", () => {
  it("a program is tested against a gateway in the process", () => {
    const [example, ...more] = inDocs[3] ?? []
    expect(more).toEqual([])
    expect(values.get(example?.code ?? "")).toEqual({ text: "It is.", times: [0, 1000] })
  })
})

describe("docs/explanation/money.md", () => {
  it("a call is estimated", () => {
    const [example, ...more] = inDocs[4] ?? []
    expect(more).toEqual([])
    expect(values.get(example?.code ?? "")).toBe(1524)
  })
})

describe("docs/guides/ingest.md", () => {
  const [example, chunker, format, ...more] = inDocs[2] ?? []

  it("a chunker of your own is recorded in the collection", () => {
    expect(values.get(chunker?.code ?? "")).toBe("paragraphs-1")
  })

  it("a format of your own is read", () => {
    const { citations } = values.get(format?.code ?? "") as Answer
    expect(citations.map(({ quote }) => quote)).toEqual(["The lock keeper opens the gate at six."])
  })

  it("an ingest is applied as planned", () => {
    expect(more).toEqual([])
    const { planned, report } = values.get(example?.code ?? "") as {
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
