/** What all fakes of text models compute, and how they refuse a request. */
import type { Received, Respond } from "../VendorServer.ts"

/** The scores of three documents, by position. */
export const SCORES = [0.1, 0.9, 0.5]

/** Positions and scores, best first, at most `top`. */
export const ranked = (documents: unknown, top: unknown) => {
  if (!Array.isArray(documents) || !documents.every((one) => typeof one === "string")) {
    throw new Refusal(400, "documents must be a list of strings")
  }
  return documents
    .map((text, index) => ({ index, score: SCORES[index] ?? 0, text: String(text) }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, typeof top === "number" ? top : undefined)
}

/** The vector of the text at a position. Exact as float32. */
export const vectorAt = (index: number) => [0.5, -1, index]

export const base64 = (vector: ReadonlyArray<number>) =>
  Buffer.from(Float32Array.from(vector).buffer).toString("base64")

/** A request that the vendor refuses. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Vendors refuse fields that they do not know. */
export const only = (body: Received["body"], ...names: ReadonlyArray<string>) => {
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Refusal(400, `unknown field: ${unknown}`)
}

/** The calls of a fake that has tools: two at once, and one of them without arguments. */
export const CALLS = [
  { id: "call_1", name: "weather", input: { city: "Oslo" } },
  { id: "call_2", name: "time", input: {} }
]

/** Responds by path. `error` is the vendor's form of an error. */
export const routes =
  (
    handlers: Readonly<Record<string, (body: Received["body"], received: Received) => unknown>>,
    isSigned: (received: Received) => boolean,
    error: (message: string, status: number) => unknown
  ): Respond =>
  (received) => {
    const [path = ""] = received.path.split("?")
    const handler = handlers[path]
    if (handler === undefined) return [404, error("not found", 404)]
    if (!isSigned(received)) return [401, error("no valid key", 401)]
    try {
      return [200, handler(received.body, received)]
    } catch (refused) {
      if (!(refused instanceof Refusal)) throw refused
      return [refused.status, error(refused.message, refused.status)]
    }
  }
