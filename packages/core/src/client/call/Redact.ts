/** Keeps a credential out of errors and spans, whatever the gateway echoed. */
import { Predicate } from "effect"
import type { GatewayReason } from "../../contract/GatewayError.ts"
import type { CallResult } from "../transport/CallResult.ts"

/** A shorter beginning is found in every other word, and betrays nothing. */
const BETRAYING = 8

/** How a family of keys begins, `sk-`: some gateways store and repeat a key without it. */
const PREFIX = /^[a-z]+-/

/** Some gateways repeat the credential in their refusal, and a message that is cut may end within it. */
export const makeRedact = (secret: string) => {
  const secrets = [...new Set([secret, secret.replace(PREFIX, "")])].filter(
    ({ length }) => length >= BETRAYING
  )
  /** The first of them in a text, and where it ends; the whole one where both begin. */
  const find = (text: string, from: number) => {
    let found: { readonly at: number; readonly of: string } | undefined
    for (const of of secrets) {
      const at = text.indexOf(of.slice(0, BETRAYING), from)
      if (at !== -1 && at < (found?.at ?? Infinity)) found = { at, of }
    }
    if (found === undefined) return undefined
    const { at, of } = found
    let end = at + BETRAYING
    while (end < at + of.length && text[end] === of[end - at]) end++
    return { at, end }
  }
  return (text: string): string => {
    let shown = ""
    let from = 0
    for (let found = find(text, from); found !== undefined; found = find(text, from)) {
      shown += `${text.slice(from, found.at)}<redacted>`
      from = found.end
    }
    return shown + text.slice(from)
  }
}

/** What a terminal or a log would take for its own, and halves of characters. */
const CONTROL = /[\p{Cc}\p{Cs}]+/gu

/** The reason with nothing of the credential in any of its texts, and something more to say, where there is. */
export const redactReason = (
  reason: GatewayReason,
  redact: (text: string) => string,
  more = ""
): GatewayReason => {
  const message = reason.message.replace(CONTROL, " ") + more
  const fields = Object.entries({ ...reason, message })
  const Reason = reason.constructor as new (fields: object) => GatewayReason
  return new Reason(
    Object.fromEntries(
      fields.map(([name, value]) => [name, name === "_tag" ? value : redactDeep(value, redact)])
    )
  )
}

/** Deeper than any error that says something, and far from what ends a process. */
const DEPTH = 64

const isPlain = (value: unknown): value is object =>
  Predicate.isObject(value) && Object.getPrototypeOf(value) === Object.prototype

/** A task's `error` is JSON of any form; what is none (durations, vectors) carries no text. */
const redactDeep = (value: unknown, redact: (text: string) => string, depth = DEPTH): unknown => {
  if (typeof value === "string") return redact(value)
  if (!Array.isArray(value) && !isPlain(value)) return value
  if (depth === 0) return "…"
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact, depth - 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redact(name), redactDeep(item, redact, depth - 1)])
  )
}

/** The same for what spans and metrics show of an answer; its value belongs to the caller. */
export const redactAnswer = <A>(answer: CallResult<A>, redact: (text: string) => string): CallResult<A> => {
  const { metadata, requestId, value } = answer
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
