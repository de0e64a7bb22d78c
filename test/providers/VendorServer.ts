/** A server whose providers' file names vendors, which are fakes on loopback ports. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { startServer, temporaryFolder } from "../demo-server/TestServer.ts"
import { loopback, type LoopbackRequest } from "../demo-server/Loopback.ts"

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: LoopbackRequest["headers"]
  /** Parsed, if it is JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The status and the body of a response. A text is a web page or a stream of events. */
export type Respond = (received: Received) => readonly [status: number, body: unknown]

const parsed = (body: string): Received["body"] => {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}

/** Starts a vendor, and records its requests. */
export const startVendor = (respond: Respond) =>
  Effect.gen(function* () {
    const requests: Array<Received> = []
    const { url } = yield* loopback(({ body, headers, method, path, response }) => {
      const received = { method, path, headers, body: parsed(body) }
      requests.push(received)
      const [status, answer] = respond(received)
      const isText = typeof answer === "string"
      const textType = isText && answer.startsWith("<") ? "text/html" : "text/event-stream"
      response.writeHead(status, { "content-type": isText ? textType : "application/json" })
      response.end(isText ? answer : JSON.stringify(answer))
    })
    return { url, requests }
  })

/** Starts a server with these upstreams. The key of each is in the variable `VENDOR_KEY`, unless it says otherwise. */
export const startWith = Effect.fnUntraced(function* (
  upstreams: ReadonlyArray<object>,
  options: { readonly file?: object; readonly env?: Record<string, string> } = {}
) {
  const file = join(yield* temporaryFolder, "sluice.config.json")
  const config = {
    upstreams: upstreams.map((one) => ({ apiKey: { env: "VENDOR_KEY" }, ...one })),
    ...options.file
  }
  writeFileSync(file, JSON.stringify(config))
  return yield* startServer({ env: { SLUICE_CONFIG: file, VENDOR_KEY, ...options.env } })
})

export const VENDOR_KEY = "sk-vendor-0123456789abcdef"
