/** The examples of docs/guides/documents.md work as described. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import MarkdownIt from "markdown-it"
import { execFile } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { cp } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import {
  AnswerBody,
  CollectionInfo,
  FigureInfo,
  IngestReportBody,
  RetrievalBody,
  SummaryPlanBody
} from "../../apps/demo-server/src/contract/index.ts"
import { temporaryFolder, testServer, TestServer } from "../demo-server/TestServer.ts"

/** Milliseconds: a dozen commands, and a page drawn. */
const PATIENCE = 120_000

const root = join(import.meta.dirname, "../..")
const blocks = new MarkdownIt()
  .parse(readFileSync(join(root, "docs/guides/documents.md"), "utf8"), {})
  .filter(({ info, type }) => type === "fence" && info.trim() === "sh")
  .map(({ content }) => content)

layer(testServer(), { excludeTestServices: true })("docs/guides/documents.md", (it) => {
  it.effect(
    "each block of commands has the documented response",
    () =>
      Effect.gen(function* () {
        const { secrets, url } = yield* TestServer
        const cwd = yield* temporaryFolder
        yield* Effect.promise(() => cp(join(root, "apps/demo-server/samples"), cwd, { recursive: true }))
        const env = { ...process.env, SLUICE: url, KEY: secrets.apiKey }
        const run = (block: string | undefined) =>
          Effect.promise(async () => {
            const { stdout } = await promisify(execFile)("bash", ["-euc", block ?? "exit 1"], { cwd, env })
            // Several JSON responses, one after the other, without separators.
            return stdout.split(/(?<=\})(?=\{)/).map((each) => JSON.parse(each) as unknown)
          })
        const decoded = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, value: unknown) =>
          Schema.decodeUnknownSync(schema)(value)
        assert.lengthOf(blocks, 8)
        const [bring, apart, ask, filtered, typed, summary, retrieve, see] = blocks

        const [brought] = yield* run(bring)
        assert.strictEqual(decoded(IngestReportBody, brought).failed.length, 0)
        const [added, listed] = yield* run(apart)
        assert.strictEqual(decoded(IngestReportBody, added).added, 1)
        const { collections } = decoded(Schema.Struct({ collections: Schema.Array(CollectionInfo) }), listed)
        assert.include(
          collections.map(({ name }) => name),
          "harbour"
        )
        for (const block of [ask, filtered, typed]) {
          const [answered] = yield* run(block)
          const { answer, citations, cost } = decoded(AnswerBody, answered)
          assert.isNotEmpty(citations, answer)
          assert.isAbove(cost ?? 0, 0)
          if (block === filtered)
            assert.deepStrictEqual(
              [...new Set(citations.map(({ document }) => document))],
              ["inspection-report.pdf"]
            )
        }
        const [planned] = yield* run(summary)
        assert.strictEqual(decoded(SummaryPlanBody, planned).plan.documents, 1)
        const [retrieved] = yield* run(retrieve)
        assert.include(decoded(RetrievalBody, retrieved).passages[0]?.document.path, "handbook/")
        const [figures] = yield* run(see)
        decoded(Schema.Struct({ figures: Schema.Array(FigureInfo) }), figures)
        assert.isAbove(statSync(join(cwd, "page.png")).size, 1_000)
      }).pipe(Effect.scoped),
    PATIENCE
  )
})
