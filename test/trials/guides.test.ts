/** Runs the examples of the guides whose result is a value, in a folder with `./docs`, and checks it. */
import type { Answer, IngestPlan, IngestReport } from "@sluice/rag"
import type { LibraryEvaluation } from "@sluice/rag/evaluation"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { withServer } from "../../bench/server/RunningServer.ts"
import { examplesOf } from "../readme/Examples.ts"
import { checkAnswer, type Examples, makeExamples } from "../readme/RunExamples.ts"

const [second, options] = examplesOf("docs/guides/library.md")
const [third, fourth] = examplesOf("docs/guides/gateway.md")
const inDocs = [
  "guides/models",
  "guides/evaluation",
  "guides/ingest",
  "guides/clients",
  "explanation/money"
].map((name) => examplesOf(`docs/${name}.md`))
let made: Examples
/** The values of the examples that need no gateway, by their code. */
let values: ReadonlyMap<string, unknown>

beforeAll(async () => {
  made = await makeExamples()
  const alone = [second, options, ...inDocs.flat()].filter((example) => example !== undefined)
  const results = await made.run(alone)
  values = new Map(alone.map(({ code }, at) => [code, results[at]]))
})
afterAll(() => made.remove())

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
    const data = join(made.folder, "gateway")
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
      return made.run(
        [third, fourth].filter((example) => example !== undefined),
        env
      )
    })
    await checkAnswer(made.folder, answer as Answer)
    expect(best).toBe("The lower gate is opened when the levels are even.")
  })
})

describe("docs/guides/models.md", () => {
  const [models, client, ...more] = inDocs[0] ?? []

  it("your own models answer", async () => {
    expect(more).toEqual([])
    await checkAnswer(made.folder, values.get(models?.code ?? "") as Answer)
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
