/** Questions about figures, with embedded OCR and with a gateway's model, and their cost. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import {
  AnswerBody,
  AnswerStreamEvent,
  DayUsage,
  IngestReportBody
} from "../../apps/demo-server/src/contract/index.ts"
import { quotaOf } from "../demo-server/AccountCalls.ts"
import { filesOf, startServer, type TestServer } from "../demo-server/TestServer.ts"

const chart = new Uint8Array(readFileSync(join(import.meta.dirname, "../embedded/fixtures/boats.png")))
const crop = createHash("sha256").update(chart).digest("hex")
const asked = { question: "How many boats were locked through in June 2024?", collection: "charts" }

const Used = Schema.Struct({ data: Schema.Array(DayUsage) })

/** Milliseconds. Each server starts its own OCR engine. */
const PATIENCE = 120_000

type Server = TestServer["Service"]

/** The number of charged calls of a model. */
const callsOf = ({ json }: Server, model: string) =>
  Effect.map(json(Used, "/api/usage", { as: "token" }), ({ data }) =>
    data.filter((day) => day.model === model).reduce((sum, { calls }) => sum + calls, 0)
  )

const bring = ({ json }: Server) =>
  Effect.map(
    json(IngestReportBody, `/documents?collection=${asked.collection}`, {
      body: filesOf({ "boats.png": chart })
    }),
    ({ added }) => assert.strictEqual(added, 1)
  )

describe("a question about a chart", () => {
  it.live(
    "is answered from the chart, which is named and cited, and each look is charged once",
    () =>
      Effect.gen(function* () {
        const server = yield* startServer()
        yield* bring(server)
        const read = yield* callsOf(server, "sluice-ocr")
        assert.strictEqual(read, 1, "the picture was read once, and paid for by who brought it")

        const before = yield* quotaOf(server)
        const events = yield* server.events(AnswerStreamEvent, "/qa", { json: asked })
        const last = events.at(-1)
        if (last?.type !== "answer") return assert.fail(JSON.stringify(last))
        const { answer, citations, cost, figures, trace } = last.answer
        assert.include(answer, "142")
        assert.strictEqual(before - (yield* quotaOf(server)), cost)
        const looked = events.flatMap((event) => (event.type === "looked" ? [event.look] : []))
        assert.deepStrictEqual(looked, figures)
        assert.strictEqual(figures[0]?.figure.crop, crop)
        assert.strictEqual(trace.visionModel, "sluice-ocr")
        assert.strictEqual(citations[0]?.figure?.crop, crop)
        assert.strictEqual(yield* callsOf(server, "sluice-ocr"), read + 1)

        const again = yield* server.json(AnswerBody, "/qa", { json: asked })
        assert.isTrue(again.figures[0]?.cached)
        assert.isBelow(again.cost ?? Infinity, cost ?? 0)
        assert.strictEqual(yield* callsOf(server, "sluice-ocr"), read + 1)
      }).pipe(Effect.scoped),
    PATIENCE
  )

  it.live(
    "is put to the gateway's vision model where one is named: here another Sluice's",
    () =>
      Effect.gen(function* () {
        const gateway = yield* startServer()
        const server = yield* startServer({
          env: {
            SLUICE_GATEWAY_URL: gateway.url,
            SLUICE_API_KEY: gateway.secrets.apiKey,
            SLUICE_EMBEDDING_MODEL: "sluice-lexical-1024",
            SLUICE_RERANK_MODEL: "sluice-lexical-rerank",
            SLUICE_CHAT_MODEL: "sluice-extractive",
            SLUICE_VISION_MODEL: "sluice-ocr",
            SLUICE_DESCRIBE_FIGURES: "true"
          }
        })
        yield* bring(server)
        // The embedded OCR reads lines; the gateway's model looks at the figure.
        assert.strictEqual(yield* callsOf(gateway, "sluice-ocr"), 1)
        const before = yield* quotaOf(server)
        const { cost, figures } = yield* server.json(AnswerBody, "/qa", { json: asked })
        assert.include(figures[0]?.said, "142")
        assert.isAbove(figures[0]?.tokens ?? 0, 0)
        assert.strictEqual(before - (yield* quotaOf(server)), cost)
        assert.strictEqual(yield* callsOf(gateway, "sluice-ocr"), 2)
      }).pipe(Effect.scoped),
    PATIENCE
  )
})
