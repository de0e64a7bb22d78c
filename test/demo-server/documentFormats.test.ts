/** A format that a program registers is one that its server takes, lists, serves and answers from. */
import { assert, layer } from "@effect/vitest"
import { DocumentFormats } from "@sluice/rag"
import { Effect, Layer, Schema } from "effect"
import {
  AnswerBody,
  DocumentInfoSchema,
  IngestReportBody,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { formatLabel } from "../../apps/demo-server/src/web/ui/format.ts"
import { SUBTITLES, withSubtitles } from "../rag/SubtitleFormat.ts"
import { filesOf, testServer, TestServer } from "./TestServer.ts"

const formats = Layer.succeed(DocumentFormats, withSubtitles)
const question = "How much does mooring a boat overnight cost?"
const Listing = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })

layer(Layer.provide(testServer(), formats), { excludeTestServices: true })(
  "a format registered from outside",
  (it) => {
    it.effect("is uploaded, listed and served with its media type", () =>
      Effect.gen(function* () {
        const { call, json } = yield* TestServer
        const report = yield* json(IngestReportBody, "/documents", {
          body: filesOf({ "lock.srt": SUBTITLES })
        })
        assert.strictEqual(report.added, 1)
        const { documents } = yield* json(Listing, "/documents")
        assert.deepStrictEqual(
          documents.map(({ format }) => format),
          ["subtitles"]
        )
        const file = yield* call(`/documents/${documents[0]?.id}/file`)
        assert.strictEqual(file.headers.get("content-type"), "application/x-subrip")
      })
    )

    it.effect("has a label for the page", () =>
      Effect.gen(function* () {
        const { json } = yield* TestServer
        const status = yield* json(ServerStatus, "/status", { as: "none" })
        assert.deepInclude(status.formats, { id: "subtitles", label: "Subtitles", extensions: ["srt"] })
        assert.strictEqual(formatLabel("subtitles", status.formats), "Subtitles")
      })
    )

    it.effect("answers questions, also when a filter names it", () =>
      Effect.gen(function* () {
        const { call, json } = yield* TestServer
        const where = { _tag: "Equals", field: "format", value: "subtitles" }
        const answer = yield* json(AnswerBody, "/qa", { json: { question, filter: where } })
        assert.include(answer.answer, "twelve crowns")
        assert.strictEqual(answer.citations[0]?.document, "lock.srt")
        const refused = yield* call("/qa", { json: { question, filter: { ...where, value: "subtitle" } } })
        assert.strictEqual(refused.status, 400)
      })
    )
  }
)
