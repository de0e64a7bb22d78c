/** Gateways that misbehave, one way each. */
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { type Behaviour, json } from "./LoopbackGateway.ts"

const JSON_TYPE = { "content-type": "application/json" }

/** The first bytes of a valid response, without the rest. */
const BEGINNING = '{"choices":[{"message":{"content":"he'

/** Cuts the connection after these bytes of the body, by a reset or an early end. */
export const cut =
  (how: "destroy" | "resetAndDestroy", bytes = BEGINNING): Behaviour =>
  (_, response) => {
    response.writeHead(200, { ...JSON_TYPE, "content-length": 5000 })
    response.write(bytes, () => response.socket?.[how]())
  }

/** Closes the connection without a response. */
export const hangUp =
  (how: "destroy" | "resetAndDestroy"): Behaviour =>
  (_, response) =>
    response.socket?.[how]()

/** Never answers. */
export const silent: Behaviour = () => undefined

/** Starts a response with this status and never ends it. */
export const stalled =
  (status: number): Behaviour =>
  (_, response) => {
    response.writeHead(status, JSON_TYPE)
    response.write(BEGINNING)
  }

/** Sends chunks, as fast as they are read or one per turn of the event loop, until the client disconnects. */
export const endless =
  (status: number, piece: string, patient: boolean, headers: Record<string, string> = JSON_TYPE): Behaviour =>
  (_, response) => {
    response.writeHead(status, headers)
    const next = () => {
      if (response.destroyed || response.socket?.destroyed !== false) return
      if (response.write(piece) || patient) setTimeout(next, patient ? 1 : 0)
      else response.once("drain", next)
    }
    next()
  }

/** Sends bytes that are not HTTP. */
export const raw =
  (...lines: ReadonlyArray<string>): Behaviour =>
  (_, response) =>
    response.socket?.end(lines.join("\r\n"))

/** The fastest level of Brotli: the default takes a second for a bomb. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

const COMPRESS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes: Uint8Array) => brotliCompressSync(bytes, FAST),
  zstd: zstdCompressSync
}
export const ENCODINGS = Object.keys(COMPRESS) as ReadonlyArray<keyof typeof COMPRESS>

/** A response with 32 MB of spaces, compressed to a few kilobytes. */
export const bomb = (status: number, encoding: keyof typeof COMPRESS): Behaviour => {
  const body = COMPRESS[encoding](Buffer.from(" ".repeat(32 * 1024 * 1024) + BEGINNING))
  return (_, response) => {
    response.writeHead(status, { ...JSON_TYPE, "content-encoding": encoding })
    response.end(body)
  }
}

/** Redirects the client. */
export const redirect =
  (status: number, location: string): Behaviour =>
  (_, response) =>
    json(response, { message: "moved" }, status, { location })

/** `depth` nested objects. */
export const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
