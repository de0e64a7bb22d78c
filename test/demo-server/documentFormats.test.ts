/** A format that a program registers is one that its server takes, lists, serves and answers from. */
import { assert, layer } from "@effect/vitest"
import { DocumentFormats } from "@sluice/rag/formats"
import { Effect, Layer, Schema } from "effect"
import {
  AnswerBody,
  DocumentInfoSchema,
  IngestReportBody,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { formatLabel } from "../../apps/demo-server/src/web/ui/format.ts"
import { LYRICS, withLyrics } from "../rag/LyricsFormat.ts"
import { filesOf, testServer, TestServer } from "./TestServer.ts"

const formats = Layer.succeed(DocumentFormats, withLyrics)
const question = "How much does mooring a boat overnight cost?"
const Listing = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })

layer(Layer.provide(testServer(), formats), { excludeTestServices: true })(
  "a format registered from outside",
  (it) => {
    it.effect("is uploaded, listed and served with its media type", () =>
      Effect.gen(function* () {
        const { call, json } = yield* TestServer
        const report = yield* json(IngestReportBody, "/documents", {
          body: filesOf({ "lock.lrc": LYRICS })
        })
        assert.strictEqual(report.added, 1)
        const { documents } = yield* json(Listing, "/documents")
        assert.deepStrictEqual(
          documents.map(({ format }) => format),
          ["lyrics"]
        )
        const file = yield* call(`/documents/${documents[0]?.id}/file`)
        assert.strictEqual(file.headers.get("content-type"), "application/x-lyrics")
      })
    )

    it.effect("has a label for the page", () =>
      Effect.gen(function* () {
        const { json } = yield* TestServer
        const status = yield* json(ServerStatus, "/status", { as: "none" })
        assert.deepInclude(status.formats, { id: "lyrics", label: "Lyrics", extensions: ["lrc"] })
        assert.strictEqual(formatLabel("lyrics", status.formats), "Lyrics")
      })
    )

    it.effect("answers questions, also when a filter names it", () =>
      Effect.gen(function* () {
        const { call, json } = yield* TestServer
        const where = { _tag: "Equals", field: "format", value: "lyrics" }
        const answer = yield* json(AnswerBody, "/qa", { json: { question, filter: where } })
        assert.include(answer.answer, "twelve crowns")
        assert.strictEqual(answer.citations[0]?.document, "lock.lrc")
        const refused = yield* call("/qa", { json: { question, filter: { ...where, value: "lyric" } } })
        assert.strictEqual(refused.status, 400)
      })
    )
  }
)
