/** Billing of scanned pages that the vision model reads. */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { DayUsage, IngestReportBody } from "../../apps/demo-server/src/contract/index.ts"
import { writePdf } from "../rag/PdfWriter.ts"
import { bearer, MadeKey, MadeUser, Self } from "./AccountCalls.ts"
import { events, piece, startPaidServer } from "./PaidServer.ts"
import { filesOf } from "./TestServer.ts"
import { json } from "./Upstream.ts"

const Input = Schema.fromJsonString(Schema.Struct({ input: Schema.Array(Schema.String) }))
const Asked = Schema.fromJsonString(
  Schema.Struct({ model: Schema.String, stream: Schema.optionalKey(Schema.Boolean) })
)
const Used = Schema.Struct({ data: Schema.Array(DayUsage) })
const Report = Schema.Struct({
  added: Schema.Int,
  unchanged: Schema.Int,
  failed: IngestReportBody.fields.failed
})

/** Tokens of a page, as the upstream counts them. */
const PAGE = { prompt_tokens: 700, completion_tokens: 9 }
const SCANNED = "The three tolls of the lock are four crowns."

it.live("each page is charged to the caller and the key, by the model's own count, and once", () =>
  Effect.gen(function* () {
    const { requests, server } = yield* startPaidServer(
      (response, { body, path }) => {
        if (path === "/v1/embeddings") {
          const { input } = Schema.decodeUnknownSync(Input)(body)
          return json(response, { data: input.map((_, index) => ({ index, embedding: [1] })), model: "e" })
        }
        if (Schema.decodeUnknownSync(Asked)(body).stream !== true) {
          const message = { role: "assistant", content: SCANNED }
          const choices = [{ index: 0, message, finish_reason: "stop" }]
          return json(response, {
            id: "x",
            object: "chat.completion",
            created: 1,
            model: "v",
            choices,
            usage: PAGE
          })
        }
        const end = { choices: [{ delta: {}, finish_reason: "stop" }] }
        events(response, piece(SCANNED), end, { choices: [], usage: PAGE }, "[DONE]")
        response.end()
      },
      { SLUICE_SCANS: "model", SLUICE_VISION_MODEL: "v" }
    )
    const user = { as: "token", json: { username: "ann", quota: 100_000 } } as const
    const { access_token, id } = (yield* server.json(MadeUser, "/api/user", user)).data
    const fields = { name: "key", expired_time: -1, remain_quota: 50_000, subnet: "" }
    const { key } = (yield* server.json(MadeKey, "/api/token/", { ...bearer(access_token), json: fields }))
      .data
    const usageOf = (of: string) =>
      Effect.map(server.json(Used, `/api/usage?user=${of}`, { as: "token" }), ({ data }) =>
        data.filter(({ model }) => model === "v")
      )
    const sum = (
      rows: ReadonlyArray<DayUsage>,
      field: "calls" | "input_tokens" | "output_tokens" | "quota"
    ) => rows.reduce((all, row) => all + row[field], 0)
    const send = () => {
      const pages = Array.from({ length: 3 }, (_, n) => ({
        marks: [],
        draw: `q 595 0 0 842 0 0 cm /I Do Q 0 g 50 50 ${20 * n + 20} 99 re f`
      }))
      const body = filesOf({ "scan.pdf": Uint8Array.from(writePdf(pages)) })
      return server.json(Report, "/documents", { ...bearer(key), body })
    }
    assert.deepStrictEqual(yield* send(), { added: 1, unchanged: 0, failed: [] })
    const rows = yield* Effect.repeat(usageOf(id), {
      schedule: Schedule.spaced("10 millis"),
      until: (rows) => sum(rows, "calls") >= 3
    }).pipe(Effect.timeout("10 seconds"))
    const total = 3 * (PAGE.prompt_tokens + PAGE.completion_tokens)
    assert.deepStrictEqual([sum(rows, "calls"), sum(rows, "quota")], [3, total])
    assert.deepStrictEqual(yield* usageOf("owner"), [])
    const balance = Effect.map(
      server.json(Self, "/api/user/self", bearer(access_token)),
      ({ data }) => data.quota
    )
    // The rest is for the embedding of the text.
    const left = yield* balance
    assert.isAtMost(left, 100_000 - total)
    assert.isAbove(left, 100_000 - total - 200)
    assert.lengthOf(
      requests().filter(({ path }) => path === "/v1/chat/completions"),
      3
    )
    assert.deepStrictEqual(yield* send(), { added: 0, unchanged: 1, failed: [] })
    assert.strictEqual(yield* balance, left)
  }).pipe(Effect.scoped)
)
