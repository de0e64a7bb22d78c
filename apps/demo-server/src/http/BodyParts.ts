/** How many parts a JSON body may have: checking a million of them takes seconds of the one thread. */
import { Failure } from "@sluice/core/contract"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { endOfString } from "../wire/JsonScanner.ts"

/** Objects, lists, names and elements; 20,000 messages have as many, and take 50 ms to check. */
export const MAX_PARTS = 100_000

/** `{`, `[`, `:` and `,` begin a part. */
const isPart = (code: number): boolean => code === 0x7b || code === 0x5b || code === 0x3a || code === 0x2c

const QUOTE = 0x22

const hasTooMany = (json: string): boolean => {
  if (json.length <= MAX_PARTS) return false
  let parts = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(json, at) - 1
      if (at < 0) return false
    } else if (isPart(code) && ++parts > MAX_PARTS) return true
  }
  return false
}

/** Between two steps that read a whole body: a step takes up to 50 ms, and other requests run between them. */
export const yieldIfLarge = (body: string): Effect.Effect<void> =>
  body.length > MAX_PARTS ? Effect.yieldNow : Effect.void

const tooManyParts = new Failure({
  status: 400,
  code: "too_many_parts",
  message: `The body has more than ${MAX_PARTS} objects, lists, names and elements together. Send fewer at once`
})

/** Refuses a body with too many parts. */
export const checkParts = (json: string): Effect.Effect<void, Failure> =>
  Effect.andThen(
    yieldIfLarge(json),
    Effect.suspend(() => (hasTooMany(json) ? Effect.fail(tooManyParts) : Effect.void))
  )

/** JSON, or a body without a type. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+)?json\b|$)/i

/** Checks the body of a request before its handler reads it. */
export const checkRequestParts = ({
  headers,
  method,
  text
}: HttpServerRequest.HttpServerRequest): Effect.Effect<void, Failure> =>
  method !== "POST" || !JSON_TYPE.test(headers["content-type"] ?? "")
    ? Effect.void
    : // The next reader of the body reports why it cannot be read.
      Effect.matchEffect(text, { onFailure: () => Effect.void, onSuccess: checkParts })
