/** How many parts a JSON body may have. A million of them are seconds of the one thread: they are counted before that. */
import { Failure } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { endOfString } from "../wire/JsonScanner.ts"

/** Objects, lists, names and elements: 50,000 messages have as many. */
export const MAX_PARTS = 250_000

const PARTS: ReadonlySet<string | undefined> = new Set(["{", "[", ":", ","])

const hasTooMany = (json: string): boolean => {
  if (json.length <= MAX_PARTS) return false
  let parts = 0
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') {
      at = endOfString(json, at) - 1
      if (at < 0) return false
    } else if (PARTS.has(json[at]) && ++parts > MAX_PARTS) return true
  }
  return false
}

const tooMany = new Failure({
  status: 400,
  code: "too_many_parts",
  message: `The body has more than ${MAX_PARTS} objects, lists, names and elements together: send fewer at once`,
  retryable: false
})

/** A body that comes as JSON, or says nothing of how it comes. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+)?json\b|$)/i

/** Refuses a call whose body has too many; what it reads of it is not read again. */
export const checkParts = Effect.gen(function* () {
  const { headers, method, text } = yield* HttpServerRequest.HttpServerRequest
  if (method !== "POST" || !JSON_TYPE.test(headers["content-type"] ?? "")) return
  // Whoever reads it next says why it cannot be read.
  if (hasTooMany(yield* Effect.orElseSucceed(text, () => ""))) return yield* tooMany
})
