/** Removing a collection during an upload into it. */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { type IncomingMessage, request } from "node:http"
import { startServer } from "./TestServer.ts"

const part = (name: string) =>
  `--x\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n# ${name}\n\nA heron waits.\r\n`

it.live("an upload into a removed collection fails and does not recreate it", () =>
  Effect.gen(function* () {
    const { call, secrets, url } = yield* startServer()
    const listed = Effect.flatMap(call("/collections"), (answer) => Effect.promise(() => answer.text()))
    const accepted = [
      ["application/json", 404],
      ["text/event-stream", 200]
    ] as const
    for (const [accept, status] of accepted) {
      const headers = {
        accept,
        authorization: `Bearer ${secrets.apiKey}`,
        "content-type": "multipart/form-data; boundary=x"
      }
      const upload = request(`${url}/documents?collection=harbour`, { method: "POST", headers })
      const answered = new Promise<IncomingMessage>((resolve, reject) =>
        upload.on("error", reject).on("response", resolve)
      )
      upload.write(part("a.md"))
      // The upload creates the collection.
      const schedule = Schedule.spaced("5 millis")
      yield* Effect.repeat(listed, { schedule, until: (text) => text.includes("harbour") })
      assert.strictEqual((yield* call("/collections/harbour", { method: "DELETE" })).status, 204)
      upload.end(`${part("b.md")}--x--\r\n`)
      const answer = yield* Effect.promise(() => answered)
      assert.strictEqual(answer.statusCode, status)
      const told = Buffer.concat(yield* Effect.promise(() => answer.toArray())).toString()
      assert.include(told, '"code":"not_found"')
      assert.notInclude(yield* listed, "harbour")
    }
  }).pipe(Effect.scoped)
)
