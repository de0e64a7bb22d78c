/** Answers of the lane on the wire, with the headers that every answer has: one write of head and body together. */
import { HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import { COMMON_HEADERS } from "../../http/SecurityHeaders.ts"
import { rateHeaders, type RateState } from "../../billing/RateWindow.ts"

const COMMON = Object.entries(COMMON_HEADERS).flat()

/** Of a larger body, a copy costs more than a second write. */
const ONE_WRITE = 64 * 1024

/** An answer that is there as a whole. */
export interface WholeAnswer {
  readonly contentType: string
  readonly bytes: Buffer
}

/** Of what an operation gave; undefined where it comes in pieces, or is still to be encoded. */
export const wholeAnswerOf = (answer: unknown): WholeAnswer | undefined => {
  if (!HttpServerResponse.isHttpServerResponse(answer) || answer.status !== 200) return undefined
  const { body } = answer
  if (body._tag !== "Uint8Array") return undefined
  const { buffer, byteLength, byteOffset } = body.body
  return { contentType: body.contentType, bytes: Buffer.from(buffer, byteOffset, byteLength) }
}

export const writeAnswer = (
  response: ServerResponse,
  { bytes, contentType }: WholeAnswer,
  {
    closes,
    id,
    rate
  }: { readonly id: string; readonly rate: RateState | undefined; readonly closes: boolean }
): void => {
  const headers = [...COMMON, "content-type", contentType, "content-length", String(bytes.length)]
  if (rate !== undefined) headers.push(...Object.entries(rateHeaders(rate)).flat())
  headers.push("x-request-id", id)
  if (closes) headers.push("connection", "close")
  response.writeHead(200, headers)
  // Each byte is a character of this text, and is written as that byte.
  if (bytes.length <= ONE_WRITE) response.end(bytes.toString("latin1"), "latin1")
  else response.end(bytes)
}
