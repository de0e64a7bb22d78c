/** Removes the credential from errors and spans, wherever the gateway echoes it. */
import { Predicate, Redacted } from "effect"
import type { GatewayReason } from "../../contract/GatewayError.ts"
import type { CallResult } from "../transport/CallResult.ts"

/** Shorter secrets, such as `ollama` or `none`, are ordinary words and are not removed. */
const MIN_SECRET = 16

/** The shortest part of a credential that is removed. */
const MIN_LENGTH = 8

/** The prefix of a family of keys, `sk-`. Some gateways store and echo a key without it. */
const PREFIX = /^[a-z]+-/

/** A header's value may be an address, whose start other texts have too. */
const SCHEME = /^https?:\/\//

/** The start of an `Authorization` header, which is no secret if enough follows. */
const AUTHORIZATION = /^(?:basic|bearer|key|token)\s+(?=.{16})/i

/** How much of a secret is enough to find it. Those of several words may begin as other texts do. */
const startOf = (secret: string): string => secret.slice(0, /\s/.test(secret) ? MIN_SECRET : MIN_LENGTH)

/** A function that replaces credentials in a text, also if they are truncated. Of several words, such as `Bearer KEY`, the whole counts, and each long word. */
export const makeRedact = (...given: ReadonlyArray<string | Redacted.Redacted>) => {
  const values = given.map((secret) => (Redacted.isRedacted(secret) ? Redacted.value(secret) : secret).trim())
  const words = values.flatMap((secret) => [secret.replace(AUTHORIZATION, ""), ...secret.split(/\s+/)])
  const long = words.map((word) => word.replace(SCHEME, "")).filter(({ length }) => length >= MIN_SECRET)
  const secrets = [...new Set(long.flatMap((secret) => [secret, secret.replace(PREFIX, "")]))]
  /** The first occurrence; with its prefix, if both begin there. */
  const find = (text: string, from: number) => {
    let found: { readonly start: number; readonly secret: string } | undefined
    for (const secret of secrets) {
      const start = text.indexOf(startOf(secret), from)
      if (start !== -1 && start < (found?.start ?? Infinity)) found = { start, secret }
    }
    if (found === undefined) return undefined
    const { secret, start } = found
    let length = startOf(secret).length
    while (length < secret.length && text[start + length] === secret[length]) length++
    return { start, end: start + length }
  }
  return (text: string): string => {
    let redacted = ""
    let from = 0
    for (let found = find(text, from); found !== undefined; found = find(text, from)) {
      redacted += `${text.slice(from, found.start)}<redacted>`
      from = found.end
    }
    return redacted + text.slice(from)
  }
}

/** Control characters, and halves of surrogate pairs. */
const CONTROL = /[\p{Cc}\p{Cs}]+/gu

/** The reason without the credential in any of its fields. `notice` is appended to the message. */
export const redactReason = (
  reason: GatewayReason,
  redact: (text: string) => string,
  notice = ""
): GatewayReason => {
  const message = reason.message.replace(CONTROL, " ") + notice
  const Reason = reason.constructor as new (fields: object) => GatewayReason
  const { _tag, ...fields } = { ...reason, message }
  return new Reason({ _tag, ...(redactDeep(fields, redact) as object) })
}

/** Deeper values are cut. */
const MAX_DEPTH = 64

const isPlain = (value: unknown): value is object =>
  Predicate.isObject(value) && Object.getPrototypeOf(value) === Object.prototype

/** Redacts JSON, such as the `error` of a task. Other values (durations, vectors) contain no text. */
const redactDeep = (value: unknown, redact: (text: string) => string, depth = MAX_DEPTH + 1): unknown => {
  if (typeof value === "string") return redact(value)
  if (!Array.isArray(value) && !isPlain(value)) return value
  if (depth === 0) return "…"
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact, depth - 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redact(name), redactDeep(item, redact, depth - 1)])
  )
}

/** Redacts what spans and metrics use of a result. Its value is not changed. */
export const redactResult = <A>(result: CallResult<A>, redact: (text: string) => string): CallResult<A> => {
  const { metadata, requestId, value } = result
  return {
    value,
    requestId: requestId && redact(requestId),
    ...(metadata && {
      metadata: {
        ...metadata,
        id: metadata.id && redact(metadata.id),
        model: metadata.model && redact(metadata.model)
      }
    })
  }
}
