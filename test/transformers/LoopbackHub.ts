/** A hub of models on a loopback port, with the paths of Hugging Face and faults that a test sets. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { CatalogueModel } from "@sluice/transformers"

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** Answers a request in place of the hub. False leaves it to the hub. */
export type Fault = (request: IncomingMessage, response: ServerResponse, count: number) => boolean

export interface Hub {
  readonly url: string
  /** Path and range of each request. */
  readonly requests: Array<{ readonly path: string; readonly range: string | undefined }>
  /** `/<repository>/resolve/<revision>/<file>` → bytes. */
  readonly files: Map<string, Uint8Array>
  fault: Fault
}

const serve = (hub: Hub) => (request: IncomingMessage, response: ServerResponse) => {
  // A proxy's request has the whole address.
  const path = new URL(request.url ?? "/", hub.url).pathname
  const { range } = request.headers
  hub.requests.push({ path, range })
  if (hub.fault(request, response, hub.requests.length)) return
  const bytes = hub.files.get(path)
  if (bytes === undefined) return void response.writeHead(404).end("Not Found")
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0)
  const head = from > 0 ? { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}
  response.writeHead(from > 0 ? 206 : 200, { "content-length": bytes.length - from, ...head })
  response.end(bytes.subarray(from))
}

/** Starts a hub that stops with the scope. */
export const loopbackHub = Effect.acquireRelease(
  Effect.callback<{ readonly hub: Hub; readonly close: () => void }>((resume) => {
    const server = createServer((request, response) => serve(hub)(request, response))
    const hub: Hub = { url: "", requests: [], files: new Map(), fault: () => false }
    server.listen(0, "127.0.0.1", () => {
      Object.assign(hub, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
      const close = () => {
        server.closeAllConnections()
        server.close()
      }
      resume(Effect.succeed({ hub, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
).pipe(Effect.map(({ hub }) => hub))

/** A catalogue's entry for files, which the hub then has. */
export const publish = (
  hub: Hub,
  files: Readonly<Record<string, Uint8Array>>,
  of: Partial<CatalogueModel> = {}
): CatalogueModel => {
  const model: CatalogueModel = {
    id: "tiny",
    kind: "embedder",
    repository: "tests/tiny",
    revision: "0123456789abcdef",
    licence: "MIT",
    languages: "en",
    dtype: "fp32",
    maxTokens: 64,
    ...of,
    files: Object.entries(files).map(([path, bytes]) => ({
      path,
      bytes: bytes.length,
      sha256: sha256(bytes)
    }))
  }
  for (const [path, bytes] of Object.entries(files))
    hub.files.set(`/${model.repository}/resolve/${model.revision}/${path}`, bytes)
  return model
}
