/** Files of an upload that take long to parse go on as jobs, if the caller prefers it. */
import { assert, it } from "@effect/vitest"
import { Embedder } from "@sluice/core"
import { Effect, Layer } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { IngestStreamEvent, Job } from "../../apps/demo-server/src/contract/Documents.ts"
import { embedText, readerLayer, rerankerLayer } from "../rag/Models.ts"
import { writePdf } from "../rag/PdfWriter.ts"
import { files } from "./JobCalls.ts"
import { filesOf, startServer, type TestServer } from "./TestServer.ts"

const upload = ({ events }: Pick<TestServer["Service"], "events">, body: FormData) =>
  events(IngestStreamEvent, "/documents", {
    method: "POST",
    body,
    headers: { accept: "text/event-stream", prefer: "respond-async, wait=0.1" }
  })

it.live("a file that is being parsed when nothing else is left becomes a job", () =>
  Effect.gen(function* () {
    const server = yield* startServer()
    const scan = Uint8Array.from(writePdf([{ marks: [], image: true }]))
    const refused = `${"a".repeat(1025)}.md`
    const seen = yield* upload(server, filesOf({ "scan.pdf": scan, [refused]: "# A" }))
    assert.deepStrictEqual(
      seen.map((event) => [event.type, "path" in event ? event.path.slice(0, 8) : ""]),
      [
        ["document", "aaaaaaaa"],
        ["job", "scan.pdf"]
      ]
    )
    const [id = ""] = seen.flatMap((event) => (event.type === "job" ? [event.job.id] : []))
    assert.strictEqual(readdirSync(join(server.data, "uploads")).length, 1)
    const { status } = yield* server.json(Job, `/jobs/${id}`, { method: "DELETE" })
    assert.strictEqual(status, "cancelled")
  }).pipe(Effect.scoped)
)

it.live("a file that is parsed and waits for a slow embedding model becomes none", () =>
  Effect.gen(function* () {
    const slow = Embedder.of({
      model: { id: "slow", kind: "lexical", free: true },
      dimension: Effect.succeed(64),
      embed: (texts) =>
        Effect.delay(
          Effect.succeed({ vectors: texts.map((text) => embedText(text)), tokens: 0 }),
          "300 millis"
        )
    })
    const models = Layer.mergeAll(Layer.succeed(Embedder, slow), rerankerLayer, readerLayer)
    const seen = yield* upload(yield* startServer({ models }), files(2))
    assert.deepStrictEqual(
      seen.map(({ type }) => type),
      ["document", "document", "committed", "done"]
    )
  }).pipe(Effect.scoped)
)
